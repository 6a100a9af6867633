#include "support_disk.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

static bool put(const char *path, const char *text)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* As root of a namespace of our own, where we are not root already. */
static bool leave(void)
{
    char map[40];
    if (geteuid() == 0)
        return unshare(CLONE_NEWNS) == 0;
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && put("/proc/self/uid_map", map);
}

bool support_mount_disk(const char *folder, size_t bytes)
{
    char options[60];
    (void)snprintf(options, sizeof options, "size=%zu,mode=700", bytes);
    return leave() && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("tmpfs", folder, "tmpfs", 0, options) == 0;
}

bool support_close_disk(const char *folder)
{
    return mount("", folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0;
}

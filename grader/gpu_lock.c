#include "gpu_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "process.h"

static int open_lock(const char *path)
{
    /* Without O_CREAT first: in a folder like /tmp the kernel may forbid creating what another user
     * has made (fs.protected_regular). */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
    if (fd < 0 && errno == EEXIST) /* somebody was quicker */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return fd;
}

static int open_somewhere(const unsigned char uuid[GPU_UUID_BYTES], const char *folder)
{
    const char *const folders[] = {folder != NULL ? folder : "/run/lock", "/tmp"};
    char name[2 * GPU_UUID_BYTES + 1];
    for (size_t i = 0; i < GPU_UUID_BYTES; ++i)
        (void)snprintf(name + 2 * i, 3, "%02x", uuid[i]);
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < (folder != NULL ? 1 : COUNT_OF(folders)); ++i) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s/spillway-gpu-%s.lock", folders[i], name);
        fd = open_lock(path);
    }
    return fd;
}

int gpu_lock_take(const unsigned char uuid[GPU_UUID_BYTES], const char *folder, int64_t wall_ns,
                  struct error *err)
{
    AUTO_CLOSE int fd = open_somewhere(uuid, folder);
    if (fd < 0)
        return -1;
    int64_t deadline = process_now_ns() + wall_ns;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return -1; /* a file system without locks */
        if (process_interrupted())
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
        if (process_now_ns() >= deadline)
            return error_set(err, ERROR_INFRASTRUCTURE,
                             "another run has used this GPU for more than %lld s; try again later",
                             (long long)(wall_ns / 1000000000));
        const struct timespec pause = {.tv_nsec = 10000000};
        (void)nanosleep(&pause, NULL);
    }
    return steal_fd(&fd);
}

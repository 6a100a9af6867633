/* chmod.c - chmod() for who may change the mode of a file that it can open, and of no other.
 *
 * libgit2 1.1 (Ubuntu 22.04) sets the mode of each file that it makes, by its name. The children
 * that read repos are refused that (sandbox_kernel.c), because Landlock does not watch it: a child
 * that was taken over could open any file of its user to everybody. By a descriptor it is allowed,
 * since Landlock decides what can be opened. So this takes that way where the other is shut.
 * Linked into the program, it stands before the C library's for libgit2 too. */
#include "base.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* The library calls its parameters by reserved names. */
int chmod(const char *path, mode_t mode) // NOLINT
{
    if (syscall(SYS_fchmodat, AT_FDCWD, path, mode) == 0)
        return 0;
    if (errno != EPERM)
        return -1;
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int status = fd < 0 ? -1 : fchmod(fd, mode);
    if (status != 0)
        errno = EPERM;
    return status;
}

/* faults.c - linked into a program, it stands in front of the C library and makes one call fail.
 *
 * A function that the program itself defines is the one that all libraries get, too: allocations of
 * libgit2, jansson and the C library are counted with ours. The real function is the next in line,
 * a sanitizer's or the C library's. */
#include "faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct faults *faults; /* NULL: nothing fails */
static enum fault_process own;
static pid_t own_pid;
static _Thread_local bool exempt; /* a sanitizer is at work */

/* Whose allocations do not count, by where their code lies. Libraries of cryptography make
 * thousands of them when libgit2 starts them; libgit2 1.5 itself does not survive each failure in
 * its start. */
static struct library {
    const char *name;
    uintptr_t begin, end;
} others[] = {
    {"libcrypto.", 0, 0}, {"libmbedcrypto.", 0, 0}, {"libmbedx509.", 0, 0}, {"libgit2.", 0, 0}};

static bool is_in(const struct library *library, const void *code)
{
    return (uintptr_t)code >= library->begin && (uintptr_t)code < library->end;
}

static bool is_counted(enum fault_kind kind, const void *caller)
{
    for (size_t i = 0; kind == FAULT_MEMORY && i < COUNT_OF(others); ++i)
        if (is_in(&others[i], caller))
            return false;
    return true;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *data)
{
    struct library *library = data;
    (void)size;
    if (strstr(info->dlpi_name, library->name) == NULL)
        return 0;
    library->begin = info->dlpi_addr;
    for (size_t i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_LOAD)
            library->end =
                info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    return 1;
}

/* Before main(), and before the worker shuts itself in. */
__attribute__((constructor)) static void faults_start(int argc, char **argv)
{
    const char *home = getenv("HOME");
    char path[4096];
    own = argc > 1 && strcmp(argv[1], "worker") == 0 ? FAULT_WORKER : FAULT_GRADER;
    own_pid = getpid();
    if (home == NULL || snprintf(path, sizeof path, "%s/" FAULTS_FILE, home) >= (int)sizeof path)
        return;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *shared = mmap(NULL, sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    for (size_t i = 0; i < COUNT_OF(others); ++i)
        (void)dl_iterate_phdr(find_library, &others[i]);
    faults = shared == MAP_FAILED ? NULL : shared;
}

static bool fails_for(const void *caller, enum fault_kind kind, const char *call, int error)
{
    if (faults == NULL || exempt || !is_counted(kind, caller))
        return false;
    enum fault_process process = getpid() == own_pid ? own : FAULT_CHILD;
    uint64_t number = atomic_fetch_add(&faults->seen[process][kind], 1) + 1;
    if (faults->process != process || faults->kind != kind || faults->at == 0 ||
        (faults->lasting != 0 ? number < faults->at : number != faults->at))
        return false;
    if (faults->failed[0] == '\0')
        (void)snprintf(faults->failed, sizeof faults->failed, "%s", call);
    errno = error;
    return true;
}
#define fails(kind, call, error) fails_for(__builtin_return_address(0), kind, call, error)

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        abort();
    return function;
}

/* ---- Memory ---- */

void *__interceptor_malloc(size_t) __attribute__((weak)); /* of a sanitizer */
void *__interceptor_calloc(size_t, size_t) __attribute__((weak));
void *__interceptor_realloc(void *, size_t) __attribute__((weak));
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size)
{
    if (fails(FAULT_MEMORY, "malloc", ENOMEM))
        return NULL;
    return __interceptor_malloc != NULL ? __interceptor_malloc(size) : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (fails(FAULT_MEMORY, "calloc", ENOMEM))
        return NULL;
    return __interceptor_calloc != NULL ? __interceptor_calloc(count, size)
                                        : __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    if (fails(FAULT_MEMORY, "realloc", ENOMEM))
        return NULL;
    return __interceptor_realloc != NULL ? __interceptor_realloc(block, size)
                                         : __libc_realloc(block, size);
}

void *__interceptor_aligned_alloc(size_t, size_t) __attribute__((weak));
void *__libc_memalign(size_t, size_t);

void *aligned_alloc(size_t alignment, size_t size)
{
    if (fails(FAULT_MEMORY, "aligned_alloc", ENOMEM))
        return NULL;
    return __interceptor_aligned_alloc != NULL ? __interceptor_aligned_alloc(alignment, size)
                                               : __libc_memalign(alignment, size);
}

/* ---- The leak sanitizer ---- */

/* It reserves much address space, and looks for leaks with calls that a worker gave up. */
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit)
{
    if (resource == RLIMIT_AS && __interceptor_malloc != NULL)
        return 0;
    return prlimit(0, resource, limit, NULL);
}

/* Which it calls in each new thread, and cannot do without. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes)
{
    int (*real)(pthread_t, pthread_attr_t *) =
        (int (*)(pthread_t, pthread_attr_t *))(uintptr_t)next("pthread_getattr_np");
    exempt = true;
    int status = real(thread, attributes);
    exempt = false;
    return status;
}

/* libgit2 keeps the state of its errors when its own start fails. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libgit2";
}

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return own == FAULT_WORKER;
}

/* ---- System calls ---- */

/* FAULTY(int, close, EIO, -1, (int fd), (fd)): the call does nothing and fails. */
#define FAULTY(type, name, error, value, parameters, arguments)                                    \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*real) parameters;                                                             \
        if (real == NULL)                                                                          \
            real = (type(*) parameters)(uintptr_t)next(#name);                                     \
        return fails(FAULT_SYSTEM, #name, error) ? value : real arguments;                         \
    }

/* clang-format off */
FAULTY(ssize_t, read, EIO, -1, (int fd, void *into, size_t size), (fd, into, size))
FAULTY(ssize_t, write, ENOSPC, -1, (int fd, const void *data, size_t size), (fd, data, size))
FAULTY(ssize_t, pread, EIO, -1, (int fd, void *into, size_t size, off_t at), (fd, into, size, at))
FAULTY(off_t, lseek, EIO, -1, (int fd, off_t at, int from), (fd, at, from))
FAULTY(int, ftruncate, ENOSPC, -1, (int fd, off_t size), (fd, size))
FAULTY(int, fsync, EIO, -1, (int fd), (fd))
FAULTY(int, fchmod, EPERM, -1, (int fd, mode_t mode), (fd, mode))
FAULTY(int, rename, EIO, -1, (const char *from, const char *to), (from, to))
FAULTY(int, mkdir, ENOSPC, -1, (const char *path, mode_t mode), (path, mode))
FAULTY(char *, mkdtemp, ENOSPC, NULL, (char *path), (path))
FAULTY(int, chdir, EIO, -1, (const char *path), (path))
FAULTY(DIR *, opendir, EMFILE, NULL, (const char *path), (path))
FAULTY(int, stat, EIO, -1, (const char *path, struct stat *info), (path, info))
FAULTY(int, lstat, EIO, -1, (const char *path, struct stat *info), (path, info))
FAULTY(int, fstat, EIO, -1, (int fd, struct stat *info), (fd, info))
FAULTY(int, access, EIO, -1, (const char *path, int mode), (path, mode))
FAULTY(ssize_t, readlink, EIO, -1, (const char *path, char *into, size_t size), (path, into, size))
FAULTY(int, pipe2, EMFILE, -1, (int ends[2], int flags), (ends, flags))
FAULTY(int, dup2, EMFILE, -1, (int from, int to), (from, to))
FAULTY(int, socketpair, EMFILE, -1, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
FAULTY(ssize_t, send, EPIPE, -1, (int fd, const void *data, size_t size, int flags), (fd, data, size, flags))
FAULTY(ssize_t, recv, ECONNRESET, -1, (int fd, void *into, size_t size, int flags), (fd, into, size, flags))
FAULTY(int, poll, EINTR, -1, (struct pollfd *fds, nfds_t count, int wait_ms), (fds, count, wait_ms))
FAULTY(pid_t, fork, EAGAIN, -1, (void), ())
FAULTY(pid_t, waitpid, EINTR, -1, (pid_t pid, int *status, int options), (pid, status, options))
FAULTY(int, execve, ENOMEM, -1, (const char *path, char *const *argv, char *const *envp), (path, argv, envp))
FAULTY(int, memfd_create, EMFILE, -1, (const char *name, unsigned flags), (name, flags))
FAULTY(void *, mmap, ENOMEM, MAP_FAILED, (void *at, size_t size, int protection, int flags, int fd, off_t offset), (at, size, protection, flags, fd, offset))
FAULTY(ssize_t, getrandom, EAGAIN, -1, (void *into, size_t size, unsigned flags), (into, size, flags))
/* clang-format on */

/* The descriptor is gone all the same. */
int close(int fd)
{
    static int (*real)(int);
    if (real == NULL)
        real = (int (*)(int))(uintptr_t)next("close");
    int status = real(fd);
    return fails(FAULT_SYSTEM, "close", EIO) ? -1 : status;
}

/* Not by errno, as the others. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *argument)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (real == NULL)
        real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(
            uintptr_t)next("pthread_create");
    return fails(FAULT_SYSTEM, "pthread_create", EAGAIN)
               ? EAGAIN
               : real(thread, attributes, start, argument);
}

/* With last arguments that may be missing: they are passed on whatever they hold, which may lie
 * beside what the caller put on its stack. */
#define MAY_BE_MISSING __attribute__((no_sanitize("address")))
#define FAULTY_OPEN(name, parameters, arguments, last)                                             \
    MAY_BE_MISSING int name parameters                                                             \
    {                                                                                              \
        static int(*real) parameters;                                                              \
        if (real == NULL)                                                                          \
            real = (int(*) parameters)(uintptr_t)next(#name);                                      \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        int more = va_arg(list, int);                                                              \
        va_end(list);                                                                              \
        return fails(FAULT_SYSTEM, #name, EMFILE) ? -1 : real arguments;                           \
    }
FAULTY_OPEN(open, (const char *path, int flags, ...), (path, flags, more), flags)
FAULTY_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, more), flags)

MAY_BE_MISSING int fcntl(int fd, int command, ...)
{
    static int (*real)(int, int, ...);
    if (real == NULL)
        real = (int (*)(int, int, ...))(uintptr_t)next("fcntl");
    va_list list;
    va_start(list, command);
    void *more = va_arg(list, void *);
    va_end(list);
    return fails(FAULT_SYSTEM, "fcntl", EMFILE) ? -1 : real(fd, command, more);
}

MAY_BE_MISSING long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long a[6];
    if (real == NULL)
        real = (long (*)(long, ...))(uintptr_t)next("syscall");
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < COUNT_OF(a); ++i)
        a[i] = va_arg(list, long);
    va_end(list);
    return fails(FAULT_SYSTEM, "syscall", EMFILE)
               ? -1
               : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

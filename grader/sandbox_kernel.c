/* sandbox_kernel.c - theory of operation.
 *
 * Landlock (Documentation/userspace-api/landlock.rst of the kernel): a ruleset says which rights it
 * handles; a handled right is denied everywhere but below the paths that a rule names. Kernels know
 * more rights with each ABI, so the mask is cut to what this one knows. The constants are written
 * out here, since the headers of a distribution stop at an older ABI than its kernels have.
 *
 * seccomp: a classic BPF program over struct seccomp_data. It is a list of refused calls, not of
 * allowed ones: compilers and drivers use others from release to release, and what is refused here
 * is what reaches outside of the process, its files and its children. A refused call returns EPERM,
 * so that a library that merely tries something goes on. clone3, whose flags a filter cannot see,
 * is ENOSYS, upon which the C library uses clone. */
#include "sandbox_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* ---- Landlock -------------------------------------------------------------------------------- */

/* The same numbers on every architecture. */
#define CALL_LANDLOCK_CREATE_RULESET 444
#define CALL_LANDLOCK_ADD_RULE 445
#define CALL_LANDLOCK_RESTRICT_SELF 446
#define LANDLOCK_VERSION_FLAG 1u
#define LANDLOCK_PATH_BENEATH 1

enum {
    FS_EXECUTE = 1 << 0,
    FS_WRITE_FILE = 1 << 1,
    FS_READ_FILE = 1 << 2,
    FS_READ_DIR = 1 << 3,
    FS_REMOVE_DIR = 1 << 4,
    FS_REMOVE_FILE = 1 << 5,
    FS_MAKE_DIR = 1 << 7,
    FS_MAKE_REG = 1 << 8,
    FS_MAKE_SYM = 1 << 12,
    FS_REFER = 1 << 13,
    FS_TRUNCATE = 1 << 14,
    FS_IOCTL_DEV = 1 << 15,
};
#define FS_OF_A_FILE (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset_attributes {
    uint64_t filesystem, network, scoped;
};

struct path_rule {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

/* By ABI: which file system rights it knows, and how much of ruleset_attributes. */
static const struct {
    uint64_t filesystem;
    size_t attributes_bytes;
} abis[] = {
    {0, 0}, {0x1fff, 8}, {0x3fff, 8}, {0x7fff, 8}, {0x7fff, 16}, {0xffff, 16}, {0xffff, 24},
};

/* Does the kernel lack the call, or a container forbid it? Any other error is a moment's trouble,
 * which must not cost a wall: it is worth asking again. */
static bool is_lacking(int error)
{
    return error == ENOSYS || error == EOPNOTSUPP || error == EINVAL || error == EPERM;
}

unsigned sandbox_kernel_landlock_abi(void)
{
    long version = -1;
    for (int attempt = 0; attempt < 3; ++attempt) {
        version = syscall(CALL_LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION_FLAG);
        if (version >= 0 || is_lacking(errno))
            break;
    }
    return version > 0 ? (unsigned)version : 0;
}

static uint64_t rights(enum sandbox_access access)
{
    static const uint64_t by_access[] = {
        [SANDBOX_READ] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR,
        [SANDBOX_DEVICE] = FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV,
        [SANDBOX_WRITE] = FS_EXECUTE | FS_READ_FILE | FS_READ_DIR | FS_WRITE_FILE | FS_REMOVE_DIR |
                          FS_REMOVE_FILE | FS_MAKE_DIR | FS_MAKE_REG | FS_MAKE_SYM | FS_REFER |
                          FS_TRUNCATE,
    };
    return by_access[access];
}

static int add_path(int ruleset, const struct sandbox_path *path, uint64_t known)
{
    AUTO_CLOSE int fd = open(path->path, O_PATH | O_CLOEXEC);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        return 0; /* it does not exist: nothing to allow */
    uint64_t allowed = rights(path->access) & known;
    if (!S_ISDIR(info.st_mode))
        allowed &= FS_OF_A_FILE;
    const struct path_rule rule = {.allowed = allowed, .parent = fd};
    return (int)syscall(CALL_LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, &rule, 0);
}

static int make_ruleset(const struct sandbox_path *paths, size_t path_count,
                        enum sandbox_calls calls, struct error *err)
{
    unsigned abi = sandbox_kernel_landlock_abi();
    if (abi == 0)
        return -1;
    size_t row = abi < COUNT_OF(abis) ? abi : COUNT_OF(abis) - 1;
    /* Network: binding (1) and connecting (2) TCP sockets. Scoped: abstract sockets and signals. */
    const struct ruleset_attributes attributes = {.filesystem = abis[row].filesystem,
                                                  .network = calls == SANDBOX_CALLS_NETWORK ? 1 : 3,
                                                  .scoped = 3};
    AUTO_CLOSE int ruleset =
        (int)syscall(CALL_LANDLOCK_CREATE_RULESET, &attributes, abis[row].attributes_bytes, 0);
    bool made = ruleset >= 0;
    for (size_t i = 0; made && i < path_count; ++i)
        made = add_path(ruleset, &paths[i], abis[row].filesystem) == 0;
    if (!made)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make a Landlock ruleset");
    return steal_fd(&ruleset);
}

/* ---- seccomp --------------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define AUDIT_ARCH_HERE AUDIT_ARCH_AARCH64
#endif

/* What a sanitizer does at the end of a process needs more than the program itself. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

struct refusal {
    int call;
    enum sandbox_calls from; /* refused at this strictness and above */
};

static const struct refusal refusals[] = {
/* clang-format off */
    /* Other processes, and the kernel itself */
#if !SANITIZED
    {SYS_ptrace, SANDBOX_CALLS_COMPILER},
#endif
    {SYS_process_vm_readv, SANDBOX_CALLS_COMPILER}, {SYS_process_vm_writev, SANDBOX_CALLS_COMPILER},
    {SYS_kcmp, SANDBOX_CALLS_COMPILER}, {SYS_bpf, SANDBOX_CALLS_COMPILER},
    {SYS_perf_event_open, SANDBOX_CALLS_COMPILER}, {SYS_userfaultfd, SANDBOX_CALLS_COMPILER},
    {SYS_keyctl, SANDBOX_CALLS_COMPILER}, {SYS_add_key, SANDBOX_CALLS_COMPILER},
    {SYS_request_key, SANDBOX_CALLS_COMPILER}, {SYS_syslog, SANDBOX_CALLS_COMPILER},
    {SYS_init_module, SANDBOX_CALLS_COMPILER}, {SYS_finit_module, SANDBOX_CALLS_COMPILER},
    {SYS_delete_module, SANDBOX_CALLS_COMPILER}, {SYS_kexec_load, SANDBOX_CALLS_COMPILER},
    {SYS_reboot, SANDBOX_CALLS_COMPILER}, {SYS_acct, SANDBOX_CALLS_COMPILER},
    {SYS_swapon, SANDBOX_CALLS_COMPILER}, {SYS_swapoff, SANDBOX_CALLS_COMPILER},
    {SYS_settimeofday, SANDBOX_CALLS_COMPILER}, {SYS_clock_settime, SANDBOX_CALLS_COMPILER},
    {SYS_adjtimex, SANDBOX_CALLS_COMPILER}, {SYS_sethostname, SANDBOX_CALLS_COMPILER},
    {SYS_setdomainname, SANDBOX_CALLS_COMPILER}, {SYS_quotactl, SANDBOX_CALLS_COMPILER},
    {SYS_kill, SANDBOX_CALLS_COMPILER},
    /* New ways to the outside: io_uring is not seen by seccomp, so it is shut as a whole */
#ifdef SYS_io_uring_setup
    {SYS_io_uring_setup, SANDBOX_CALLS_COMPILER}, {SYS_io_uring_enter, SANDBOX_CALLS_COMPILER},
    {SYS_io_uring_register, SANDBOX_CALLS_COMPILER},
#endif
#ifdef SYS_pidfd_getfd
    {SYS_pidfd_getfd, SANDBOX_CALLS_COMPILER},
#endif
    /* Mounts and namespaces */
    {SYS_mount, SANDBOX_CALLS_COMPILER}, {SYS_umount2, SANDBOX_CALLS_COMPILER},
    {SYS_pivot_root, SANDBOX_CALLS_COMPILER}, {SYS_chroot, SANDBOX_CALLS_COMPILER},
    {SYS_setns, SANDBOX_CALLS_COMPILER}, {SYS_unshare, SANDBOX_CALLS_COMPILER},
    {SYS_open_by_handle_at, SANDBOX_CALLS_COMPILER},
#ifdef SYS_move_mount
    {SYS_move_mount, SANDBOX_CALLS_COMPILER}, {SYS_open_tree, SANDBOX_CALLS_COMPILER},
    {SYS_fsopen, SANDBOX_CALLS_COMPILER}, {SYS_fsmount, SANDBOX_CALLS_COMPILER},
#endif
    {SYS_mknodat, SANDBOX_CALLS_COMPILER},
#ifdef SYS_mknod
    {SYS_mknod, SANDBOX_CALLS_COMPILER},
#endif
    /* What outlives the process, or leaves its group */
    {SYS_shmget, SANDBOX_CALLS_COMPILER}, {SYS_semget, SANDBOX_CALLS_COMPILER},
    {SYS_msgget, SANDBOX_CALLS_COMPILER}, {SYS_mq_open, SANDBOX_CALLS_COMPILER},
    {SYS_setsid, SANDBOX_CALLS_COMPILER}, {SYS_setpgid, SANDBOX_CALLS_COMPILER},
    /* Owners and attributes of files, which Landlock does not watch */
    {SYS_fchownat, SANDBOX_CALLS_COMPILER}, {SYS_fchown, SANDBOX_CALLS_COMPILER},
    {SYS_setxattr, SANDBOX_CALLS_COMPILER}, {SYS_lsetxattr, SANDBOX_CALLS_COMPILER},
    {SYS_fsetxattr, SANDBOX_CALLS_COMPILER}, {SYS_removexattr, SANDBOX_CALLS_COMPILER},
    {SYS_lremovexattr, SANDBOX_CALLS_COMPILER}, {SYS_fremovexattr, SANDBOX_CALLS_COMPILER},
#ifdef SYS_chown
    {SYS_chown, SANDBOX_CALLS_COMPILER}, {SYS_lchown, SANDBOX_CALLS_COMPILER},
#endif
    /* Other programs, and processes of one's own */
    {SYS_execve, SANDBOX_CALLS_GPU}, {SYS_execveat, SANDBOX_CALLS_GPU},
    {SYS_fchmodat, SANDBOX_CALLS_GPU},
#ifdef SYS_fork
    {SYS_fork, SANDBOX_CALLS_GPU}, {SYS_vfork, SANDBOX_CALLS_GPU}, {SYS_chmod, SANDBOX_CALLS_GPU},
#endif
    /* Files by name */
    {SYS_openat, SANDBOX_CALLS_SEALED}, {SYS_unlinkat, SANDBOX_CALLS_SEALED},
    {SYS_renameat2, SANDBOX_CALLS_SEALED}, {SYS_mkdirat, SANDBOX_CALLS_SEALED},
    {SYS_linkat, SANDBOX_CALLS_SEALED}, {SYS_symlinkat, SANDBOX_CALLS_SEALED},
    {SYS_truncate, SANDBOX_CALLS_SEALED}, {SYS_utimensat, SANDBOX_CALLS_SEALED},
    {SYS_fchmod, SANDBOX_CALLS_SEALED}, {SYS_chdir, SANDBOX_CALLS_SEALED},
    {SYS_socketpair, SANDBOX_CALLS_SEALED},
#ifdef SYS_openat2
    {SYS_openat2, SANDBOX_CALLS_SEALED},
#endif
#ifdef SYS_open
    {SYS_open, SANDBOX_CALLS_SEALED}, {SYS_creat, SANDBOX_CALLS_SEALED},
    {SYS_unlink, SANDBOX_CALLS_SEALED}, {SYS_rename, SANDBOX_CALLS_SEALED},
    {SYS_renameat, SANDBOX_CALLS_SEALED}, {SYS_mkdir, SANDBOX_CALLS_SEALED},
    {SYS_rmdir, SANDBOX_CALLS_SEALED}, {SYS_link, SANDBOX_CALLS_SEALED},
    {SYS_symlink, SANDBOX_CALLS_SEALED},
#endif
    /* clang-format on */
};

#define CLONE_NAMESPACES                                                                           \
    (CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |     \
     CLONE_NEWCGROUP)

static struct program {
    struct sock_filter code[2 * COUNT_OF(refusals) + 32];
    unsigned short length;
} programs[SANDBOX_CALLS_SEALED + 1];

static void emit(struct program *program, uint16_t code, uint8_t yes, uint8_t no, uint32_t value)
{
    program->code[program->length++] =
        (struct sock_filter){.code = code, .jt = yes, .jf = no, .k = value};
}

#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define IF_EQUAL (BPF_JMP | BPF_JEQ | BPF_K)
#define IF_BITS (BPF_JMP | BPF_JSET | BPF_K)
#define ANSWER (BPF_RET | BPF_K)

#ifdef AUDIT_ARCH_HERE
static uint32_t refuse_with(int number)
{
    return SECCOMP_RET_ERRNO | ((uint32_t)number & SECCOMP_RET_DATA);
}

/* clone is for threads, and for compilers also for processes; never for namespaces. */
static void emit_clone(struct program *program, enum sandbox_calls calls)
{
    bool processes = calls < SANDBOX_CALLS_GPU || SANITIZED;
    emit(program, IF_EQUAL, 0, processes ? 4 : 6, SYS_clone);
    emit(program, LOAD, 0, 0, offsetof(struct seccomp_data, args[0])); /* both are little endian */
    emit(program, IF_BITS, 0, 1, CLONE_NAMESPACES);
    emit(program, ANSWER, 0, 0, refuse_with(EPERM));
    if (!processes) {
        emit(program, IF_BITS, 1, 0, CLONE_THREAD);
        emit(program, ANSWER, 0, 0, refuse_with(EPERM));
    }
    emit(program, ANSWER, 0, 0, SECCOMP_RET_ALLOW);
}

/* What a resolver and a TCP connection need; never a local socket, behind which an agent with keys
 * or the engine of a container may listen. */
static void emit_ip_sockets(struct program *program)
{
    static const int families[] = {AF_INET, AF_INET6, AF_NETLINK};
    emit(program, IF_EQUAL, 0, 2 * COUNT_OF(families) + 2, SYS_socket);
    emit(program, LOAD, 0, 0, offsetof(struct seccomp_data, args[0]));
    for (size_t i = 0; i < COUNT_OF(families); ++i) {
        emit(program, IF_EQUAL, 0, 1, (uint32_t)families[i]);
        emit(program, ANSWER, 0, 0, SECCOMP_RET_ALLOW);
    }
    emit(program, ANSWER, 0, 0, refuse_with(EAFNOSUPPORT));
}

/* No sockets; but libcuda asks at its start whether an MPS server listens on a local one, and shall
 * hear that nobody does. */
static void emit_socket(struct program *program, enum sandbox_calls calls)
{
    bool local = calls == SANDBOX_CALLS_GPU;
    if (local) {
        emit(program, IF_EQUAL, 0, 1, SYS_connect);
        emit(program, ANSWER, 0, 0, refuse_with(ECONNREFUSED));
    }
    emit(program, IF_EQUAL, 0, local ? 4 : 1, SYS_socket);
    if (local) {
        emit(program, LOAD, 0, 0, offsetof(struct seccomp_data, args[0]));
        emit(program, IF_EQUAL, 0, 1, AF_UNIX);
        emit(program, ANSWER, 0, 0, SECCOMP_RET_ALLOW);
    }
    emit(program, ANSWER, 0, 0, refuse_with(EPERM));
}

static void make_program(struct program *program, enum sandbox_calls calls)
{
    emit(program, LOAD, 0, 0, offsetof(struct seccomp_data, arch));
    emit(program, IF_EQUAL, 1, 0, AUDIT_ARCH_HERE);
    emit(program, ANSWER, 0, 0, SECCOMP_RET_KILL_PROCESS);
    emit(program, LOAD, 0, 0, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    /* The x32 calls are the same under other numbers. */
    emit(program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000);
    emit(program, ANSWER, 0, 0, refuse_with(ENOSYS));
#endif
#ifdef SYS_clone3
    emit(program, IF_EQUAL, 0, 1, SYS_clone3);
    emit(program, ANSWER, 0, 0, refuse_with(ENOSYS));
#endif
    for (size_t i = 0; i < COUNT_OF(refusals); ++i)
        if (calls >= refusals[i].from) {
            emit(program, IF_EQUAL, 0, 1, (uint32_t)refusals[i].call);
            emit(program, ANSWER, 0, 0, refuse_with(EPERM));
        }
    if (calls == SANDBOX_CALLS_NETWORK)
        emit_ip_sockets(program);
    else
        emit_socket(program, calls);
    emit_clone(program, calls);
    emit(program, ANSWER, 0, 0, SECCOMP_RET_ALLOW);
}
#endif

static void make_programs(void)
{
#ifdef AUDIT_ARCH_HERE
    for (size_t i = 0; i < COUNT_OF(programs); ++i)
        make_program(&programs[i], (enum sandbox_calls)i);
#endif
}

static const struct program *program_of(enum sandbox_calls calls)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_programs);
    return &programs[calls];
}

bool sandbox_kernel_has_seccomp(void)
{
    uint32_t action = SECCOMP_RET_ERRNO;
    if (program_of(SANDBOX_CALLS_COMPILER)->length == 0)
        return false;
    for (int attempt = 0; attempt < 3; ++attempt) {
        if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0)
            return true;
        if (is_lacking(errno))
            break;
    }
    return false;
}

const void *sandbox_kernel_filter(enum sandbox_calls calls, size_t *bytes)
{
    const struct program *program = program_of(calls);
    *bytes = program->length * sizeof program->code[0];
    return program->code;
}

/* ---- Both ------------------------------------------------------------------------------------ */

int sandbox_kernel_prepare(struct sandbox_kernel *out, const struct sandbox_path *paths,
                           size_t path_count, enum sandbox_calls calls, struct error *err)
{
    *out = (struct sandbox_kernel){.ruleset = make_ruleset(paths, path_count, calls, err),
                                   .filter = sandbox_kernel_has_seccomp(),
                                   .calls = calls};
    return err->kind == ERROR_NONE ? 0 : -1;
}

int sandbox_kernel_enter(const struct sandbox_kernel *kernel)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    if (kernel->ruleset >= 0 && syscall(CALL_LANDLOCK_RESTRICT_SELF, kernel->ruleset, 0) != 0)
        return -1;
    if (!kernel->filter)
        return 0;
    const struct program *program = &programs[kernel->calls]; /* made by the preparation */
    const struct sock_fprog filter = {.len = program->length,
                                      .filter = (struct sock_filter *)program->code};
    /* Kernels before 5.16 slow a filtered process down against speculation, unless told not to: no
     * machine code of a stranger runs here. */
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                        &filter);
}

int sandbox_kernel_drop_capabilities(uint32_t keep)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
    if (keep != 0 && syscall(SYS_capget, &header, data) != 0)
        return -1;
    keep &= data[0].effective;
    memset(data, 0, sizeof data);
    data[0].effective = data[0].permitted = keep;
    return (int)syscall(SYS_capset, &header, data);
}

void sandbox_kernel_release(struct sandbox_kernel *kernel)
{
    if (kernel->ruleset >= 0)
        (void)close(kernel->ruleset);
    kernel->ruleset = -1;
}

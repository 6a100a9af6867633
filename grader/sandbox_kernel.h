/* sandbox_kernel.h - Landlock and seccomp: what a process can be denied without any privilege.
 *
 * Made in two steps, so that it can be used between fork and exec: sandbox_kernel_prepare() opens
 * and allocates, sandbox_kernel_enter() is three system calls. Only sandbox*.c include this. */
#ifndef SPILLWAY_SANDBOX_KERNEL_H
#define SPILLWAY_SANDBOX_KERNEL_H

#include "errors.h"

/* The Landlock ABI of this kernel (1 in Linux 5.13 … 7 in 6.15); 0: none. */
unsigned sandbox_kernel_landlock_abi(void);
/* Whether seccomp filters can be installed. */
bool sandbox_kernel_has_seccomp(void);

enum sandbox_access {
    SANDBOX_READ,   /* read and execute what is below the path */
    SANDBOX_DEVICE, /* read, write and ioctl, but make and remove nothing */
    SANDBOX_WRITE,  /* everything below the path, but no devices and sockets */
};

struct sandbox_path {
    const char *path;
    enum sandbox_access access;
};

/* Which system calls are left. */
enum sandbox_calls {
    SANDBOX_CALLS_COMPILER, /* no sockets, no tracing, no namespaces, no leaving the group … */
    SANDBOX_CALLS_GPU,      /* the same, and no other program is started */
    SANDBOX_CALLS_NETWORK,  /* the same, but it may call servers over IP */
    SANDBOX_CALLS_FILES,    /* no sockets and no other program: files and memory */
    SANDBOX_CALLS_SEALED,   /* and nothing is opened by name: memory, threads, open descriptors */
};

struct sandbox_kernel {
    int ruleset; /* Landlock, owned; -1: none */
    bool filter;
    enum sandbox_calls calls;
};

/* Allows exactly `paths` (those that do not exist are left out). Whatever the kernel lacks is left
 * out too: ask sandbox_kernel_landlock_abi(). -1 with *err when the kernel has it but refuses. */
int sandbox_kernel_prepare(struct sandbox_kernel *out, const struct sandbox_path *paths,
                           size_t path_count, enum sandbox_calls calls, struct error *err);

/* Confines the calling thread and all that it starts, for good; async-signal-safe. 0, or -1 with
 * errno. */
int sandbox_kernel_enter(const struct sandbox_kernel *kernel);

/* Drops every capability, effective and inheritable alike, but those of `keep` (bits 1 << CAP_…)
 * that the process has; without any there is nothing to drop. 0, or -1 with errno. */
int sandbox_kernel_drop_capabilities(uint32_t keep);

void sandbox_kernel_release(struct sandbox_kernel *kernel);

/* The filter as bytes (an array of struct sock_filter), for `bwrap --seccomp FD`. Borrowed, for
 * ever. */
const void *sandbox_kernel_filter(enum sandbox_calls calls, size_t *bytes);

#endif

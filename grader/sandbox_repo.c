/* sandbox_repo.c - a process that reads a stranger's git repo shuts itself in.
 *
 * libgit2 opens files by name all the time, so the filter leaves that, and Landlock says which. */
#include "sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>

#include "sandbox_kernel.h"

#define READER_OPEN_FILES 256

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void limit(int resource, uint64_t value)
{
    const struct rlimit both = {value, value};
    if (value > 0)
        (void)setrlimit((__rlimit_resource_t)resource, &both);
}

int sandbox_confine_reader(const struct sandbox_reader *reader, struct error *err)
{
    /* Names of hosts, certificates of authorities, and libraries that a resolver loads late. The
     * last three are where links in /etc may lead. */
    static const char *const network[] = {"/etc",
                                          "/usr/lib",
                                          "/usr/share",
                                          "/lib",
                                          "/lib64",
                                          "/run/systemd/resolve",
                                          "/run/resolvconf",
                                          "/run/NetworkManager"};
    struct sandbox_path paths[COUNT_OF(network) + 8];
    size_t count = 0;
    if (reader->readable != NULL)
        paths[count++] = (struct sandbox_path){reader->readable, SANDBOX_READ};
    for (size_t i = 0; i < COUNT_OF(reader->writable); ++i)
        if (reader->writable[i] != NULL)
            paths[count++] = (struct sandbox_path){reader->writable[i], SANDBOX_WRITE};
    for (size_t i = 0; reader->network && i < COUNT_OF(network); ++i)
        paths[count++] = (struct sandbox_path){network[i], SANDBOX_READ};
    static const char *const authorities[] = {"GIT_SSL_CAINFO", "GIT_SSL_CAPATH"};
    for (size_t i = 0; reader->network && i < COUNT_OF(authorities); ++i) {
        const char *path = getenv(authorities[i]);
        if (path != NULL)
            paths[count++] = (struct sandbox_path){path, SANDBOX_READ};
    }
    limit(RLIMIT_NOFILE, READER_OPEN_FILES);
    limit(RLIMIT_FSIZE, reader->file_bytes);
    limit(RLIMIT_CPU, reader->cpu_seconds);
    if (!SANITIZED) /* whose shadow memory is larger than any limit */
        limit(RLIMIT_AS, reader->memory_bytes);
    const uint32_t others = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
    struct sandbox_kernel kernel = {.ruleset = -1};
    int status = sandbox_kernel_prepare(
        &kernel, paths, count, reader->network ? SANDBOX_CALLS_NETWORK : SANDBOX_CALLS_FILES, err);
    if (status == 0 && (sandbox_kernel_drop_capabilities(reader->foreign_files ? others : 0) != 0 ||
                        sandbox_kernel_enter(&kernel) != 0))
        status =
            error_set_errno(err, ERROR_INFRASTRUCTURE, "a reader of repos cannot shut itself in");
    sandbox_kernel_release(&kernel);
    return status;
}

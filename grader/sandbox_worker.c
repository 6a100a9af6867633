/* sandbox_worker.c - a worker shuts itself in.
 *
 * The emulator needs nothing but memory, threads and the descriptors it was given: namespaces of
 * its own where allowed, no capability, a Landlock ruleset without a single rule, and a filter that
 * opens nothing by name. The GPU's worker loads the driver afterwards, so it keeps a list of paths;
 * it keeps the user namespace too, since the driver looks at who calls. */
#include "sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

#include "files.h"
#include "sandbox_kernel.h"

#define PATHS_MAX 96
#define EMULATOR_OPEN_FILES 64

static void limit(int resource, rlim_t value)
{
    const struct rlimit both = {value, value};
    (void)setrlimit((__rlimit_resource_t)resource, &both);
}

/* ---- What the CUDA driver reads and opens ---------------------------------------------------- */

struct paths {
    struct sandbox_path items[PATHS_MAX];
    size_t count;
    char *owned[PATHS_MAX];
    size_t owned_count;
};

static void allow(struct paths *paths, const char *path, enum sandbox_access access)
{
    if (paths->count < PATHS_MAX)
        paths->items[paths->count++] = (struct sandbox_path){path, access};
}

static void allow_owned(struct paths *paths, char *path, enum sandbox_access access)
{
    if (path == NULL || paths->owned_count >= PATHS_MAX) {
        free(path);
        return;
    }
    paths->owned[paths->owned_count++] = path;
    allow(paths, path, access);
}

/* /dev/nvidia0, nvidiactl, nvidia-uvm, nvidia-caps/…; nvmap and nvhost-… of a Jetson; dxg of WSL 2.
 * Not /dev/nvme0, which is a disk. */
static void allow_devices(struct paths *paths)
{
    static const char *const beginnings[] = {"nvidia", "nvhost", "nvmap", "nvgpu", "dxg"};
    DIR *folder = opendir("/dev");
    if (folder == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        for (size_t i = 0; i < COUNT_OF(beginnings); ++i)
            if (strncmp(entry->d_name, beginnings[i], strlen(beginnings[i])) == 0)
                allow_owned(paths, path_join("/dev", entry->d_name), SANDBOX_DEVICE);
    (void)closedir(folder);
}

static void allow_library_path(struct paths *paths)
{
    const char *list = getenv("LD_LIBRARY_PATH");
    while (list != NULL && *list != '\0') {
        size_t length = strcspn(list, ":");
        if (list[0] == '/')
            allow_owned(paths, strndup(list, length), SANDBOX_READ);
        list += length + (list[length] == ':');
    }
}

static void allow_driver(struct paths *paths)
{
    /* Of /proc, Landlock shows no other process's memory or environment. The last two are where
     * some distributions keep their drivers. */
    static const char *const readable[] = {
        "/usr", "/lib",  "/lib64", "/etc/ld.so.cache",   "/etc/nvidia",
        "/sys", "/proc", "/opt",   "/run/opengl-driver", "/nix/store"};
    /* The driver names its threads, and gives up when it may not. */
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom",
                                          "/proc/self/task"};
    for (size_t i = 0; i < COUNT_OF(readable); ++i)
        allow(paths, readable[i], SANDBOX_READ);
    for (size_t i = 0; i < COUNT_OF(devices); ++i)
        allow(paths, devices[i], SANDBOX_DEVICE);
    allow_devices(paths);
    allow_library_path(paths);
}

/* ---- Shutting in ----------------------------------------------------------------------------- */

/* Namespaces are a second wall behind the filter: where they are forbidden, the filter stands. */
static void leave_namespaces(enum sandbox_worker worker)
{
    if (worker == SANDBOX_EMULATOR)
        (void)unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNS);
    else
        (void)unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS); /* root only */
}

int sandbox_confine_worker(enum sandbox_worker worker, struct error *err)
{
    struct paths paths = {0};
    if (worker == SANDBOX_GPU) {
        allow_driver(&paths);
    } else {
        limit(RLIMIT_NOFILE, EMULATOR_OPEN_FILES);
        limit(RLIMIT_FSIZE, 0); /* the driver makes files in memory */
    }
    limit(RLIMIT_CORE, 0);
    struct sandbox_kernel kernel = {.ruleset = -1};
    int status = sandbox_kernel_prepare(
        &kernel, paths.items, paths.count,
        worker == SANDBOX_EMULATOR ? SANDBOX_CALLS_SEALED : SANDBOX_CALLS_GPU, err);
    for (size_t i = 0; i < paths.owned_count; ++i)
        free(paths.owned[i]);
    leave_namespaces(worker);
    if (status == 0 &&
        (sandbox_kernel_drop_capabilities(0) != 0 || sandbox_kernel_enter(&kernel) != 0))
        status = error_set_errno(err, ERROR_INFRASTRUCTURE, "a worker cannot shut itself in");
    sandbox_kernel_release(&kernel);
    return status;
}

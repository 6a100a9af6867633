/* doctor_machine.c - processor, folders, sandbox, libraries and the labs' files. */
#include "doctor.h"

#include <sched.h>
#include <sys/statvfs.h>

#include "datadir.h"
#include "files.h"
#include "labs/lab.h"
#include "libraries.h"
#include "process.h"

#define ENOUGH_TEMPORARY_BYTES ((uint64_t)256 << 20) /* PTX, cubins and nvcc's own files */

static void look_at_processor(struct doctor *doctor)
{
    cpu_set_t set;
    int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    const char *plural = cores == 1 ? "" : "s";
#if defined(__x86_64__)
    bool fast = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    bool fast = false;
#endif
    if (fast) {
        doctor_add(doctor, "cpu", DOCTOR_OK, "%d core%s with AVX2 and FMA for the emulator", cores,
                   plural);
        return;
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "cpu", DOCTOR_WARN,
                   "%d core%s without AVX2 and FMA: the results are the same, but the emulator is "
                   "about ten times slower",
                   cores, plural);
    doctor_remedy(finding, "in a virtual machine, give it the host's processor (qemu: -cpu host)");
}

static void look_at_temporary_folder(struct doctor *doctor)
{
    struct error trouble = {0};
    const char *parent = getenv("TMPDIR");
    char *folder = temporary_folder_create(&trouble);
    AUTO_FREE char *file = folder == NULL ? NULL : path_join(folder, "trial");
    if (file == NULL || file_write(file, "trial\n", 6, &trouble) != 0) {
        struct doctor_finding *finding =
            doctor_add(doctor, "temporary-folder", DOCTOR_FAIL, "%s",
                       trouble.text[0] != '\0' ? trouble.text : "no memory");
        doctor_remedy(finding, parent != NULL && parent[0] == '/' && strcmp(parent, "/tmp") != 0
                                   ? "export TMPDIR=/tmp"
                                   : "export TMPDIR=\"$HOME/tmp\" && mkdir -p \"$TMPDIR\"");
        temporary_folder_remove(folder);
        return;
    }
    struct statvfs space;
    uint64_t room = statvfs(folder, &space) == 0
                        ? (uint64_t)space.f_bavail * (uint64_t)space.f_frsize
                        : UINT64_MAX;
    char *slash = strrchr(folder, '/');
    int length = (int)(slash - folder);
    if (room < ENOUGH_TEMPORARY_BYTES) {
        struct doctor_finding *finding =
            doctor_add(doctor, "temporary-folder", DOCTOR_WARN,
                       "temporary folder %.*s has only %llu MiB left: a compile may not fit",
                       length, folder, (unsigned long long)(room >> 20));
        doctor_remedy(finding, "export TMPDIR=/a/folder/with/room");
    } else {
        doctor_add(doctor, "temporary-folder", DOCTOR_OK, "temporary folder %.*s is writable",
                   length, folder);
    }
    temporary_folder_remove(folder);
}

static void look_at_cache(struct doctor *doctor)
{
    struct error trouble = {0};
    AUTO_FREE char *folder = cache_folder(&trouble);
    AUTO_FREE char *file = folder == NULL ? NULL : path_join(folder, "doctor-trial");
    if (file != NULL && file_write(file, "trial\n", 6, &trouble) == 0) {
        (void)unlink(file);
        doctor_add(doctor, "cache", DOCTOR_OK, "cache folder %s is writable", folder);
        return;
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "cache", DOCTOR_WARN,
                   "%s; grading works without it, but hints start from the first each time",
                   trouble.text[0] != '\0' ? trouble.text : "no memory");
    doctor_remedy(finding, "export SPILLWAY_CACHE=\"${TMPDIR:-/tmp}/spillway-$(id -u)\"");
}

static void look_at_sandbox(struct doctor *doctor)
{
    const struct sandbox *sandbox = sandbox_probe();
    struct bytes holds = bytes_with_limit(300), lost = bytes_with_limit(300),
                 remedy = bytes_with_limit(300);
    sandbox_describe(sandbox, &holds);
    sandbox_lost(sandbox, &lost);
    sandbox_remedy(sandbox, &remedy);
    if (lost.length == 0) {
        doctor_add(doctor, "sandbox", DOCTOR_OK, "%s", bytes_text(&holds));
    } else {
        struct doctor_finding *finding =
            doctor_add(doctor, "sandbox", DOCTOR_WARN, "%s; %s, so %s", bytes_text(&holds),
                       sandbox->trouble, bytes_text(&lost));
        if (sandbox->bubblewrap[0] == '\0')
            doctor_remedy_install(finding, "bubblewrap");
        else
            doctor_remedy(finding, "%s", bytes_text(&remedy));
    }
    bytes_release(&holds);
    bytes_release(&lost);
    bytes_release(&remedy);
}

static void look_at_libraries(struct doctor *doctor)
{
    struct libraries versions;
    libraries_ask(&versions);
    doctor_add(doctor, "libraries", DOCTOR_OK, "libgit2 %s, jansson %s, SQLite %s, inih %s",
               versions.libgit2, versions.jansson, versions.sqlite, versions.inih);
}

static void look_at_data(struct doctor *doctor)
{
    struct error trouble = {0};
    char name[128];
    (void)snprintf(name, sizeof name, "labs/%s/hints", lab_registry[0]->id);
    AUTO_FREE char *path = data_path(name, &trouble);
    if (path != NULL) {
        doctor_add(doctor, "labs", DOCTOR_OK, "the labs' hints and handouts: %.*s",
                   (int)(strlen(path) - strlen(name)), path);
        return;
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "labs", DOCTOR_WARN, "%s; grading works, but `spillway hint` does not",
                   trouble.text);
    doctor_remedy(finding, "export SPILLWAY_DATA=/folder/with/labs");
}

int doctor_look_at_machine(struct doctor *doctor, struct error *err)
{
    look_at_processor(doctor);
    look_at_temporary_folder(doctor);
    look_at_cache(doctor);
    look_at_sandbox(doctor);
    if (process_interrupted())
        return error_set(err, ERROR_INTERRUPTED, "interrupted");
    look_at_libraries(doctor);
    look_at_data(doctor);
    return 0;
}

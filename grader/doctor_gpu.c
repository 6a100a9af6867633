/* doctor_gpu.c - the driver and the cards, as the driver itself tells them.
 *
 * A cubin made for the exact card needs a driver of the toolkit's major version or a newer one
 * (CUDA's minor version compatibility); nothing is ever compiled by the driver, so a toolkit whose
 * minor version is newer does no harm. */
#include "doctor.h"

#include <glob.h>

#include "files.h"

/* Does the PCI bus hold a display controller of NVIDIA's (vendor 10de, class 03)? This only says
 * why there is no GPU to use; which GPUs there are, the driver tells. */
static bool nvidia_card_on_bus(void)
{
    glob_t devices = {0};
    bool found = false;
    if (glob("/sys/bus/pci/devices/*", 0, NULL, &devices) == 0)
        for (size_t i = 0; i < devices.gl_pathc && !found; ++i) {
            AUTO_FREE char *vendor_path = path_join(devices.gl_pathv[i], "vendor");
            AUTO_FREE char *class_path = path_join(devices.gl_pathv[i], "class");
            struct bytes vendor, class;
            if (vendor_path == NULL || class_path == NULL)
                break;
            bool read = file_read(&vendor, vendor_path, 64, true) == FILE_READ;
            read = file_read(&class, class_path, 64, true) == FILE_READ && read;
            found = read && strncmp(bytes_text(&vendor), "0x10de", 6) == 0 &&
                    strncmp(bytes_text(&class), "0x03", 4) == 0;
            bytes_release(&vendor);
            bytes_release(&class);
        }
    globfree(&devices);
    return found;
}

static void no_gpu(struct doctor *doctor)
{
    const struct gpu_survey *survey = &doctor->survey;
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool hidden = survey->driver_present && visible != NULL;
    bool card = nvidia_card_on_bus();
    if (!hidden && !card && !survey->driver_present) {
        doctor_add(doctor, "gpu", DOCTOR_OK,
                   "no NVIDIA GPU in this machine: kernels run on the built-in emulator");
        return;
    }
    struct doctor_finding *finding =
        doctor_add(doctor, "gpu", DOCTOR_WARN, "%s: kernels run on the built-in emulator",
                   survey->why_none[0] != '\0' ? survey->why_none : "no GPU can be used");
    if (hidden)
        doctor_remedy(finding, "unset CUDA_VISIBLE_DEVICES");
    else if (access("/.dockerenv", F_OK) == 0)
        doctor_remedy(finding, "start this container with the GPU: docker run --gpus all …");
    else if (!survey->driver_present)
        doctor_remedy_install(finding, "nvidia-driver (Ubuntu: sudo ubuntu-drivers install)");
    else
        doctor_remedy(finding, "sudo modprobe nvidia nvidia_uvm");
}

/* "CUDA 13.0" of 13000. */
static const char *cuda_name(int version, char buffer[32])
{
    (void)snprintf(buffer, 32, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    return buffer;
}

static void driver_too_old(struct doctor *doctor, const char *what, const char *newer)
{
    char driver[32];
    struct doctor_finding *finding =
        doctor_add(doctor, "driver", DOCTOR_WARN,
                   "the driver is for %s, but %s is %s: an older driver cannot load what a newer "
                   "major version "
                   "makes, so kernels run on the built-in emulator",
                   cuda_name(doctor->survey.driver_version, driver), what, newer);
    doctor_remedy(finding,
                  "update the driver, or install a CUDA %d.x toolkit beside the other and build "
                  "spillway with it: make clean all CUDA_HOME=/usr/local/cuda-%d",
                  doctor->survey.driver_version / 1000, doctor->survey.driver_version / 1000);
}

/* True when the driver is new enough for what the toolkit and the linked runtime make. */
static bool look_at_driver(struct doctor *doctor)
{
    const struct gpu_survey *survey = &doctor->survey;
    const struct toolchain *toolchain = &doctor->toolchain;
    char driver[32], name[48];
    if (!survey->driver_present)
        return false;
    int driver_major = survey->driver_version / 1000;
    int driver_minor = survey->driver_version % 1000 / 10;
    if (survey->runtime_version / 1000 > driver_major) {
        driver_too_old(doctor, "the CUDA runtime in this spillway",
                       cuda_name(survey->runtime_version, name));
        return false;
    }
    if (toolchain->version[0] == '\0') {
        doctor_add(doctor, "driver", DOCTOR_OK, "the driver is for %s",
                   cuda_name(survey->driver_version, driver));
        return true;
    }
    (void)snprintf(name, sizeof name, "CUDA %u.%u", toolchain->major, toolchain->minor);
    if ((int)toolchain->major > driver_major) {
        driver_too_old(doctor, "the toolkit", name);
        return false;
    }
    bool newer_minor =
        (int)toolchain->major == driver_major && (int)toolchain->minor > driver_minor;
    doctor_add(doctor, "driver", DOCTOR_OK, "the driver is for %s, the toolkit is %s%s",
               cuda_name(survey->driver_version, driver), name,
               newer_minor
                   ? ": newer, which does no harm, since kernels are assembled for the exact "
                     "card and the major version is the same"
                   : "");
    return true;
}

static void look_at_card(struct doctor *doctor, const struct gpu_device *gpu, bool usable)
{
    const struct toolchain *toolchain = &doctor->toolchain;
    const struct arch arch = {.number = gpu->major * 10 + gpu->minor};
    char name[ARCH_NAME_BYTES];
    (void)arch_name(arch, "sm_", name);
    double gib = (double)gpu->memory_bytes / 1073741824.0;
    if (toolchain->arch_count == 0) {
        doctor_add(doctor, "gpu", DOCTOR_OK, "GPU %d: %s (%s), %.0f GiB", gpu->ordinal, gpu->name,
                   name, gib);
        return;
    }
    if (toolchain_knows(toolchain, arch)) {
        doctor_add(doctor, "gpu", DOCTOR_OK, "GPU %d: %s (%s), %.0f GiB; nvcc compiles for it",
                   gpu->ordinal, gpu->name, name, gib);
        if (usable && gpu->ordinal == doctor->survey.devices[0].ordinal)
            doctor->executor = EXECUTOR_GPU;
        return;
    }
    bool too_new = arch.number > toolchain->archs[toolchain->arch_count - 1].number;
    struct doctor_finding *finding =
        doctor_add(doctor, "gpu", DOCTOR_WARN,
                   "GPU %d: %s is %s, for which nvcc %s %s: kernels run on the built-in emulator",
                   gpu->ordinal, gpu->name, name, toolchain->version,
                   too_new ? "is too old" : "does not compile");
    doctor_remedy(finding,
                  "install a%s CUDA toolkit that knows %s (`nvcc --list-gpu-arch` tells) and name "
                  "it: export CUDA_HOME=/usr/local/cuda-VERSION",
                  too_new ? " newer" : "n older", name);
}

void doctor_judge_gpus(struct doctor *doctor)
{
    const struct gpu_survey *survey = &doctor->survey;
    doctor->executor = EXECUTOR_EMULATOR;
    bool usable = look_at_driver(doctor);
    if (survey->driver_present && survey->runtime_version == 0) {
        struct doctor_finding *finding =
            doctor_add(doctor, "gpu", DOCTOR_WARN,
                       "this spillway was built without a CUDA toolkit and cannot use a GPU: "
                       "kernels run on the built-in emulator");
        doctor_remedy(finding, "make clean all CUDA_HOME=/usr/local/cuda");
    } else if (survey->device_count == 0 && (usable || !survey->driver_present)) {
        no_gpu(doctor);
    }
    for (size_t i = 0; i < survey->device_count; ++i)
        look_at_card(doctor, &survey->devices[i], usable);
}

int doctor_look_at_gpus(struct doctor *doctor, struct error *err)
{
    struct error trouble = {0};
    if (run_survey_gpus(&doctor->survey, &trouble) != 0) {
        if (trouble.kind == ERROR_INTERRUPTED) {
            *err = trouble;
            return -1;
        }
        doctor->survey = (struct gpu_survey){0};
        struct doctor_finding *finding =
            doctor_add(doctor, "worker", DOCTOR_FAIL, "cannot start a worker: %s", trouble.text);
        doctor_remedy(finding, "free some memory and processes (ulimit -a shows the limits)");
        return 0;
    }
    doctor_judge_gpus(doctor);
    return 0;
}

#include "doctor.h"

int doctor_examine(struct doctor *out, const char *nvcc_option, struct error *err)
{
    *out = (struct doctor){.executor = EXECUTOR_NONE};
    if (doctor_look_at_toolkit(out, nvcc_option, err) != 0 || doctor_look_at_gpus(out, err) != 0 ||
        doctor_look_at_machine(out, err) != 0)
        return -1;
    if (!doctor_can_grade(out))
        out->executor = EXECUTOR_NONE;
    return 0;
}

void doctor_release(struct doctor *doctor)
{
    toolchain_release(&doctor->toolchain);
    doctor->count = 0;
}

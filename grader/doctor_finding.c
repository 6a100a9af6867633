#include "doctor.h"

#include <stdarg.h>

struct doctor_finding *doctor_add(struct doctor *doctor, const char *id, enum doctor_status status,
                                  const char *format, ...)
{
    size_t slot =
        doctor->count < DOCTOR_FINDINGS_MAX ? doctor->count++ : (size_t)DOCTOR_FINDINGS_MAX - 1;
    struct doctor_finding *finding = &doctor->findings[slot];
    *finding = (struct doctor_finding){.id = id, .status = status};
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
    return finding;
}

void doctor_remedy(struct doctor_finding *finding, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(finding->remedy, sizeof finding->remedy, format, arguments);
    va_end(arguments);
}

void doctor_remedy_install(struct doctor_finding *finding, const char *packages)
{
    if (access("/usr/bin/apt-get", X_OK) == 0)
        doctor_remedy(finding, "%sapt-get install %s", geteuid() == 0 ? "" : "sudo ", packages);
    else
        doctor_remedy(finding, "install what Debian calls %s with this system's package manager",
                      packages);
}

bool doctor_can_grade(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; ++i)
        if (doctor->findings[i].status == DOCTOR_FAIL)
            return false;
    return true;
}

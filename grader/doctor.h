/* doctor.h - what this machine can do for a grading, and how to mend what it cannot.
 *
 * Every finding is one line in words with a status; a remedy is the command that mends it (or,
 * where no one command can, the shortest instruction). FAIL means that nothing can be graded here;
 * WARN that grading works, but something is slower or missing. Nothing here prints. */
#ifndef SPILLWAY_DOCTOR_H
#define SPILLWAY_DOCTOR_H

#include "run.h"
#include "run_survey.h"
#include "toolchain.h"

enum doctor_status { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor_finding {
    const char *id; /* "nvcc", "driver", …: stable, for scripts */
    enum doctor_status status;
    char text[600];
    char remedy[400]; /* "" when there is nothing to mend */
};

#define DOCTOR_FINDINGS_MAX 48

struct doctor {
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
    size_t count;
    struct toolchain toolchain; /* nvcc NULL: none; version "" when it did not answer */
    struct gpu_survey survey;
    enum executor_kind executor; /* what `spillway grade` would choose; NONE when it cannot grade */
};

/* Looks at everything. nvcc_option is --nvcc's value or NULL. Returns 0 whatever was found; -1 with
 * *err only when the user interrupted. Release *out in either case. */
int doctor_examine(struct doctor *out, const char *nvcc_option, struct error *err);
void doctor_release(struct doctor *doctor);

/* False when a finding is FAIL. */
bool doctor_can_grade(const struct doctor *doctor);

/* ---- The parts, in the order in which they are looked at ------------------------------------- */
/* Each adds its findings. They return -1 with *err only for an interrupt. */

int doctor_look_at_toolkit(struct doctor *doctor, const char *nvcc_option, struct error *err);
int doctor_look_at_gpus(struct doctor *doctor, struct error *err);
/* The half of doctor_look_at_gpus() that judges doctor->survey against doctor->toolchain. */
void doctor_judge_gpus(struct doctor *doctor);
int doctor_look_at_machine(struct doctor *doctor, struct error *err);

/* ---- What the parts say: doctor_finding.c ---------------------------------------------------- */

/* Adds a finding and returns it, so that the caller may attach a remedy. The last slot is written
 * again when there are too many. */
struct doctor_finding *doctor_add(struct doctor *doctor, const char *id, enum doctor_status status,
                                  const char *format, ...) PRINTF_LIKE(4, 5);
void doctor_remedy(struct doctor_finding *finding, const char *format, ...) PRINTF_LIKE(2, 3);

/* Attaches "apt-get install PACKAGES" in the words of this machine: with sudo unless root, and
 * without a command where the packages do not come from apt. */
void doctor_remedy_install(struct doctor_finding *finding, const char *packages);

#endif

/* audit.h - does the device code hold exactly what the lab allows?
 *
 * Judged on the PTX, never on the source text: macros and inline assembly cannot hide there. */
#ifndef SPILLWAY_AUDIT_H
#define SPILLWAY_AUDIT_H

#include "build.h"

#define AUDIT_FINDINGS_MAX 8

struct audit {
    char findings[AUDIT_FINDINGS_MAX][300];   /* sentences, each with the mend */
    const char *remedies[AUDIT_FINDINGS_MAX]; /* more of it; static */
    char words[AUDIT_FINDINGS_MAX][80];       /* a name of the source that it is about; "": none */
    size_t finding_count;                     /* 0: nothing to object to */
    bool foreign; /* entries, pragmas or functions that are not the lab's: disagreeing witnesses
                     and refusals are then the submission's doing */
};

void audit_judge(struct audit *out, const struct lab *lab, const struct build_target *target);

/* Whether trouble with this kernel (refused, witnesses that disagree) is the submission's own
 * doing. */
bool audit_blames(const struct audit *audit, const struct ptx_function *function);

/* Bytes of static shared memory that the PTX declares over the whole module, padding included. */
uint64_t audit_declared_shared_bytes(const struct build_target *target);

#endif

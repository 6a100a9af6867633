/* arch.h - names of GPU architectures: "sm_75", "compute_75", "75", "sm_90a". */
#ifndef SPILLWAY_ARCH_H
#define SPILLWAY_ARCH_H

#include "base.h"

struct arch {
    unsigned number; /* 75, 90, 120: major * 10 + minor; 0: none */
    char suffix;     /* 'a' or 'f', or 0 */
};

/* Understands sm_75, compute_75, 75, 7.5, with an optional a/f suffix, in any case. */
bool arch_parse(const char *text, struct arch *ret) MUST_CHECK;

/* Writes "sm_75" or "compute_75" (prefix given) into a caller's array; returns it. */
#define ARCH_NAME_BYTES 24
const char *arch_name(struct arch arch, const char *prefix, char buffer[ARCH_NAME_BYTES]);

static inline unsigned arch_major(struct arch arch)
{
    return arch.number / 10;
}
static inline unsigned arch_minor(struct arch arch)
{
    return arch.number % 10;
}
static inline bool arch_equal(struct arch a, struct arch b)
{
    return a.number == b.number && a.suffix == b.suffix;
}

#endif

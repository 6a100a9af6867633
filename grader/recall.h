/* recall.h - what was compiled, assembled or run before need not be again: the keys and contents of
 * the cache.
 *
 *   source             the source as canonical_source() has it (else its exact bytes), its name,
 *                      architecture, flags, compilers        → PTX, or why it does not compile
 *   machine code       the PTX as canonical_ptx() has it (else exact), architecture, compilers
 *                                                            → ptxas's words and the cubin
 *   run                the same PTX, launches, seed, executor, this very program
 *                                                            → what each launch came to
 *
 * A result is shared between texts that differ in comments or line tables only where it says
 * nothing about lines: a source about which the compiler had words is shared between equal files
 * alone. A run in which a launch faulted is shared between PTX texts that differ in line numbers,
 * and its sentences get the other's lines (numbers_pack.h). The same code on other lines is
 * compiled twice, and then, if that made no difference, no more (recall_source.c).
 *
 * Each recall_*() either fills its result and returns true, or returns false: then the caller does
 * the work and calls the matching recall_keep_*(), in any case, since others may be waiting. */
#ifndef SPILLWAY_RECALL_H
#define SPILLWAY_RECALL_H

#include "build.h"
#include "cache.h"
#include "line_map.h"
#include "numbers.h"

struct recall {
    struct cache *cache;   /* borrowed */
    struct digest toolkit; /* the compilers: where, which version, which files */
    struct digest program; /* this very program */
};

/* -1 with *err: the compilers or this program cannot be looked at. */
int recall_open(struct recall *out, struct cache *cache, const struct toolchain *toolchain,
                struct error *err);

struct recall_claim {
    struct cache *cache; /* NULL: nothing is claimed */
    struct digest key, exact;
    bool shared; /* `key` is that of the canonical text, and differs from `exact` */
    /* A source's alone: the lines of code by themselves (recall_source.c). */
    struct digest code;
    bool code_mine, code_seen;
    struct line_map map, first; /* owned: of this source, and of the first with this code */
    struct bytes places;        /* owned: the first one's PTX, with places for lines */
    /* A run's: `map` is that of the PTX, and an outcome that names lines is kept with it. */
    bool mapped;
};

enum recall_outcome {
    RECALL_FAILED, /* the machine failed, or the user interrupted: nobody learns anything */
    RECALL_SHARED, /* may stand for every text of the same canonical form */
    RECALL_OWN,    /* for equal bytes at most */
};

/* recall NULL: never anything, in all functions. */

bool recall_source(struct recall_claim *claim, const struct recall *recall,
                   const struct submission *submission, struct build_target *target);
/* `worked` false: the machine failed. */
void recall_keep_source(struct recall_claim *claim, const struct build_target *target,
                        const char *source_name, bool worked);

/* What build_assemble() fills. */
bool recall_image(struct recall_claim *claim, const struct recall *recall, struct arch arch,
                  const char *ptx, size_t length, struct bytes *words, struct bytes *cubin);
/* Only what is shared is kept; both may be NULL else. */
void recall_keep_image(struct recall_claim *claim, enum recall_outcome outcome,
                       const struct bytes *words, const struct bytes *cubin);

bool recall_run(struct recall_claim *claim, const struct recall *recall,
                const struct numbers *numbers, const struct build_target *target,
                const struct numbers_options *options, const char *device,
                struct numbers_result *result);
/* result NULL: the machine failed. */
void recall_keep_run(struct recall_claim *claim, const struct numbers *numbers,
                     const struct numbers_result *result);

#endif

/* grade.h - all marks and the score: the one struct that every writer prints from.
 *
 * Written once by rubric_judge(), const afterwards. It owns its strings and outlives the stages it
 * was made from, but for the lab's tables, which live for ever. Every string is printable UTF-8
 * (only `printed`, `compiler_words` and messages have lines): a writer need not look again. */
#ifndef SPILLWAY_GRADE_H
#define SPILLWAY_GRADE_H

#include "facts.h"
#include "labs/lab.h"
#include "sandbox.h"
#include "traffic.h"

enum mark_status {
    MARK_PASSED,
    MARK_FAILED,
    MARK_SKIPPED, /* this machine could not judge it: pending, not lost */
    MARK_ERROR,   /* our side failed or the witnesses disagree: pending as well */
};

struct mark {
    const struct criterion *criterion;
    enum mark_status status;
    int points;    /* criterion->points when passed, else 0 */
    char *message; /* owned; what was expected and seen; "" when there is nothing to add */
    char *remedy;  /* owned; what to try for this way of failing; "" unless failed */
    unsigned line; /* in the student's source; 0: unknown */
    bool waits;    /* nothing of its own is to be mended: its kernel was not built */
};

/* One kernel on one architecture (the graded ones, and the one that ran when it is another), as the
 * table and the JSON show it. */
struct grade_kernel {
    const char *name; /* borrowed from the lab */
    struct arch arch;
    bool known; /* false: the build has no such kernel; problem says why */
    char problem[300];
    int64_t registers, stack_bytes, spill_store_bytes, spill_load_bytes, shared_bytes, barriers;
    struct witnesses registers_said, stack_said, spill_store_said, spill_load_said, shared_said;
    int64_t max_threads_per_block, blocks_per_sm; /* FACT_UNKNOWN: not known */
    double occupancy_percent;                     /* negative: not known */
    /* Of the launches under the executor; only on the architecture that ran. */
    bool ran;
    uint64_t compared, mismatches;
    bool has_first_mismatch;
    size_t first_index;
    uint32_t expected_bits, got_bits;
    char *fault; /* owned; NULL: none */
    unsigned fault_line;
    struct traffic traffic;
    struct run_timing time;
    char *printed; /* owned; what the kernel printed; NULL: nothing */
};

struct grade {
    const struct lab *lab;
    /* Submission */
    bool from_git;
    char *path, *source_path, *answers_path; /* owned; answers_path NULL: none */
    char commit[48], chosen[160];
    char source_id[48], answers_id[48]; /* what git calls the files' bytes; "": nothing was read */
    /* Tools */
    char nvcc_version[32], nvcc_path[512];
    char nvcc_found[32];
    struct arch *archs; /* owned; graded ones first, then others that were built */
    size_t arch_count, graded_arch_count;
    struct arch declared_arch; /* number 0: none given */
    enum executor_kind executor;
    char device[128], why[256];
    struct sandbox sandbox; /* that the compilers ran in */
    uint64_t seed;
    /* Findings */
    struct grade_kernel *kernels; /* owned */
    size_t kernel_count;
    char **notes; /* owned sentences that cost nothing: unknown keys, a compiler's words, … */
    size_t note_count;
    char *compiler_words; /* owned; what nvcc said of the student's file when it failed; NULL */
    /* Marks */
    struct mark *marks; /* owned, in the lab's order */
    size_t mark_count;
    int score, pending, max_score;
    int64_t duration_ns;
};

void grade_release(struct grade *grade);
const char *
mark_status_word(enum mark_status status); /* "passed", "failed", … as the JSON has it */
/* Sets score, pending and max_score from the marks. */
void grade_add_up(struct grade *grade);
int grade_add_note(struct grade *grade, struct error *err, const char *format, ...)
    PRINTF_LIKE(3, 4);

#endif

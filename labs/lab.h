/* lab.h - what a lab is: constant tables that the grader reads and never writes.
 *
 * Adding a lab adds labs/<id>/lab.c, starter/<id>/, reference/<id>/, exercises/<id>/ and one line
 * in labs/registry.c; no grader code changes. CONTRIBUTING.md walks through it. Hints live in
 * labs/<id>/hints, a plain text ladder; see grader/hints.h for its format. */
#ifndef SPILLWAY_LAB_H
#define SPILLWAY_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Kernels and their arguments ------------------------------------------------------------- */

enum scalar_type { SCALAR_U32, SCALAR_S32, SCALAR_U64, SCALAR_F32 };

enum argument_role {
    ARGUMENT_INPUT,  /* pointer to n + extra elements, fresh random values for every launch */
    ARGUMENT_OUTPUT, /* pointer to n elements, poisoned before every launch */
    ARGUMENT_COUNT,  /* the element count n */
    ARGUMENT_SCALAR, /* the case's scalar (a shift, a stride, …) */
};

struct lab_argument {
    const char *name;
    enum argument_role role;
    enum scalar_type type; /* of the element, for a pointer */
    size_t extra;          /* ARGUMENT_INPUT: elements beyond n that the kernel may read */
};

/* One call of the CPU reference: output elements [begin, end) of a launch with these inputs. */
struct reference_call {
    const float *input;
    float *output;
    size_t n, begin, end;
    int64_t scalar;
};

struct lab_kernel {
    const char *name; /* unqualified source name: the submission has exactly one entry so called */
    const struct lab_argument *arguments;
    size_t argument_count;
    unsigned block_threads;
    void (*reference)(
        const struct reference_call *call); /* defined in reference/<lab>/reference.c */
};

/* ---- Launches -------------------------------------------------------------------------------- */

/* One launch whose output is compared with the reference, element by element, bit by bit. */
struct lab_case {
    unsigned kernel;      /* index into kernels */
    size_t n;             /* elements */
    bool full_size;       /* n yields to --elements; the launch that is timed and counted */
    unsigned input_group; /* cases of one group get equal inputs, so that their outputs can be
                             compared */
    int64_t scalar;       /* ARGUMENT_SCALAR, unless drawn */
    bool drawn;           /* draw the scalar from the seed, in [draw_min, draw_max] */
    int64_t draw_min, draw_max;
};

/* A mistake that students make often, told by the values that it gives. */
struct lab_mistake {
    unsigned kernels;     /* bit k: kernel k can show it */
    const char *says;     /* goes on "a kernel in which …" */
    const char *try_next; /* what mends it, one sentence */
};

/* ---- Rubric ---------------------------------------------------------------------------------- */

enum criterion_kind {
    CRITERION_BUILD,   /* compiles, exactly the lab's entries, nothing outside the allow-list */
    CRITERION_NUMBERS, /* every case in [first_case, first_case + case_count) equals the reference
                        */
    CRITERION_FRAME_BYTES,     /* stack frame of `kernel` is exactly `expected` bytes */
    CRITERION_NO_SPILLS,       /* `kernel` has a frame, and no spill stores or loads */
    CRITERION_LAUNCH_BOUNDS,   /* .maxntid is `threads`, .minnctapersm is `blocks` */
    CRITERION_REGISTER_BUDGET, /* registers <= file / (threads * blocks), no shared memory beyond
                                  the declared */
    CRITERION_BLOCKS_FIT,      /* `blocks` blocks of `threads` threads fit on one SM */
    CRITERION_REPORTED_COUNT,  /* answers [registers] `kernel` equals the rebuild's count */
    CRITERION_ANSWER,          /* answers [section] key equals what `key` computes */
};

/* What the key functions of a lab may look at: measured facts of the submission's own build on the
 * declared architecture. Filled by the rubric. Members are borrowed. */
struct kernel_facts;
struct sm_limits;
struct key_context {
    const struct lab *lab;
    const struct kernel_facts *const
        *kernels;               /* one per lab kernel; NULL where the build has none */
    const struct sm_limits *sm; /* of the declared architecture */
    /* The what-if build of the lab (`what_if` below), on the declared architecture; NULL: none. */
    const struct kernel_facts *what_if;
    const char *what_if_problem; /* why there is none; "" when there is, or the lab asks none */
};

/* The right answer to one key, in the words that answers.ini uses. */
struct answer_key {
    enum {
        KEY_WORD,
        KEY_NUMBER,
        KEY_UNKNOWN,  /* the submission's build shows no answer: no points */
        KEY_UNJUDGED, /* this grader cannot tell: skipped */
    } kind;
    char word[64];     /* KEY_WORD: compared without case */
    int64_t number;    /* KEY_NUMBER */
    char because[512]; /* the arithmetic or the fact behind it: part of the message after a wrong
                          answer */
};

struct criterion {
    const char *id; /* "group.item", stable for ever */
    const char *title;
    int points;
    enum criterion_kind kind;
    unsigned kernel;
    size_t first_case, case_count; /* CRITERION_NUMBERS */
    int equal_to_case;      /* CRITERION_NUMBERS: output also equals this case's output; -1: none */
    uint64_t expected;      /* CRITERION_FRAME_BYTES */
    const char *arithmetic; /* how `expected` comes about: "64 taps x 4 bytes"; NULL: not said */
    unsigned threads, blocks;  /* CRITERION_LAUNCH_BOUNDS, _REGISTER_BUDGET, _BLOCKS_FIT */
    const char *section, *key; /* CRITERION_REPORTED_COUNT, CRITERION_ANSWER */
    const char *words; /* CRITERION_ANSWER: all that can be answered, parted by blanks; NULL:
                          a number */
    void (*compute)(const struct key_context *context,
                    struct answer_key *ret); /* CRITERION_ANSWER */
    const char *why;      /* why this matters, one sentence: shown under a failure */
    const char *try_next; /* what to try next, one sentence */
};

/* ---- The lab --------------------------------------------------------------------------------- */

/* "What would `kernel` be with this launch bound?" - one more ptxas run over the submission's PTX.
 */
struct lab_what_if {
    unsigned kernel;
    unsigned max_threads; /* becomes `.maxntid max_threads, 1, 1`; 0: the lab has no what-if */
};

#define LAB_KERNELS_MAX 32

struct lab {
    const char *id, *title;
    const char *source_name; /* the file a student edits, e.g. "registers.cu" */
    const struct lab_kernel *kernels;
    size_t kernel_count;
    const struct lab_case *cases;
    size_t case_count;
    const struct criterion *criteria;
    size_t criterion_count;
    const char *const *allowed_pragmas; /* PTX .pragma strings that a submission may hold */
    size_t allowed_pragma_count;
    struct lab_what_if what_if;
    /* What kernel number `kernel` gives with one of the mistakes, elements [begin, end), the first
     * of them at output[0]. NULL when the lab knows no mistakes. */
    const struct lab_mistake *mistakes;
    size_t mistake_count;
    void (*mistaken)(unsigned kernel, size_t mistake, const struct reference_call *call);
    unsigned time_base; /* kernel that the others' times are compared with */
    int starter_floor;  /* points that the untouched starter earns */
};

extern const struct lab *const lab_registry[];
extern const size_t lab_registry_count;

/* NULL if there is no lab of that id; case does not matter. */
const struct lab *lab_find(const char *id);
int lab_max_score(const struct lab *lab);

#endif

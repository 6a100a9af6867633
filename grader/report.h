/* report.h - parse what ptxas (and nvlink) printed with -v: any log, not only ours.
 *
 * Token by token, never by position: lines come in any order and dialect (CUDA 2 to 13), with build
 * tool prefixes, colour codes, CRLF, and front-end noise between them. What the log does not say is
 * "not printed" (REPORT_ABSENT), never 0. tests/fixtures/ptxas/ holds one log per shape. */
#ifndef SPILLWAY_REPORT_H
#define SPILLWAY_REPORT_H

#include "bytes.h"
#include "errors.h"

#define REPORT_ABSENT (-1) /* the log did not say */

enum report_tool { REPORT_PTXAS, REPORT_NVLINK };

/* One "Function properties" block: the entry's own, or a callee's. */
struct report_function {
    char *symbol; /* owned */
    char *arch;   /* "sm_75"; NULL where the log names none. Owned */
    int64_t stack_bytes, spill_store_bytes, spill_load_bytes;
};

struct report_bank { /* constant bank: cmem[number] */
    unsigned number;
    int64_t bytes;
};

struct report_kernel {
    char *symbol; /* mangled, as printed; owned */
    char *name;   /* demangled by __cxa_demangle, or a copy of symbol; owned */
    char *arch;   /* NULL: not printed. Owned */
    enum report_tool tool;
    int64_t registers, stack_bytes, cumulative_stack_bytes, spill_store_bytes, spill_load_bytes;
    int64_t shared_bytes, local_bytes, barriers;
    struct report_bank *banks;
    size_t bank_count; /* owned */
    struct report_function *functions;
    size_t function_count; /* callee blocks, owned */
    /* Own block and callee blocks together: spills are summed, frames take the maximum. */
    int64_t total_spill_store_bytes, total_spill_load_bytes, max_stack_bytes;
    unsigned count; /* how often the same numbers were printed */
    bool complete;  /* both the frame line and the "Used" line were seen, whole */
    bool ambiguous; /* the same (symbol, arch, tool) was printed with other numbers as well */
    size_t line;    /* 1-based, of "Compiling entry function" */
};

struct report {
    struct report_kernel *kernels;
    size_t kernel_count;
    struct report_function *functions;
    size_t function_count; /* blocks that belong to no entry */
    char **warnings;
    size_t warning_count;
    char **errors;
    size_t error_count;
    bool build_failed; /* an error line was printed: the numbers stand in no object file */
    bool truncated;    /* the log stops in the middle of a record, or a cap was reached */
};

/* Parses the bytes (NUL bytes and invalid UTF-8 allowed). -1 only when out of memory. */
int report_parse(struct report *out, const char *log, size_t length, struct error *err);
void report_release(struct report *report);

/* The one kernel of this symbol and arch (NULL: any arch). NULL when there is none; *ambiguous is
 * set when there are several or the one is ambiguous. */
const struct report_kernel *report_find(const struct report *report, const char *symbol,
                                        const char *arch, bool *ambiguous);

#endif

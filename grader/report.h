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

/* A "Function properties" block that is not an entry's own: of a function that was called and not
 * inlined. */
struct report_function {
    char *symbol; /* owned; "" for a line whose beginning is missing from the log */
    char *arch;   /* that of the entry it belongs to; NULL where the log names none. Owned */
    int64_t stack_bytes, spill_store_bytes, spill_load_bytes;
};

struct report_bank { /* constant bank: cmem[number] */
    unsigned number;
    int64_t bytes;
};

struct report_kernel {
    char *symbol; /* mangled, as printed, made printable; ends in "…" when cut. Owned */
    char *name;   /* demangled, or a copy of symbol; owned */
    char *arch;   /* NULL: not printed. Owned */
    enum report_tool tool;
    int64_t registers, stack_bytes, cumulative_stack_bytes, spill_store_bytes, spill_load_bytes;
    int64_t shared_bytes, local_bytes, barriers;
    struct report_bank *banks;
    size_t bank_count; /* owned */
    struct report_function *functions;
    size_t function_count; /* callee blocks, owned */
    /* Own block and callee blocks together: spills are summed, frames take the maximum; absent
     * where one of them was not printed. */
    int64_t total_spill_store_bytes, total_spill_load_bytes, max_stack_bytes;
    unsigned count; /* how often the same numbers were printed */
    /* Everything this dialect prints of a kernel was seen, whole: the "Used" line, the frame line
     * (not before compute capability 2.0, not from nvlink), and the callees' frame lines. */
    bool complete;
    /* The same (symbol, arch, tool) was printed with other numbers as well, or lines of several
     * compilers, or a quotation, are mixed up so that these numbers may be another's. */
    bool ambiguous;
    size_t line; /* 1-based, of "Compiling entry function" */
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
    bool truncated;    /* a record lacks its beginning or its end, or a cap was reached */
    bool recognised;   /* at least one line of ptxas or nvlink was seen */
    /* Lines that hold "ptxas info" and are no line of ptxas: quoted somewhere, or behind a prefix
     * that is not known. */
    size_t unread_lines;
};

/* Parses the bytes (NUL bytes, UTF-16 and invalid UTF-8 allowed), in time that grows with their
 * number alone. -1 only when out of memory; *out is then empty. */
int report_parse(struct report *out, const char *log, size_t length, struct error *err);
void report_release(struct report *report);

/* The one kernel of this symbol and arch (NULL: any arch) as ptxas printed it. NULL when there is
 * none; *ambiguous is set when there are several (the first is returned) or the one is ambiguous.
 */
const struct report_kernel *report_find(const struct report *report, const char *symbol,
                                        const char *arch, bool *ambiguous);

#endif

/* errors.h - how a function says that *we* (or the machine) failed.
 *
 * Three kinds of trouble never share a channel: what a student's code does is data (a mark with a
 * reason); what the machine does is a struct error; a programmer's mistake is an assert().
 *
 * A fallible function takes `struct error *err` last, returns 0 or -1 (or NULL), and fills *err
 * only on failure. The first message wins: error_set() on a filled error keeps it, error_context()
 * puts words in front of it. Nothing below cmd_*.c prints an error or exits. */
#ifndef SPILLWAY_ERRORS_H
#define SPILLWAY_ERRORS_H

#include "base.h"

enum error_kind {
    ERROR_NONE = 0,
    ERROR_USAGE,          /* the user asked for something that does not exist: exit status 2 */
    ERROR_INFRASTRUCTURE, /* the machine failed us: exit status 3, no score is written */
    ERROR_INTERRUPTED,    /* Ctrl-C or SIGTERM: exit status 130 */
};

struct error {
    enum error_kind kind;
    bool no_memory;  /* said by error_no_memory(): never the fault of what was being read */
    char text[1024]; /* one printable line, cut with "…" if need be */
};

/* Exit statuses of every spillway command: the contract with scripts. */
enum exit_status {
    EXIT_STATUS_DONE = 0,
    EXIT_STATUS_FAIL_UNDER = 1,
    EXIT_STATUS_USAGE = 2,
    EXIT_STATUS_INFRASTRUCTURE = 3,
    EXIT_STATUS_FAULT = 4, /* `emulate` only: the kernel faulted */
    EXIT_STATUS_INTERRUPTED = 130,
};

/* Fills *err unless it already holds an error. Returns -1, so that `return error_set(…)` reads
 * well. */
int error_set(struct error *err, enum error_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Like error_set() with ": " and the text of errno (as it is on entry) at the end. */
int error_set_errno(struct error *err, enum error_kind kind, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Puts "format: " in front of the message. Returns -1. */
int error_context(struct error *err, const char *format, ...) PRINTF_LIKE(2, 3);

/* Out of memory, in the one wording. Returns -1. */
int error_no_memory(struct error *err);

/* Prints "spillway: text" on stderr and returns the exit status that belongs to the kind. */
int error_report(const struct error *err);

#endif

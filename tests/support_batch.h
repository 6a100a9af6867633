/* support_batch.h - a class, and `spillway batch` over it, for the suites that look at what comes
 * of that. One class a test. */
#ifndef SPILLWAY_SUPPORT_BATCH_H
#define SPILLWAY_SUPPORT_BATCH_H

#include "support_school.h"

#define QUICK "--executor", "none"
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
/* Everything was committed on 2023-11-14 at 22:13 UTC. */
#define BATCH_LATE_BY_A_DAY "2023-11-14 12:00 UTC"

extern struct school batch_school;
extern char batch_out[560]; /* the folder of the results */

/* A new class; `delay` as school_make() has it. */
void batch_set_up(size_t students, const char *delay);

/* Runs a batch with these arguments. Release the result. */
#define BATCH(...) school_batch(&batch_school, batch_out, (const char *const[]){__VA_ARGS__, NULL})
/* The same, and expects this exit status, and each part in what it says. */
void batch_expect(int exit_code, const char *const *arguments, const char *const *parts);
void batch_assert_says(const struct process_result *result, const char *part);

/* A file of a folder, whole. Release it. */
struct bytes batch_read(const char *folder, const char *name);
/* A file of the results holds this. */
void batch_assert_in(const char *name, const char *part);

#endif

/* batch_progress.h - how far a batch is: a bar on a terminal, else a line a student. */
#ifndef SPILLWAY_BATCH_PROGRESS_H
#define SPILLWAY_BATCH_PROGRESS_H

#include "errors.h"

struct batch_progress {
    bool terminal; /* standard error is one: a bar there */
    int64_t began_ns, shown_ns;
    size_t total, done, unchanged, failed; /* done counts every student who is finished */
    size_t running, waiting;
};

void batch_progress_begin(struct batch_progress *progress, size_t total);

/* Shows the bar, at most a few times a second unless `now`. */
void batch_progress_show(struct batch_progress *progress, bool now);

/* One student is finished: a line on standard output unless there is a bar. */
void batch_progress_line(struct batch_progress *progress, const char *student, const char *format,
                         ...) PRINTF_LIKE(3, 4);

void batch_progress_end(struct batch_progress *progress);

/* "[#####>    ]  41%  120 done, 4 running, 170 waiting, 2 failed, 3 min left" in at most `columns`.
 * For tests; returns `into`. `now_ns` is on the monotonic clock. */
#define BATCH_PROGRESS_BYTES 256
const char *batch_progress_text(const struct batch_progress *progress, int64_t now_ns,
                                size_t columns, char into[BATCH_PROGRESS_BYTES]);

#endif

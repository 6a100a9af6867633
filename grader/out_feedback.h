/* out_feedback.h - what one student gets: a page of text, one of HTML, and the JSON of the grade
 * with what the batch adds to it. */
#ifndef SPILLWAY_OUT_FEEDBACK_H
#define SPILLWAY_OUT_FEEDBACK_H

#include "standing.h"

/* Appends feedback.txt: whose work, which commit and why, the page of the grade, overrides, the
 * arithmetic of being late, and the score that counts. `page` is the attempt's; NULL: none.
 * Trouble is in out->failed. */
void out_feedback_text(struct bytes *out, const struct standing *standing, const struct lab *lab,
                       const char *page);

/* Appends report.html: the same for a browser. `html` is the attempt's, and where that is NULL
 * `page` is shown as it is (NULL: none). Trouble is in out->failed. */
void out_feedback_html(struct bytes *out, const struct standing *standing, const struct lab *lab,
                       const char *html, const char *page);

/* "2026-03-28 12:00 +01:00 (Europe/Berlin), by the commit's date", and the deadline with its
 * extension; nothing where it is not known. */
void out_feedback_handed_in(struct bytes *out, const struct standing *standing);
void out_feedback_deadline(struct bytes *out, const struct standing *standing);

/* Appends result.json: the attempt's document (schema spillway/result/v1; `json`, NULL: one without
 * kernels is made), with one more member `batch`, whose `score` is the one that counts. -1 with
 * *err: no memory, or `json` is damaged. */
int out_feedback_json(struct bytes *out, const struct standing *standing, const struct lab *lab,
                      const char *json, struct error *err);

#endif

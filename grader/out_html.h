/* out_html.h - what a page about one grade shows, for pages that show more than that. */
#ifndef SPILLWAY_OUT_HTML_H
#define SPILLWAY_OUT_HTML_H

#include "grade.h"

/* Appends the grade without a page around it (html.h): score, tools, kernels with their pictures,
 * marks with what to try. Trouble is in out->failed. */
void out_html_grade(struct bytes *out, const struct grade *grade);

#endif

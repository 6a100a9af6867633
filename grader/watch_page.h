/* watch_page.h - what `spillway watch` prints: the marks that changed, and what to do next. */
#ifndef SPILLWAY_WATCH_PAGE_H
#define SPILLWAY_WATCH_PAGE_H

#include "grade.h"

struct watch_page {
    const struct lab *lab;
    bool colour;
    /* As last shown, one of each per criterion; owned. */
    struct watch_shown {
        bool shown;
        enum mark_status status;
        char *words; /* message and remedy */
    } * marks;
    int score; /* -1: none was shown yet */
};

/* -1: no memory. */
int watch_page_start(struct watch_page *out, const struct lab *lab, bool colour);
void watch_page_end(struct watch_page *page);

/* Appends each mark that is another than when it was last shown, and remembers it: a line when it
 * is new or passed, all that is known of it when it was lost. With `preview`, marks for numbers are
 * left for later. Returns how many there were, or -1: no memory. */
int watch_page_marks(struct watch_page *page, struct bytes *out, const struct grade *grade,
                     bool preview);

/* Appends the score, how it changed, and the next mark to work on, or that all is done. */
void watch_page_score(struct watch_page *page, struct bytes *out, const struct grade *grade);

#endif

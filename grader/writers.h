/* writers.h - every format that a grade can be written in besides the page for a terminal: one
 * table, so that a command has an option for each and treats them alike.
 *
 * Life cycle of a request: zero-initialise struct writers, writers_take() for each option,
 * writers_begin() before the grading, then writers_finish() with the grade, or writers_fail() when
 * there is none. Nothing is owned: paths live as long as argv.
 *
 * A file is written whole or not at all. "-" is standard output, and then nothing else is printed
 * there. */
#ifndef SPILLWAY_WRITERS_H
#define SPILLWAY_WRITERS_H

#include <getopt.h>

#include "grade.h"

#define WRITERS_MAX 16 /* rows of the table, and requests */

/* What some formats need beside the grade. */
struct writer_context {
    const char *gradescope_metadata; /* submission_metadata.json; NULL: none was given */
};

typedef int writer_function(struct bytes *out, const struct grade *grade,
                            const struct writer_context *context, struct error *err);

struct writer {
    const char *option; /* "junit", without the hyphens */
    const char *help;   /* what follows the option's name in --help; lines end with a newline */
    /* Appends the document. -1 with *err: no memory, or the environment lacks what the format
     * needs. NULL: the option takes no file. */
    writer_function *write;
    /* Appends what belongs on standard output below the page; NULL: nothing. */
    writer_function *after_page;
    /* Appends what stands in the file as long as there is no grade. `why` is NULL while the grading
     * goes on, and says what ended it when it failed. NULL: the file is left alone. */
    int (*absent)(struct bytes *out, const char *why, struct error *err);
    /* -1 with *err (usage) when the format cannot be written here whatever the grade. NULL: it can.
     */
    int (*ready)(struct error *err);
    /* The option is no format but what one needs. */
    void (*set)(struct writer_context *context, const char *value);
    bool adds; /* to what the file holds already */
};

extern const struct writer writer_table[];
extern const size_t writer_count;

struct writers {
    struct {
        const struct writer *writer;
        const char *path; /* NULL: it takes no file */
    } requests[WRITERS_MAX];
    size_t count;
    struct writer_context context;
};

/* Appends getopt rows of the options, `val` from `first_value` on, and the row of zeros that ends
 * them, to `into` behind the rows that it has. `size` is its number of elements. */
void writers_options(struct option *into, size_t size, int first_value);
#define WRITERS_OPTIONS (WRITERS_MAX + 1) /* values that writers_options() may use */

/* The lines of --help. */
void writers_help(struct bytes *out);

/* Takes an option that writers_options() made; `value` is its argument. Returns false when `option`
 * is none of them. *err (usage) is set when two of them want standard output. */
bool writers_take(struct writers *writers, int option, int first_value, const char *value,
                  struct error *err);

/* Standard output belongs to one of the writers, and no page is wanted there. */
bool writers_own_output(const struct writers *writers);

int writers_begin(const struct writers *writers, struct error *err);
int writers_finish(const struct writers *writers, const struct grade *grade, struct error *err);
/* Best effort: the trouble that ended the grading matters more than one in here. */
void writers_fail(const struct writers *writers, const struct error *why);

/* Appends what belongs below the page, in the table's order. -1 with *err. */
int writers_after_page(const struct writers *writers, struct bytes *page, const struct grade *grade,
                       struct error *err);

/* In a job of GitHub Actions, lines around the page that keep the runner from taking anything in it
 * for a command: student's words stand there. Elsewhere nothing. Keep the token from the one to the
 * other. */
#define WRITERS_TOKEN_BYTES 48
void writers_guard_page(struct bytes *page, char token[WRITERS_TOKEN_BYTES]);
void writers_unguard_page(struct bytes *page, const char *token);

/* ---- The formats, each in its own file ------------------------------------------------------- */

writer_function out_junit, out_tap, out_html;
writer_function out_gradescope, out_prairielearn, out_classroom50;
writer_function out_autolab_line;
writer_function out_github_summary, out_github_annotations;
int out_gradescope_absent(struct bytes *out, const char *why, struct error *err);
int out_prairielearn_absent(struct bytes *out, const char *why, struct error *err);
int out_classroom50_ready(struct error *err);

#endif

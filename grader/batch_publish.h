/* batch_publish.h - hand a class its feedback: what lies in each student's folder of the output
 * becomes a commit on the branch `feedback` of that student's repo (repo_publish.h).
 *
 * Only what batch_run() has written is published, so a batch that was stopped publishes nothing
 * new. The same again makes no commit. */
#ifndef SPILLWAY_BATCH_PUBLISH_H
#define SPILLWAY_BATCH_PUBLISH_H

#include "batch.h"
#include "repo_publish.h"

struct batch_publication {
    const struct student *student; /* borrowed from the roster */
    struct repo_published published;
    bool tried; /* false: this student has no feedback yet */
};

struct batch_publications {
    struct batch_publication
        *rows; /* owned; one a student of the selection, in the roster's order */
    size_t count;
    /* Students, of those that were tried */
    size_t published, unchanged, refused;
    size_t without; /* whose repo has no branch yet: nothing was pushed */
    /* Repos: students may share one. */
    size_t published_repos, unchanged_repos, without_repos;
};

/* The students named by options->students, else the whole class; `result` is batch_run()'s. -1 with
 * *err for what hits everybody; what was published until then stays, and *ret says so. Release it
 * in any case. */
int batch_publish(struct batch_publications *ret, const struct batch_options *options,
                  const struct batch_result *result, struct error *err);
void batch_publications_release(struct batch_publications *publications);

#endif

/* release.h - make a student repository of a lab: everything but the solution, with a first commit.
 *
 * The repository is put together in a folder beside the wished one, searched for leaks (leak.h),
 * and only then renamed: what is not clean never gets the name. */
#ifndef SPILLWAY_RELEASE_H
#define SPILLWAY_RELEASE_H

#include "leak.h"

struct release_options {
    const struct lab *lab;
    const char *folder; /* does not exist, or is empty */
    const char *url;    /* where CI and `make` tell people to get Spillway; "": nowhere yet */
};

struct release {
    size_t file_count;
    int gap_count; /* solutions left out of the source; -1: taken from starter/, no reference here
                    */
    char commit[48];
    size_t secret_count, shown_count;
    struct leak_report leaks;
};

/* Whether a URL may stand in a Makefile and in YAML as it is. */
bool release_url_is_plain(const char *url);

/* -1 with *err: usage (the folder is there and not empty), infrastructure (a file cannot be read or
 * written, a lab's markers do not match, or the repository would leak: out->leaks says where).
 * Release *out after either result. */
int release_make(struct release *out, const struct release_options *options, struct error *err);
void release_release(struct release *release);

/* The student's version of the lab's source, made from the reference. Returns the number of
 * solutions left out, or -1 with *err. */
int release_starter(struct bytes *out, const struct lab *lab, struct error *err);

/* ---- release_git.c --------------------------------------------------------------------------- */

/* Makes a repository of `folder` with these files in one commit without parents. */
int release_git_commit(const char *folder, const char *const *names, size_t count,
                       const char *message, char commit[48], struct error *err);

/* Calls `each` for every object of the repository at `folder`, in packs and loose, reachable or
 * not, until it returns non-zero. 0 too when there is no repository. -1 with *err: an object cannot
 * be read, or `each` stopped. `id` and `type` are words; `data` is valid during the call. */
typedef int release_object_visitor(void *context, const char *id, const char *type,
                                   const char *data, size_t length);
int release_git_objects(const char *folder, release_object_visitor *each, void *context,
                        struct error *err);

#endif

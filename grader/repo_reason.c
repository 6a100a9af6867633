#include "repo_reason.h"

/* clang-format off */
static const struct {
    const char *word;
    enum repo_actor actor;
    const char *mend;
} reasons[REPO_REASON_COUNT] = {
    [REPO_FINE] = {"fine", REPO_NOBODY, ""},
    [REPO_EMPTY] = {"empty", REPO_STUDENT, "Commit the files and push them."},
    [REPO_NO_REF] = {"no-ref", REPO_STUDENT,
                     "Push the branch or tag that is graded (`ref` in the roster names another)."},
    [REPO_NO_TAG] = {"no-tag", REPO_STUDENT,
                     "Tag the commit that is handed in and push the tag: `git push origin TAG`."},
    [REPO_NOTHING_IN_TIME] = {"nothing-in-time", REPO_STUDENT,
                              "Work that was in time after all counts with an extension in the roster."},
    [REPO_NO_COMMIT] = {"no-commit", REPO_STUDENT, "Let the branch or tag name a commit."},
    [REPO_NO_SOURCE] = {"no-source", REPO_STUDENT,
                        "Commit the file and push it."},
    [REPO_SHALLOW] = {"shallow", REPO_STUDENT,
                      "Run `git fetch --unshallow` in the clone, then push everything again."},
    [REPO_PARTIAL] = {"partial", REPO_STUDENT,
                      "Clone it again without --filter, and name that clone."},
    [REPO_DAMAGED] = {"damaged", REPO_STUDENT,
                      "`git fsck` names what is broken; push everything again from a clone in which "
                      "it finds nothing."},
    [REPO_SHA256] = {"sha256", REPO_STUDENT,
                     "Make a new repo with `git init --object-format=sha1` and commit the files "
                     "there."},
    [REPO_FORMAT] = {"format", REPO_STUDENT,
                     "Clone it with a plain `git clone`, and name that clone."},
    [REPO_BORROWED] = {"borrowed", REPO_STUDENT,
                       "Name a clone that is whole by itself: `git clone --bare --dissociate`."},
    [REPO_TOO_LARGE] = {"too-large", REPO_STUDENT,
                        "Commit sources only; start a new branch without the large files, for they "
                        "stay in the history of this one."},
    [REPO_NOT_FOUND] = {"not-found", REPO_INSTRUCTOR,
                        "Compare the address in the roster with the one that `git clone` takes; a "
                        "private repo, too, looks like this to who may not read it."},
    [REPO_NO_ACCESS] = {"no-access", REPO_INSTRUCTOR,
                        "Ask to be added to the repo, or give the right key (--ssh-key, an ssh agent) "
                        "or token (SPILLWAY_GIT_TOKEN, git's credential helper)."},
    [REPO_NOT_GIT] = {"not-git", REPO_INSTRUCTOR,
                      "Name the folder or URL that `git clone` takes."},
    [REPO_OWNER] = {"owner", REPO_INSTRUCTOR,
                    "If that is as it should be, say so once: "
                    "`git config --global --add safe.directory FOLDER` ('*' stands for every "
                    "folder)."},
    [REPO_HOST_KEY] = {"host-key", REPO_INSTRUCTOR,
                       "Compare the server's fingerprint with the one that it publishes, then "
                       "connect once by hand with `ssh`, which remembers it in known_hosts."},
    [REPO_CERTIFICATE] = {"certificate", REPO_INSTRUCTOR,
                          "Look at the address and this machine's clock; for a university's own "
                          "authority install its certificate (or set GIT_SSL_CAINFO)."},
    [REPO_MOVED] = {"moved", REPO_INSTRUCTOR, "Write the new address in the roster."},
    [REPO_NO_BRANCH] = {"no-branch", REPO_INSTRUCTOR,
                        "Ask to be allowed to push the branch `feedback`, or remove what keeps it "
                        "from being pushed."},
    [REPO_SILENT] = {"silent", REPO_TIME, "Try again later with --retry."},
    [REPO_NETWORK] = {"network", REPO_TIME, "Try again later with --retry."},
    [REPO_CRASHED] = {"crashed", REPO_TIME,
                      "Try again with --retry; if that does not help, look at the repo by hand: it "
                      "may be made to break its readers."},
};
/* clang-format on */

enum repo_actor repo_reason_actor(enum repo_reason reason)
{
    return reasons[reason].actor;
}

const char *repo_reason_word(enum repo_reason reason)
{
    return reasons[reason].word;
}

bool repo_reason_parse(const char *word, enum repo_reason *ret)
{
    for (size_t i = 0; i < REPO_REASON_COUNT; ++i)
        if (strcmp(reasons[i].word, word) == 0) {
            *ret = (enum repo_reason)i;
            return true;
        }
    return false;
}

const char *repo_reason_mend(enum repo_reason reason)
{
    return reasons[reason].mend;
}

/* batch_open.c - the folder of a batch and its gradebook, before anything is graded. */
#include "batch_session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "disk.h"
#include "number.h"

/* A batch's folder, or one with nothing in it but what a disk or an editor puts there. -1: it
 * cannot be looked at. */
static int is_fit(const char *folder)
{
    static const char *const own[] = {"gradebook.sqlite", "lock"};
    for (size_t i = 0; i < COUNT_OF(own); ++i) {
        AUTO_FREE char *path = path_join(folder, own[i]);
        if (path == NULL || faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
            return path == NULL ? -1 : 1;
    }
    DIR *listing = opendir(folder);
    if (listing == NULL)
        return -1;
    bool fit = true;
    for (struct dirent *entry; fit && (entry = readdir(listing)) != NULL;)
        fit = entry->d_name[0] == '.' || strcmp(entry->d_name, "lost+found") == 0;
    (void)closedir(listing);
    return fit;
}

static int make_folder(struct session *s, struct error *err)
{
    const char *folder = s->options->folder;
    struct stat info;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return disk_explains(errno)
                   ? disk_fail(err, folder, "the folder for the results cannot be made", errno)
                   : error_set_errno(err, errno == ENOENT ? ERROR_USAGE : ERROR_INFRASTRUCTURE,
                                     "cannot make the folder %s", folder);
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return error_set(err, ERROR_USAGE, "--out %s is not a folder", folder);
    /* What is not ours is not closed to others: `--out .`, or /tmp as root. */
    int fit = is_fit(folder);
    if (fit < 0)
        return disk_fail(err, folder, "the folder for the results cannot be looked at", errno);
    if (fit == 0)
        return error_set(err, ERROR_USAGE,
                         "--out %s holds other things and no gradebook: a batch keeps its folder "
                         "to itself and from others (0700), so name a new or an empty one",
                         folder);
    /* Grades are nobody else's business, whatever the umask was when the folder was made. */
    if (info.st_uid == geteuid() && (info.st_mode & 0077) != 0 && chmod(folder, 0700) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make %s private", folder);
    AUTO_FREE char *path = path_join(folder, "lock");
    s->lock = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock < 0)
        return path == NULL ? error_no_memory(err)
                            : disk_fail(err, path, "no batch can work there", errno);
    if (flock(s->lock, LOCK_EX | LOCK_NB) != 0)
        return error_set(err, ERROR_USAGE,
                         "another batch is at work in %s: wait for it, or take another --out",
                         folder);
    return 0;
}

/* A folder holds the grades of one lab. */
static int check_lab(struct session *s, struct error *err)
{
    AUTO_FREE char *known = NULL;
    if (gradebook_get(s->book, "lab", &known, err) != 0)
        return -1;
    if (known != NULL && strcmp(known, s->options->lab->id) != 0)
        return error_set(err, ERROR_USAGE,
                         "%s holds the grades of the lab %s: take another --out for %s",
                         s->options->folder, known, s->options->lab->id);
    return known != NULL ? 0 : gradebook_set(s->book, "lab", s->options->lab->id, err);
}

/* One seed for the class, and for every regrade: --seed, else the one that was drawn first. */
static int settle_seed(struct session *s, struct error *err)
{
    AUTO_FREE char *known = NULL;
    uint64_t *seed = &s->batch.seed;
    uint32_t drawn = 0;
    if (gradebook_get(s->book, "seed", &known, err) != 0)
        return -1;
    if (s->options->has_seed)
        *seed = s->options->seed;
    else if (known != NULL && number_parse_u64(known, INT64_MAX, seed))
        return 0;
    else if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot draw a random seed");
    else
        *seed = drawn;
    char text[32];
    (void)snprintf(text, sizeof text, "%llu", (unsigned long long)*seed);
    return known != NULL && strcmp(known, text) == 0 ? 0
                                                     : gradebook_set(s->book, "seed", text, err);
}

/* ---- Who left ---------------------------------------------------------------------------------
 */

static int order_ids(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

/* Keeps those ids that are not in the roster. */
static int keep_strangers(struct student_ids *ids, const struct roster *roster, struct error *err)
{
    AUTO_FREE const char **sorted = calloc(roster->count + 1, sizeof sorted[0]);
    if (sorted == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < roster->count; ++i)
        sorted[i] = roster->students[i].id;
    qsort(sorted, roster->count, sizeof sorted[0], order_ids);
    size_t kept = 0;
    for (size_t i = 0; i < ids->count; ++i)
        if (bsearch(&ids->ids[i], sorted, roster->count, sizeof sorted[0], order_ids) == NULL)
            ids->ids[kept++] = ids->ids[i];
        else
            free(ids->ids[i]);
    ids->count = kept;
    return 0;
}

/* A roster that lost rows on the way (a filter of a spreadsheet, an id spelt anew) looks like one
 * from which students left. */
static int put_roster(struct session *s, struct error *err)
{
    struct student_ids *left = &s->result->left;
    return gradebook_pick(s->book, PICK_ROSTER, 0, left, err) == 0 &&
                   keep_strangers(left, s->options->roster, err) == 0
               ? gradebook_put_roster(s->book, s->options->roster, err)
               : -1;
}

/* ---- All --------------------------------------------------------------------------------------
 */

static int open_book(struct session *s, struct error *err)
{
    AUTO_FREE char *path = path_join(s->options->folder, "gradebook.sqlite");
    size_t changed = 0;
    if (path == NULL)
        return error_no_memory(err);
    if (gradebook_open(&s->book, path, err) != 0 || check_lab(s, err) != 0 ||
        settle_seed(s, err) != 0 || put_roster(s, err) != 0)
        return -1;
    return s->options->overrides == NULL
               ? 0
               : gradebook_put_overrides(s->book, s->options->overrides, &changed, err);
}

int batch_session_open(struct session *s, struct error *err)
{
    return make_folder(s, err) == 0 ? open_book(s, err) : -1;
}

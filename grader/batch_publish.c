#include "batch_publish.h"

#include <time.h>

#include "pool.h"

#define THREADS_MOST 16 /* each waits for a server most of the time */

static const char *const file_names[] = {"feedback.txt", "result.json", "report.html"};

struct publishing {
    const struct batch_options *options;
    struct batch_publications *ret;
    struct error *errors; /* one a row */
    int64_t now_s;
};

struct helper {
    struct repo_fetcher *fetcher; /* NULL: err says why */
    struct error err;
};

static void *begin(void *context, unsigned thread)
{
    (void)thread;
    const struct publishing *publishing = context;
    struct helper *helper = calloc(1, sizeof *helper);
    if (helper != NULL)
        helper->fetcher = repo_fetcher_open(&publishing->options->repo, &helper->err);
    return helper;
}

static void end(void *context, void *state)
{
    (void)context;
    struct helper *helper = state;
    if (helper != NULL)
        repo_fetcher_close(helper->fetcher);
    free(helper);
}

/* ---- One student ----------------------------------------------------------------------------- */

static char *student_folder(const struct batch_options *options, const struct student *student)
{
    AUTO_FREE char *students = path_join(options->folder, "students");
    return students != NULL ? path_join(students, student->id) : NULL;
}

/* Adds the file if it is there. -1 with *err. */
static int add_file(struct repo_publication *publication, struct repo_publish_file *files,
                    struct bytes *content, const char *folder, const char *name, struct error *err)
{
    AUTO_FREE char *path = path_join(folder, name);
    if (path == NULL)
        return error_no_memory(err);
    switch (file_read(content, path, LIMIT_PUBLISH_BYTES, false)) {
    case FILE_READ:
        files[publication->file_count++] = (struct repo_publish_file){
            .name = name, .data = content->data, .length = content->length};
        return 0;
    case FILE_MISSING:
        return 0;
    default:
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot read %s, which was to be published",
                         path);
    }
}

static int publish(const struct publishing *publishing, struct batch_publication *row,
                   struct repo_fetcher *fetcher, struct error *err)
{
    const struct batch_options *options = publishing->options;
    /* Who shares a repo has a folder there each: one would be written over by the others. */
    bool shared = roster_shares_repo(options->roster, row->student);
    AUTO_FREE char *folder = student_folder(options, row->student);
    AUTO_FREE char *cache = repo_cache_folder(options->folder, row->student->identity);
    AUTO_FREE char *place = NULL;
    if (folder == NULL || cache == NULL ||
        asprintf(&place, "%s%s%s", options->lab->id, shared ? "-" : "",
                 shared ? row->student->id : "") < 0)
        return error_no_memory(err);
    struct repo_publish_file files[COUNT_OF(file_names)];
    struct bytes contents[COUNT_OF(file_names)] = {0};
    struct repo_publication publication = {.address = row->student->location,
                                           .cache = cache,
                                           .lab_id = place,
                                           .now_s = publishing->now_s,
                                           .files = files};
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(file_names) && status == 0; ++i)
        status = add_file(&publication, files, &contents[i], folder, file_names[i], err);
    row->tried = status == 0 && publication.file_count > 0;
    if (row->tried)
        status = repo_publish(fetcher, &publication, &row->published, err);
    for (size_t i = 0; i < COUNT_OF(file_names); ++i)
        bytes_release(&contents[i]);
    return status;
}

static size_t work(void *context, void *state, unsigned thread, size_t index)
{
    (void)thread;
    struct publishing *publishing = context;
    struct helper *helper = state;
    struct error *err = &publishing->errors[index];
    if (helper == NULL)
        (void)error_no_memory(err);
    else if (helper->fetcher == NULL)
        *err = helper->err;
    else
        (void)publish(publishing, &publishing->ret->rows[index], helper->fetcher, err);
    return POOL_DONE;
}

/* ---- The class ------------------------------------------------------------------------------- */

static bool is_selected(const struct batch_options *options, const struct student *student)
{
    for (size_t i = 0; i < options->student_count; ++i)
        if (strcmp(options->students[i], student->id) == 0)
            return true;
    return options->student_count == 0;
}

static void count(struct batch_publications *ret, const struct batch_publication *row)
{
    if (!row->tried)
        return;
    if (row->published.reason == REPO_EMPTY)
        ++ret->without;
    else if (row->published.reason != REPO_FINE)
        ++ret->refused;
    else if (row->published.unchanged)
        ++ret->unchanged;
    else
        ++ret->published;
}

static int order_repos(const void *left, const void *right)
{
    const struct batch_publication *const *a = left, *const *b = right;
    return strcmp((*a)->student->identity, (*b)->student->identity);
}

/* A repo that several share got something if one of them did. */
static int count_repos(struct batch_publications *ret, struct error *err)
{
    AUTO_FREE const struct batch_publication **rows = calloc(ret->count + 1, sizeof *rows);
    if (rows == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < ret->count; ++i)
        rows[i] = &ret->rows[i];
    qsort(rows, ret->count, sizeof *rows, order_repos);
    for (size_t i = 0, next; i < ret->count; i = next) {
        bool published = false, unchanged = false, without = false;
        for (next = i; next < ret->count && order_repos(&rows[i], &rows[next]) == 0; ++next) {
            const struct repo_published *row = &rows[next]->published;
            bool fine = rows[next]->tried && row->reason == REPO_FINE;
            published |= fine && !row->unchanged && row->commit[0] != '\0';
            unchanged |= fine && row->unchanged;
            without |= rows[next]->tried && row->reason == REPO_EMPTY;
        }
        ret->published_repos += published;
        ret->unchanged_repos += unchanged && !published;
        ret->without_repos += without;
    }
    return 0;
}

/* Until all are done, or the first trouble that hits everybody. */
static int wait_for_all(struct pool *pool, struct publishing *publishing, struct error *err)
{
    struct batch_publications *ret = publishing->ret;
    for (size_t done = 0; done < ret->count && err->kind == ERROR_NONE;) {
        size_t index = pool_wait(pool, INT64_C(1000000000));
        if (index == POOL_DONE)
            continue;
        ++done;
        count(ret, &ret->rows[index]);
        if (publishing->errors[index].kind != ERROR_NONE)
            *err = publishing->errors[index];
    }
    pool_stop(pool);
    for (size_t index; err->kind != ERROR_NONE && (index = pool_wait(pool, 0)) != POOL_DONE;)
        count(ret, &ret->rows[index]);
    return err->kind == ERROR_NONE ? 0 : -1;
}

int batch_publish(struct batch_publications *ret, const struct batch_options *options,
                  const struct batch_result *result, struct error *err)
{
    const struct standings *standings = &result->standings;
    *ret = (struct batch_publications){.rows = calloc(standings->count + 1, sizeof *ret->rows)};
    struct publishing publishing = {.options = options, .ret = ret, .now_s = (int64_t)time(NULL)};
    publishing.errors = calloc(standings->count + 1, sizeof *publishing.errors);
    int status = ret->rows == NULL || publishing.errors == NULL ? error_no_memory(err) : 0;
    for (size_t i = 0; i < standings->count && status == 0; ++i)
        if (standings->rows[i].status != STANDING_WAITING &&
            is_selected(options, standings->rows[i].student))
            ret->rows[ret->count++].student = standings->rows[i].student;
    struct pool *pool = NULL;
    const struct pool_stage stage = {.threads = options->fetch_jobs > 0 ? options->fetch_jobs
                                                                        : THREADS_MOST,
                                     .queue_limit = SIZE_MAX,
                                     .work = work,
                                     .begin = begin,
                                     .end = end};
    if (status == 0 && ret->count > 0) {
        status = pool_open(&pool, &stage, 1, &publishing, err);
        if (status == 0)
            status = pool_room(pool, ret->count, err);
        for (size_t i = 0; i < ret->count && status == 0; ++i)
            pool_add(pool, 0, i);
        if (status == 0)
            status = wait_for_all(pool, &publishing, err);
        pool_close(pool);
    }
    free(publishing.errors);
    struct error uncounted = {0};
    if (ret->rows != NULL && count_repos(ret, status == 0 ? err : &uncounted) != 0)
        status = -1;
    return status;
}

void batch_publications_release(struct batch_publications *publications)
{
    free(publications->rows);
    *publications = (struct batch_publications){0};
}

/* cmd_batch_inputs.c - the lab, times and files that the options of `spillway batch` name. */
#include "cmd_batch.h"

#include "text.h"

static int read_lab(struct batch_command *c, struct error *err)
{
    const char *id = c->grading.submission.lab_id;
    c->batch.lab = lab_find(id);
    if (c->batch.lab != NULL)
        return 0;
    return error_set(err, ERROR_USAGE, "there is no lab \"%s\"; `spillway labs` lists them", id);
}

static int read_time(struct moment *ret, const char *option, const char *text,
                     const struct zone *zone, struct error *err)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    if (!moment_parse(ret, text, zone, problem, note))
        return error_set(err, ERROR_USAGE, "%s \"%s\": %s", option, text, problem);
    if (note[0] != '\0')
        (void)fprintf(stderr, "spillway: %s: %s\n", option, note);
    return 0;
}

static int read_times(struct batch_command *c, struct error *err)
{
    char problem[MOMENT_PROBLEM_BYTES];
    struct moment since;
    if (c->zone_text != NULL && (c->batch.zone = zone_find(c->zone_text, problem)) == NULL)
        return error_set(err, ERROR_USAGE, "--zone %s: %s", c->zone_text, problem);
    if (c->deadline_text != NULL) {
        if (read_time(&c->deadline, "--deadline", c->deadline_text, c->batch.zone, err) != 0)
            return -1;
        c->batch.deadline = &c->deadline;
        if (c->batch.zone == NULL)
            c->batch.zone = c->deadline.zone;
    }
    if (c->since_text != NULL) {
        if (read_time(&since, "--since", c->since_text, c->batch.zone, err) != 0)
            return -1;
        c->batch.has_since = true;
        c->batch.since_s = since.unix_s;
    }
    if (c->late_text == NULL)
        return 0;
    c->batch.late = &c->late;
    return late_policy_parse(&c->late, c->late_text, err);
}

/* Everything that is wrong with a file of the instructor's, at once. */
static int refuse_file(struct problems *problems, const char *path, struct error *err)
{
    if (err->kind == ERROR_NONE && problems->total > 0) {
        struct bytes page = bytes_with_limit((size_t)1 << 20);
        problems_sort(problems);
        problems_write(&page, problems, path);
        (void)fputs(bytes_text(&page), stderr);
        bytes_release(&page);
        error_set(err, ERROR_USAGE, "%s has %zu problem%s: nothing was graded", path,
                  problems->total, problems->total == 1 ? "" : "s");
    }
    problems_release(problems);
    return err->kind == ERROR_NONE ? 0 : -1;
}

static void show_notes(const struct problems *notes, const char *path)
{
    struct bytes page = bytes_with_limit((size_t)1 << 20);
    problems_write(&page, notes, path);
    (void)fputs(bytes_text(&page), stderr);
    bytes_release(&page);
}

static int read_files(struct batch_command *c, struct error *err)
{
    struct problems problems = {0};
    (void)roster_read(&c->roster, c->roster_path, c->batch.zone, &problems, err);
    if (refuse_file(&problems, c->roster_path, err) != 0)
        return -1;
    show_notes(&c->roster.notes, c->roster_path);
    if (c->roster.count == 0)
        return error_set(err, ERROR_USAGE, "%s names no student", c->roster_path);
    c->batch.roster = &c->roster;
    if (c->override_path != NULL) {
        (void)overrides_read(&c->overrides, c->override_path, &c->roster, c->batch.lab, &problems,
                             err);
        if (refuse_file(&problems, c->override_path, err) != 0)
            return -1;
        c->batch.overrides = &c->overrides;
    }
    if (c->pushed_path != NULL) {
        (void)pushlog_read(&c->pushes, c->pushed_path, &c->roster, c->batch.zone, &problems, err);
        if (refuse_file(&problems, c->pushed_path, err) != 0)
            return -1;
        show_notes(&c->pushes.notes, c->pushed_path);
        if (c->pushes.foreign_rows > 0)
            (void)fprintf(stderr, "%s: %s%zu row%s nobody of the roster by `id` or `repo`\n",
                          c->pushed_path, c->pushes.count == 0 ? "all of its " : "",
                          c->pushes.foreign_rows,
                          c->pushes.foreign_rows == 1 ? " names" : "s name");
        c->batch.pushes = &c->pushes;
    }
    if (c->canvas_path != NULL) {
        (void)canvas_read(&c->canvas, c->canvas_path, c->canvas_column, c->batch.lab, &problems,
                          err);
        if (refuse_file(&problems, c->canvas_path, err) != 0)
            return -1;
        c->batch.canvas = &c->canvas;
        char title[100];
        if (c->canvas.assignment == CSV_NO_COLUMN)
            (void)fprintf(stderr,
                          "spillway: %s has no assignment: Canvas will make a new one called "
                          "\"%s\"\n",
                          c->canvas_path, text_copy(title, sizeof title, c->canvas.title));
        if (c->canvas.guessed)
            (void)fprintf(stderr,
                          "spillway: %s: \"%s\" does not name the lab, but is its only assignment, "
                          "and is taken (--canvas-column names another)\n",
                          c->canvas_path, text_copy(title, sizeof title, c->canvas.title));
    }
    return 0;
}

/* A policy that could not cost anybody anything was given by mistake. */
static int check_late(const struct batch_command *c, struct error *err)
{
    struct moment deadline;
    if (c->late_text == NULL)
        return 0;
    for (size_t i = 0; i < c->roster.count; ++i)
        if (student_deadline(&c->roster.students[i], c->batch.deadline, &deadline))
            return 0;
    return error_set(err, ERROR_USAGE,
                     "--late %s: late after what? Give --deadline TIME, or a column `deadline` in "
                     "%s",
                     c->late_text, c->roster_path);
}

int cmd_batch_read(struct batch_command *c, struct error *err)
{
    return read_lab(c, err) == 0 && read_times(c, err) == 0 && read_files(c, err) == 0
               ? check_late(c, err)
               : -1;
}

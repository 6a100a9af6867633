#include "exports.h"

#include "caps.h"
#include "files.h"
#include "out_class.h"
#include "out_feedback.h"

/* Room for a table of a class. */
#define TABLE_BYTES ((size_t)1 << 30)

static int keep(struct bytes *content, const char *folder, const char *name,
                struct exports_report *report, struct error *err)
{
    AUTO_FREE char *path = path_join(folder, name);
    bool written = false;
    if (path == NULL || content->failed)
        return error_no_memory(err);
    if (file_keep_private(path, bytes_text(content), content->length, &written, err) != 0)
        return -1;
    report->files_written += written;
    report->files_same += !written;
    return 0;
}

/* ---- One student ----------------------------------------------------------------------------- */

/* `attempt` has its texts. */
static int write_folder(const struct standing *standing, const struct lab *lab,
                        const struct attempt *attempt, const char *folder,
                        struct exports_report *report, struct error *err)
{
    size_t before = report->files_written;
    struct bytes text = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    struct bytes json = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    struct bytes html = bytes_with_limit(2 * LIMIT_ATTEMPT_BYTES);
    out_feedback_text(&text, standing, lab, attempt->page);
    out_feedback_html(&html, standing, lab, attempt->html, attempt->page);
    int status = out_feedback_json(&json, standing, lab, attempt->json, err);
    if (status == 0)
        status = keep(&text, folder, "feedback.txt", report, err);
    if (status == 0)
        status = keep(&json, folder, "result.json", report, err);
    if (status == 0)
        status = keep(&html, folder, "report.html", report, err);
    if (status == 0 && report->files_written != before)
        status = folder_sync(folder, err);
    bytes_release(&text);
    bytes_release(&json);
    bytes_release(&html);
    return status;
}

/* Writes the folder and, unless `explanations` is NULL, the student's row there. */
static int write_student(const struct standing *standing, const struct lab *lab,
                         struct gradebook *book, const char *students, struct bytes *explanations,
                         struct exports_report *report, struct error *err)
{
    if (!standing_has_score(standing))
        return 0;
    struct attempt attempt;
    bool found = false;
    if (gradebook_attempt(book, standing->student->id, standing->attempt.number, ATTEMPT_TEXTS,
                          &attempt, &found, err) != 0)
        return -1;
    AUTO_FREE char *folder = path_join(students, standing->student->id);
    int status = folder == NULL ? error_no_memory(err) : folder_make_private(folder, err);
    if (status == 0)
        status = write_folder(standing, lab, &attempt, folder, report, err);
    if (status == 0 && explanations != NULL && attempt.explanation != NULL)
        out_class_explanation(explanations, standing, attempt.explanation);
    attempt_release(&attempt);
    return status;
}

static char *make_students_folder(const char *folder, struct error *err)
{
    AUTO_FREE char *path = path_join(folder, "students");
    if (path == NULL) {
        error_no_memory(err);
        return NULL;
    }
    return folder_make_private(path, err) == 0 ? steal_pointer(&path) : NULL;
}

int exports_write_student(const struct standing *standing, const struct lab *lab,
                          struct gradebook *book, const char *folder, struct exports_report *report,
                          struct error *err)
{
    AUTO_FREE char *students = make_students_folder(folder, err);
    size_t before = report->files_written;
    if (students == NULL || write_student(standing, lab, book, students, NULL, report, err) != 0)
        return -1;
    return report->files_written == before ? 0 : folder_sync(students, err);
}

/* ---- The class ------------------------------------------------------------------------------- */

static int write_tables(const struct standings *standings, const char *folder,
                        struct exports_report *report, struct error *err)
{
    static const struct {
        const char *name;
        void (*write)(struct bytes *out, const struct standings *standings);
    } tables[] = {
        {"grades.csv", out_class_grades},
        {"pending.csv", out_class_pending},
        {"trouble.csv", out_class_trouble},
    };
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(tables) && status == 0; ++i) {
        struct bytes table = bytes_with_limit(TABLE_BYTES);
        tables[i].write(&table, standings);
        status = keep(&table, folder, tables[i].name, report, err);
        bytes_release(&table);
    }
    return status;
}

static int write_canvas(const struct standings *standings, const struct exports_options *options,
                        struct exports_report *report, struct error *err)
{
    if (options->canvas == NULL)
        return 0;
    struct bytes table = bytes_with_limit(TABLE_BYTES);
    int status = canvas_write(&table, options->canvas, standings, &report->notes, err);
    if (status == 0)
        status = keep(&table, options->folder, "canvas.csv", report, err);
    bytes_release(&table);
    return status;
}

/* One student's folder that cannot be written (it is somebody else's, a link lies there) keeps
 * nobody else's from being written: the first trouble is said in the end. */
static int write_students(const struct standings *standings, struct gradebook *book,
                          const char *folder, struct exports_report *report, struct error *err)
{
    AUTO_FREE char *students = make_students_folder(folder, err);
    if (students == NULL)
        return -1;
    size_t before = report->files_written, failed = 0;
    struct bytes explanations = bytes_with_limit(TABLE_BYTES);
    out_class_explanations_head(&explanations);
    struct error first = {0};
    for (size_t i = 0; i < standings->count && !first.no_memory; ++i) {
        struct error own = {0};
        if (write_student(&standings->rows[i], standings->lab, book, students, &explanations,
                          report, &own) != 0 &&
            failed++ == 0)
            first = own;
    }
    int status = report->files_written == before ? 0 : folder_sync(students, err);
    if (status == 0)
        status = keep(&explanations, folder, "explanations.csv", report, err);
    bytes_release(&explanations);
    if (failed > 1)
        error_context(&first, "the files of %zu students cannot be written; the first", failed);
    if (failed > 0 && status == 0) {
        *err = first;
        status = -1;
    }
    return status;
}

int exports_write(const struct standings *standings, struct gradebook *book,
                  const struct exports_options *options, struct exports_report *report,
                  struct error *err)
{
    size_t before = report->files_written;
    struct error students = {0};
    if (gradebook_put_standings(book, standings, err) != 0)
        return -1;
    int status = write_students(standings, book, options->folder, report, &students);
    if (write_tables(standings, options->folder, report, err) != 0 ||
        write_canvas(standings, options, report, err) != 0 ||
        (report->files_written != before && folder_sync(options->folder, err) != 0))
        return -1;
    if (status != 0)
        *err = students;
    return status;
}

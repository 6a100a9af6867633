#include "support_class.h"

#include "support_toolkit.h"

static const struct zone *berlin(void)
{
    char problem[MOMENT_PROBLEM_BYTES];
    const struct zone *zone = zone_find("Europe/Berlin", problem);
    ck_assert_msg(zone != NULL, "%s", problem);
    return zone;
}

struct roster class_roster(const char *csv)
{
    struct roster roster;
    struct problems problems = {0};
    struct error err = {0};
    ck_assert_msg(roster_parse(&roster, csv, strlen(csv), "/class", berlin(), &problems, &err) == 0,
                  "%s", err.text);
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "?");
    return roster;
}

struct moment class_time(const char *text)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    struct moment moment;
    ck_assert_msg(moment_parse(&moment, text, berlin(), problem, note), "%s", problem);
    return moment;
}

static enum mark_status status_of(char letter)
{
    return letter == 'F'   ? MARK_FAILED
           : letter == 'S' ? MARK_SKIPPED
           : letter == 'E' ? MARK_ERROR
                           : MARK_PASSED;
}

struct attempt class_graded(const char *letters, const char *handed_in)
{
    struct grade grade = {.lab = &support_lab, .from_git = true, .seed = 17, .duration_ns = 5};
    struct attempt attempt;
    struct error err = {0};
    grade.path = strdup("repos/of/somebody");
    grade.source_path = strdup("tiny.cu");
    (void)snprintf(grade.commit, sizeof grade.commit, "0123456789abcdef0123456789abcdef01234567");
    (void)snprintf(grade.chosen, sizeof grade.chosen, "the last commit on main");
    grade.mark_count = support_lab.criterion_count;
    grade.marks = calloc(grade.mark_count, sizeof grade.marks[0]);
    for (size_t i = 0; i < grade.mark_count; ++i) {
        const struct criterion *criterion = &support_lab.criteria[i];
        enum mark_status status = status_of(i < strlen(letters) ? letters[i] : 'P');
        bool passed = status == MARK_PASSED;
        bool pending = status == MARK_SKIPPED || status == MARK_ERROR;
        grade.marks[i] = (struct mark){.criterion = criterion,
                                       .status = status,
                                       .points = passed ? criterion->points : 0,
                                       .message = strdup(passed ? "" : "expected 1, saw 2"),
                                       .remedy = strdup(passed ? "" : "Mend it.")};
        grade.score += grade.marks[i].points;
        grade.pending += pending ? criterion->points : 0;
        grade.max_score += criterion->points;
    }
    ck_assert_msg(attempt_from_grade(&attempt, &grade, &err) == 0, "%s", err.text);
    grade_release(&grade);
    if (handed_in != NULL) {
        attempt.has_handed_in = true;
        attempt.handed_in = class_time(handed_in);
        attempt.handed_in_from = strdup("the commit's date");
    }
    return attempt;
}

struct gradebook *class_gradebook(const struct roster *roster, char folder[512])
{
    struct gradebook *book = NULL;
    struct error err = {0};
    support_new_folder(folder);
    ck_assert_msg(gradebook_open(&book, support_path(folder, "gradebook.sqlite"), &err) == 0, "%s",
                  err.text);
    ck_assert_msg(gradebook_put_roster(book, roster, &err) == 0, "%s", err.text);
    return book;
}

void class_record(struct gradebook *book, const char *student, struct attempt attempt)
{
    struct error err = {0};
    ck_assert_msg(gradebook_record(book, student, &attempt, &err) == 0, "%s", err.text);
    attempt_release(&attempt);
}

size_t class_override(struct gradebook *book, const struct roster *roster, const char *csv)
{
    struct overrides overrides;
    struct problems problems = {0};
    struct error err = {0};
    size_t changed = 0;
    ck_assert_int_eq(
        overrides_parse(&overrides, csv, strlen(csv), roster, &support_lab, &problems, &err), 0);
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "?");
    ck_assert_msg(gradebook_put_overrides(book, &overrides, &changed, &err) == 0, "%s", err.text);
    overrides_release(&overrides);
    return changed;
}

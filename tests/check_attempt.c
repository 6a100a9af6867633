/* check_attempt.c - an attempt survives being copied and being sent as a document; a document that
 * was cut or edited is refused. */
#include "testing.h"

#include "attempt.h"
#include "support_class.h"

static struct error err;

static struct attempt full(void)
{
    struct attempt attempt = class_graded("PFSE", "2026-10-25 02:30 +02:00");
    char **const texts[] = {&attempt.warnings, &attempt.explanation, &attempt.state, &attempt.key};
    for (size_t i = 0; i < COUNT_OF(texts); ++i)
        *texts[i] = strdup("Zeile 1\nline \"2\" …");
    attempt.number = 3;
    attempt.cached = true;
    return attempt;
}

static struct bytes document(const struct attempt *attempt)
{
    struct bytes out = bytes_with_limit((size_t)1 << 20);
    err = (struct error){0};
    ck_assert_msg(attempt_to_json(&out, attempt, &err) == 0, "%s", err.text);
    return out;
}

/* Equal when they say the same as documents. */
static void assert_equal(const struct attempt *a, const struct attempt *b)
{
    struct bytes left = document(a), right = document(b);
    ck_assert_str_eq(bytes_text(&left), bytes_text(&right));
    bytes_release(&left);
    bytes_release(&right);
}

START_TEST(a_document_comes_back)
{
    struct attempt attempt = full(), back, copy;
    struct bytes text = document(&attempt);
    ck_assert_msg(attempt_from_json(&back, text.data, text.length, &err) == 0, "%s", err.text);
    assert_equal(&attempt, &back);
    ck_assert_int_eq(back.handed_in.unix_s, 1792888200);
    ck_assert_int_eq(moment_offset(back.handed_in), 7200);
    ck_assert_str_eq(back.marks[1].message, "expected 1, saw 2");
    ck_assert(back.marks[2].status == MARK_SKIPPED && back.marks[3].status == MARK_ERROR);
    ck_assert_str_eq(back.page, attempt.page);
    ck_assert_str_eq(back.json, attempt.json);
    ck_assert_str_eq(back.html, attempt.html);
    ck_assert_str_eq(back.marks[1].remedy, "Mend it.");
    ck_assert_int_eq(attempt_copy(&copy, &back, &err), 0);
    attempt_release(&back);
    assert_equal(&attempt, &copy);
    attempt_release(&copy);
    attempt_release(&attempt);
    bytes_release(&text);
}
END_TEST

START_TEST(one_without_a_grade_comes_back)
{
    struct attempt attempt, back;
    ck_assert_int_eq(attempt_without_grade(&attempt, ATTEMPT_MISSING, "no\x1b commit", &err), 0);
    ck_assert_str_eq(attempt.reason, "no? commit");
    struct bytes text = document(&attempt);
    ck_assert_msg(attempt_from_json(&back, text.data, text.length, &err) == 0, "%s", err.text);
    assert_equal(&attempt, &back);
    ck_assert(!back.has_handed_in && back.page == NULL && back.outcome == ATTEMPT_MISSING);
    attempt_release(&back);
    attempt_release(&attempt);
    bytes_release(&text);
}
END_TEST

START_TEST(a_grade_becomes_an_attempt)
{
    struct attempt attempt = class_graded("F", NULL);
    ck_assert_int_eq(attempt.outcome, ATTEMPT_GRADED);
    ck_assert_int_eq(attempt.score, 8190);
    ck_assert_int_eq(attempt.max_score, 8191);
    ck_assert_ptr_nonnull(strstr(attempt.page, "Score: 8190/8191"));
    ck_assert_ptr_nonnull(strstr(attempt.json, "spillway/result/v1"));
    /* What to try stands wherever the student looks. */
    ck_assert_str_eq(attempt.marks[0].remedy, "Mend it.");
    ck_assert_ptr_nonnull(strstr(attempt.page, "try:   Mend it."));
    ck_assert_ptr_nonnull(strstr(attempt.json, "\"hint\": \"Mend it.\""));
    ck_assert_ptr_nonnull(strstr(attempt.html, "Mend it."));
    ck_assert_str_eq(attempt.commit, "0123456789abcdef0123456789abcdef01234567");
    ck_assert_str_eq(attempt.chosen, "the last commit on main");
    ck_assert_int_gt(attempt.finished_s, 1700000000);
    ck_assert(!attempt.has_handed_in && attempt.key == NULL);
    attempt_release(&attempt);
}
END_TEST

/* One edit of a good document. */
static const struct {
    const char *from, *to, *says;
} edits[] = {
    /* clang-format off */
    {"spillway/attempt/v1", "spillway/attempt/v2", "`schema`"},
    {"\"outcome\": \"graded\"", "\"outcome\": \"lost\"", "`outcome`"},
    {"\"outcome\": \"graded\"", "\"outcome\": \"missing\"", "`reason`"},
    {"\"number\": 3", "\"number\": -3", "`number`"},
    {"\"number\": 3", "\"number\": \"3\"", "`number`"},
    {"\"commit\": \"", "\"commit\": 7, \"x\": \"", "`commit`"},
    {"\"commit\": \"", "\"komit\": \"", "`commit`"},
    {"2026-10-25T02:30:00+02:00", "yesterday", "`handed_in`"},
    {"\"pending\": 12", "\"pending\": 13", "`score`"},
    {"\"max_score\": 8191", "\"max_score\": 8192", "`score`"},
    {"\"status\": \"skipped\"", "\"status\": \"passed\"", "`score`"},
    {"\"status\": \"skipped\"", "\"status\": \"excused\"", "`marks`"},
    {"\"points\": 1,", "\"points\": 2,", "`marks`"},
    {"\"title\": \"builds\"", "\"title\": null", "`title`"},
    {"\"remedy\": \"", "\"remedies\": \"", "`remedy`"},
    {"\"html\": \"", "\"htm\": \"", "`html`"},
    {"\"marks\": [", "\"marks\": 3, \"x\": [", "`marks`"},
    {"\"cached\": true", "\"kached\": true", "`cached`"},
    {"\"number\": 3,", "\"number\": 3, \"number\": 3,", "is no JSON"},
    {"{", "[", "is no JSON"},
    /* clang-format on */
};

START_TEST(an_edited_document_is_refused)
{
    struct attempt attempt = full(), back;
    struct bytes text = document(&attempt), edited = bytes_with_limit((size_t)1 << 20);
    const char *at = strstr(text.data, edits[_i].from);
    ck_assert_msg(at != NULL, "no %s", edits[_i].from);
    bytes_append(&edited, text.data, (size_t)(at - text.data));
    bytes_append_text(&edited, edits[_i].to);
    bytes_append_text(&edited, at + strlen(edits[_i].from));
    ck_assert_int_eq(attempt_from_json(&back, edited.data, edited.length, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, edits[_i].says) != NULL, "%s", err.text);
    ck_assert(back.marks == NULL && back.page == NULL);
    attempt_release(&attempt);
    bytes_release(&text);
    bytes_release(&edited);
}
END_TEST

START_TEST(a_cut_document_is_refused)
{
    struct attempt attempt = full(), back;
    struct bytes text = document(&attempt);
    for (size_t length = 0; length < text.length - 1; length += 1 + length / 50) {
        err = (struct error){0};
        ck_assert_int_eq(attempt_from_json(&back, text.data, length, &err), -1);
    }
    attempt_release(&attempt);
    bytes_release(&text);
}
END_TEST

START_TEST(outcomes_have_words)
{
    enum attempt_outcome outcome = ATTEMPT_GRADED;
    ck_assert(attempt_outcome_parse("broken", &outcome) && outcome == ATTEMPT_BROKEN);
    ck_assert(attempt_outcome_parse("missing", &outcome) && outcome == ATTEMPT_MISSING);
    ck_assert(attempt_outcome_parse("graded", &outcome) && outcome == ATTEMPT_GRADED);
    ck_assert(!attempt_outcome_parse("Graded", &outcome) && !attempt_outcome_parse("", &outcome));
}
END_TEST

Suite *suite_attempt(void)
{
    Suite *suite = suite_create("attempt");
    TCase *tests = tcase_create("attempt");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_document_comes_back);
    tcase_add_test(tests, one_without_a_grade_comes_back);
    tcase_add_test(tests, a_grade_becomes_an_attempt);
    tcase_add_loop_test(tests, an_edited_document_is_refused, 0, COUNT_OF(edits));
    tcase_add_test(tests, a_cut_document_is_refused);
    tcase_add_test(tests, outcomes_have_words);
    suite_add_tcase(suite, tests);
    return suite;
}

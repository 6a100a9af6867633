/* check_late.c - what being late costs: each policy, to the second and to the millionth. */
#include "testing.h"

#include "late.h"

static struct moment at(const char *text)
{
    char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];
    struct moment moment;
    ck_assert_msg(moment_parse(&moment, text, NULL, problem, note), "%s", problem);
    return moment;
}

static const struct {
    const char *policy, *deadline, *handed_in;
    int64_t raw, days, penalised, penalty, score;
    const char *words; /* some of them */
} cases[] = {
    /* clang-format off */
    /* No cost, but it is said. */
    {"none", "2026-05-01 12:00 UTC", "2026-05-01 12:00 UTC", 85, 0, 0, 0, 85, "Handed in exactly at the deadline"},
    {"none", "2026-05-01 12:00 UTC", "2026-05-01 11:59:59 UTC", 85, 0, 0, 0, 85, "Handed in 1 s before the deadline"},
    {"none", "2026-05-01 12:00 UTC", "2026-05-01 12:00:01 UTC", 85, 1, 1, 0, 85, "1 started day, which costs nothing"},
    /* The example of the handout. */
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-02 14:10 UTC", 85, 2, 2, 17000000, 68,
     "2 started days; 2 days × 10 % of 85 = 17; 85 − 17 = 68."},
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-02 14:10 UTC", 85, 2, 2, 17000000, 68,
     "Handed in 26 h 10 min after the deadline, 2026-05-01 12:00 +00:00 (UTC), at 2026-05-02 14:10 +00:00 (UTC)"},
    /* A day begins one second after the last has ended. */
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-02 12:00:00 UTC", 80, 1, 1, 8000000, 72, "80 − 8 = 72."},
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-02 12:00:01 UTC", 80, 2, 2, 16000000, 64, "80 − 16 = 64."},
    /* Half up, once, at the end: 85 - 8.5 = 76.5. */
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 85, 1, 1, 8500000, 77, "85 − 8.5 = 76.5, rounded 77."},
    {"percent=2.5", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 86, 1, 1, 2150000, 84, "86 − 2.15 = 83.85, rounded 84."},
    {"percent=33.3333", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 100, 1, 1, 33333300, 67, "100 − 33.3333 = 66.6667, rounded 67."},
    {"percent=0.0001", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 1, 1, 1, 1, 1, "1 − 0.000001 = 0.999999, rounded 1."},
    {"points=0.5", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 1, 1, 1, 500000, 1, "1 − 0.5 = 0.5, rounded 1."},
    {"points=0.5001", "2026-05-01 12:00 UTC", "2026-05-01 13:00 UTC", 1, 1, 1, 500100, 0, "rounded 0."},
    /* Points; never more than there are. */
    {"points=5", "2026-05-01 12:00 UTC", "2026-05-03 12:30 UTC", 85, 3, 3, 15000000, 70, "3 days × 5 points = 15; 85 − 15 = 70."},
    {"points=50", "2026-05-01 12:00 UTC", "2026-05-03 12:30 UTC", 85, 3, 3, 85000000, 0, "= 150, of which 85 can be taken; 85 − 85 = 0."},
    {"percent=60", "2026-05-01 12:00 UTC", "2026-05-03 11:00 UTC", 50, 2, 2, 50000000, 0, "of 50 = 60, of which 50 can be taken"},
    {"percent=10", "2026-05-01 12:00 UTC", "2026-05-03 11:00 UTC", 0, 2, 2, 0, 0, "0 − 0 = 0."},
    /* Caps. */
    {"percent=20,cap=50", "2026-05-01 12:00 UTC", "2026-05-05 11:00 UTC", 90, 4, 4, 45000000, 45, "4 days × 20 %, at most 50 % of 90 = 45; 90 − 45 = 45."},
    {"percent=20,cap=50", "2026-05-01 12:00 UTC", "2026-05-03 11:00 UTC", 90, 2, 2, 36000000, 54, "2 days × 20 % of 90 = 36"},
    {"points=7,cap=10", "2026-05-01 12:00 UTC", "2026-05-03 11:00 UTC", 90, 2, 2, 10000000, 80, "2 days × 7 points, at most 10 points = 10"},
    /* Grace moves each boundary, and is not taken off the time. */
    {"percent=10,grace=30min", "2026-05-01 12:00 UTC", "2026-05-01 12:30 UTC", 80, 0, 0, 0, 80, "30 min of grace cover that: in time."},
    {"percent=10,grace=30min", "2026-05-01 12:00 UTC", "2026-05-01 12:30:01 UTC", 80, 1, 1, 8000000, 72, "1 started day (with 30 min of grace a day)"},
    {"percent=10,grace=30min", "2026-05-01 12:00 UTC", "2026-05-02 12:30 UTC", 80, 1, 1, 8000000, 72, ""},
    {"percent=10,grace=1h30min", "2026-05-01 12:00 UTC", "2026-05-02 13:30:01 UTC", 80, 2, 2, 16000000, 64, ""},
    /* Slack days are free. */
    {"percent=10,slack=1", "2026-05-01 12:00 UTC", "2026-05-02 11:00 UTC", 80, 1, 0, 0, 80, "all of them free (1 slack day)."},
    {"percent=10,slack=2", "2026-05-01 12:00 UTC", "2026-05-04 11:00 UTC", 80, 3, 1, 8000000, 72, "3 started days, 2 of them free; 1 day × 10 %"},
    /* After the last day nothing counts. */
    {"percent=10,days=2", "2026-05-01 12:00 UTC", "2026-05-03 12:00 UTC", 80, 2, 2, 16000000, 64, ""},
    {"percent=10,days=2", "2026-05-01 12:00 UTC", "2026-05-03 12:00:01 UTC", 80, 3, 3, 80000000, 0, "after 2 nothing counts: 80 − 80 = 0."},
    {"days=0", "2026-05-01 12:00 UTC", "2026-05-01 12:00:01 UTC", 80, 1, 1, 80000000, 0, ""},
    {"days=0", "2026-05-01 12:00 UTC", "2026-05-01 12:00 UTC", 80, 0, 0, 0, 80, ""},
    /* A day is the same time of day once more: 23 hours in spring, 25 in autumn. */
    {"percent=10", "2026-03-28 23:59 Europe/Berlin", "2026-03-29 23:59 Europe/Berlin", 80, 1, 1, 8000000, 72, "Handed in 23 h 0 min after"},
    {"percent=10", "2026-03-28 23:59 Europe/Berlin", "2026-03-30 00:00 Europe/Berlin", 80, 2, 2, 16000000, 64, "Handed in 23 h 1 min after"},
    {"percent=10", "2026-10-24 23:59 Europe/Berlin", "2026-10-25 23:59 Europe/Berlin", 80, 1, 1, 8000000, 72, "Handed in 25 h 0 min after"},
    {"percent=10", "2026-10-24 23:59 Europe/Berlin", "2026-10-26 00:00 Europe/Berlin", 80, 2, 2, 16000000, 64, ""},
    /* A year and more. */
    {"percent=10", "2024-01-01 00:00 UTC", "2026-01-01 00:00 UTC", 80, 731, 731, 80000000, 0, "of which 80 can be taken"},
    {"percent=10", "1970-01-02 00:00 UTC", "9999-01-01 00:00 UTC", 80, 10001, 10001, 80000000, 0, ""},
    /* clang-format on */
};

START_TEST(lateness_costs)
{
    struct error err = {0};
    struct late_policy policy;
    struct late late;
    ck_assert_msg(late_policy_parse(&policy, cases[_i].policy, &err) == 0, "%s", err.text);
    struct moment deadline = at(cases[_i].deadline), handed_in = at(cases[_i].handed_in);
    late_judge(&late, &policy, &deadline, 0, &handed_in, cases[_i].raw);
    ck_assert(late.has_deadline);
    ck_assert_msg(late.started_days == cases[_i].days && late.penalised_days == cases[_i].penalised,
                  "%lld days, %lld of them cost: %s", (long long)late.started_days,
                  (long long)late.penalised_days, late.words);
    ck_assert_int_eq(late.late, cases[_i].days > 0);
    ck_assert_int_eq(late.penalty, cases[_i].penalty);
    ck_assert_int_eq(late.score, cases[_i].score);
    ck_assert_int_eq(late.raw_score, cases[_i].raw);
    ck_assert_msg(strstr(late.words, cases[_i].words) != NULL, "%s", late.words);
    ck_assert(late.words[0] != '\0' && late.words[strlen(late.words) - 1] == '.');
}
END_TEST

START_TEST(nothing_is_taken_without_a_deadline)
{
    struct late_policy policy;
    struct error err = {0};
    struct late late;
    struct moment some = at("2026-05-01 12:00 UTC");
    ck_assert_int_eq(late_policy_parse(&policy, "percent=10,days=0", &err), 0);
    late_judge(&late, &policy, NULL, 0, &some, 85);
    ck_assert(!late.has_deadline && !late.late && late.score == 85 && late.words[0] == '\0');
    late_judge(&late, &policy, &some, 0, NULL, 85);
    ck_assert(!late.has_deadline && !late.late && late.score == 85 && late.words[0] == '\0');
}
END_TEST

START_TEST(an_extension_is_said)
{
    struct late_policy policy;
    struct error err = {0};
    struct late late;
    ck_assert_int_eq(late_policy_parse(&policy, "percent=10", &err), 0);
    struct moment deadline = at("2026-05-03 12:00 UTC"), handed_in = at("2026-05-03 13:00 UTC");
    late_judge(&late, &policy, &deadline, 48 * 3600, &handed_in, 85);
    ck_assert_msg(strstr(late.words, "(with an extension of 2 days 0 h 0 min)") != NULL, "%s",
                  late.words);
}
END_TEST

/* The score never rises with time, nor does the penalty pass the raw score. */
START_TEST(later_is_never_better)
{
    static const char *const policies[] = {"percent=7.7,cap=60,slack=1,grace=15min,days=9",
                                           "points=3.3333,slack=2", "percent=100,days=0", "none"};
    struct error err = {0};
    struct late_policy policy;
    ck_assert_int_eq(late_policy_parse(&policy, policies[_i], &err), 0);
    struct moment deadline = at("2026-03-25 23:59 Europe/Berlin");
    int64_t last = 85;
    for (int64_t s = -3600; s < INT64_C(12) * 86400; s += 599) {
        struct moment handed_in = moment_plus(deadline, s);
        struct late late;
        late_judge(&late, &policy, &deadline, 0, &handed_in, 85);
        ck_assert_msg(late.score <= last && late.score >= 0, "at %lld s", (long long)s);
        ck_assert(late.penalty >= 0 && late.penalty <= 85 * LATE_UNIT);
        last = late.score;
    }
}
END_TEST

static const struct {
    const char *text, *same, *described;
} policies[] = {
    {"none", "none", "being late costs nothing"},
    {" percent = 10 , cap=50,grace=2h,slack=1,days=3",
     "percent=10,cap=50,grace=120min,slack=1,days=3",
     "each started day costs 10 % of the raw score, at most 50 %, the first 1 free, with 2 h 0 min "
     "of grace, and nothing counts after 3 days"},
    {"points=2.50", "points=2.5", "each started day costs 2.5 points"},
    {"days=0", "days=0", "being late costs nothing, and nothing counts that is late"},
};

START_TEST(policies_are_kept)
{
    struct error err = {0};
    struct late_policy policy, again;
    struct bytes text = bytes_with_limit(1000), described = bytes_with_limit(1000);
    ck_assert_msg(late_policy_parse(&policy, policies[_i].text, &err) == 0, "%s", err.text);
    bytes_append_text(&text, "before ");
    late_policy_write(&text, &policy);
    ck_assert_str_eq(bytes_text(&text) + 7, policies[_i].same);
    ck_assert_int_eq(late_policy_parse(&again, bytes_text(&text) + 7, &err), 0);
    ck_assert_mem_eq(&policy, &again, sizeof policy);
    late_policy_describe(&described, &policy);
    ck_assert_str_eq(bytes_text(&described), policies[_i].described);
    bytes_release(&text);
    bytes_release(&described);
}
END_TEST

static const struct {
    const char *text, *says;
} refused[] = {
    {"", "`name=value` parts"},
    {"percent", "`name=value` parts"},
    {"percent=", "a percentage of the raw score a day"},
    {"percent=101", "a percentage of the raw score a day"},
    {"percent=100.0001", "a percentage of the raw score a day"},
    {"percent=-1", "a percentage of the raw score a day"},
    {"percent=1.", "a percentage of the raw score a day"},
    {"percent=1.00001", "a percentage of the raw score a day"},
    {"percent=0x10", "a percentage of the raw score a day"},
    {"points=1e3", "points a day"},
    {"percent=1,points=1", "one of `percent` and `points`"},
    {"cap=5", "give percent= or points= too"},
    {"grace=30min", "would let any later day count in full"},
    {"slack=2", "would let any later day count in full"},
    {"percent=1,cap=101", "at most 100 percent"},
    {"percent=1,cap=x", "the most that is taken"},
    {"grace=30", "a time of grace"},
    {"grace=30m", "a time of grace"},
    {"grace=min", "a time of grace"},
    {"grace=99999h", "a time of grace"},
    {"slack=1.5", "a number of free days"},
    {"slack=", "a number of free days"},
    {"days=-1", "the last day"},
    {"days=99999999999999999999", "the last day"},
    {"percent=1,,cap=1", "`name=value` parts"},
    {"weeks=1", "percent, points, cap, grace, slack or days"},
};

START_TEST(what_is_no_policy)
{
    struct error err = {0};
    struct late_policy policy = {.per_day = 77};
    ck_assert_int_eq(late_policy_parse(&policy, refused[_i].text, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_msg(strstr(err.text, refused[_i].says) != NULL, "%s", err.text);
    ck_assert_int_eq(policy.per_day, 77);
}
END_TEST

START_TEST(the_end_is_when_nothing_counts)
{
    struct error err = {0};
    struct late_policy policy;
    struct moment deadline = at("2026-03-28 23:59 Europe/Berlin"), end;
    ck_assert_int_eq(late_policy_parse(&policy, "percent=10", &err), 0);
    ck_assert(!late_end(&policy, &deadline, &end));
    ck_assert_int_eq(late_policy_parse(&policy, "days=1,grace=10min", &err), 0);
    ck_assert(late_end(&policy, &deadline, &end));
    ck_assert_int_eq(end.unix_s, at("2026-03-30 00:09 Europe/Berlin").unix_s);
    struct late late;
    late_judge(&late, &policy, &deadline, 0, &end, 50);
    ck_assert_int_eq(late.score, 50);
    end = moment_plus(end, 1);
    late_judge(&late, &policy, &deadline, 0, &end, 50);
    ck_assert_int_eq(late.score, 0);
}
END_TEST

/* The last moment that costs nothing, and the next one. */
START_TEST(free_until_it_costs)
{
    static const struct {
        const char *policy, *end; /* NULL: never costs anything */
    } rows[] = {
        {"percent=10", "2026-03-28 23:59"},
        {"points=5,grace=10min", "2026-03-29 00:09"},
        {"percent=10,slack=1,grace=10min", "2026-03-30 00:09"}, /* over the clocks' change */
        {"percent=10,slack=3,days=2", "2026-03-30 23:59"},
        {"percent=0,days=2", "2026-03-30 23:59"},
        {"days=1", "2026-03-29 23:59"},
        {"none", NULL},
    };
    struct error err = {0};
    struct late_policy policy;
    struct late late;
    struct moment deadline = at("2026-03-28 23:59 Europe/Berlin"), end;
    ck_assert_int_eq(late_policy_parse(&policy, rows[_i].policy, &err), 0);
    ck_assert_int_eq(late_free_end(&policy, &deadline, &end), rows[_i].end != NULL);
    if (rows[_i].end == NULL)
        return;
    char text[60];
    (void)snprintf(text, sizeof text, "%s Europe/Berlin", rows[_i].end);
    ck_assert_int_eq(end.unix_s, at(text).unix_s);
    late_judge(&late, &policy, &deadline, 0, &end, 50);
    ck_assert_int_eq(late.score, 50);
    end = moment_plus(end, 1);
    late_judge(&late, &policy, &deadline, 0, &end, 50);
    ck_assert_int_lt(late.score, 50);
}
END_TEST

Suite *suite_late(void)
{
    Suite *suite = suite_create("late");
    TCase *tests = tcase_create("late");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, lateness_costs, 0, COUNT_OF(cases));
    tcase_add_test(tests, nothing_is_taken_without_a_deadline);
    tcase_add_test(tests, an_extension_is_said);
    tcase_add_loop_test(tests, later_is_never_better, 0, 4);
    tcase_add_loop_test(tests, policies_are_kept, 0, COUNT_OF(policies));
    tcase_add_loop_test(tests, what_is_no_policy, 0, COUNT_OF(refused));
    tcase_add_test(tests, the_end_is_when_nothing_counts);
    tcase_add_loop_test(tests, free_until_it_costs, 0, 7);
    suite_add_tcase(suite, tests);
    return suite;
}

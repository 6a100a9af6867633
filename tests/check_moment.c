/* check_moment.c - times with their zones: what is read, what is refused, and the two nights a year
 * when clocks jump. */
#include "testing.h"

#include <pthread.h>
#include <sys/stat.h>
#include <time.h>

#include "mix.h"
#include "moment.h"
#include "support_toolkit.h"

static char problem[MOMENT_PROBLEM_BYTES], note[MOMENT_PROBLEM_BYTES];

static const struct zone *zone(const char *name)
{
    const struct zone *found = zone_find(name, problem);
    ck_assert_msg(found != NULL, "%s", problem);
    return found;
}

static struct moment at(const char *text)
{
    struct moment moment;
    ck_assert_msg(moment_parse(&moment, text, zone("Europe/Berlin"), problem, note), "%s", problem);
    return moment;
}

static const struct {
    const char *text;
    int64_t unix_s;
    const char *printed, *rfc3339;
    const char *note; /* NULL: none */
} readable[] = {
    /* clang-format off */
    {"2026-03-29T23:59:00+02:00", 1774821540, "2026-03-29 23:59 +02:00", "2026-03-29T23:59:00+02:00", NULL},
    {"2026-03-29t21:59:00z", 1774821540, "2026-03-29 21:59 +00:00 (UTC)", "2026-03-29T21:59:00+00:00", NULL},
    {"2026-03-29 23:59 Europe/Berlin", 1774821540, "2026-03-29 23:59 +02:00 (Europe/Berlin)", "2026-03-29T23:59:00+02:00", NULL},
    {"2026-03-29 23:59", 1774821540, "2026-03-29 23:59 +02:00 (Europe/Berlin)", "2026-03-29T23:59:00+02:00", NULL},
    {"  2026-03-29   23:59\t Europe/Berlin ", 1774821540, "2026-03-29 23:59 +02:00 (Europe/Berlin)", "2026-03-29T23:59:00+02:00", NULL},
    {"2026-03-29 23:59 +02:00 (Europe/Berlin)", 1774821540, "2026-03-29 23:59 +02:00 (Europe/Berlin)", "2026-03-29T23:59:00+02:00", NULL},
    {"2026-03-29 23:59:07.999 +0200", 1774821547, "2026-03-29 23:59:07 +02:00", "2026-03-29T23:59:07+02:00", NULL},
    {"2026-03-29T16:29:00-05:30", 1774821540, "2026-03-29 16:29 -05:30", "2026-03-29T16:29:00-05:30", NULL},
    {"2026-03-29 23:59 +02", 1774821540, "2026-03-29 23:59 +02:00", "2026-03-29T23:59:00+02:00", NULL},
    {"@1774821540", 1774821540, "2026-03-29 21:59 +00:00", "2026-03-29T21:59:00+00:00", NULL},
    {"1970-01-01T00:00:00Z", 0, "1970-01-01 00:00 +00:00 (UTC)", "1970-01-01T00:00:00+00:00", NULL},
    {"2000-02-29 12:00 UTC", 951825600, "2000-02-29 12:00 +00:00 (UTC)", "2000-02-29T12:00:00+00:00", NULL},
    {"2016-12-31T23:59:60Z", 1483228799, "2016-12-31 23:59:59 +00:00 (UTC)", "2016-12-31T23:59:59+00:00", NULL},
    {"9999-12-31 23:59 UTC", 253402300740, "9999-12-31 23:59 +00:00 (UTC)", "9999-12-31T23:59:00+00:00", NULL},
    {"2026-07-01 12:00 America/New_York", 1782921600, "2026-07-01 12:00 -04:00 (America/New_York)", "2026-07-01T12:00:00-04:00", NULL},
    {"2026-07-01 12:00 Asia/Kathmandu", 1782886500, "2026-07-01 12:00 +05:45 (Asia/Kathmandu)", "2026-07-01T12:00:00+05:45", NULL},
    {"2026-01-15 12:00 America/Argentina/Buenos_Aires", 1768489200, "2026-01-15 12:00 -03:00 (America/Argentina/Buenos_Aires)", "2026-01-15T12:00:00-03:00", NULL},
    /* Spring: 02:00 becomes 03:00. */
    {"2026-03-29 01:59:59", 1774745999, "2026-03-29 01:59:59 +01:00 (Europe/Berlin)", "2026-03-29T01:59:59+01:00", NULL},
    {"2026-03-29 02:00", 1774746000, "2026-03-29 03:00 +02:00 (Europe/Berlin)", "2026-03-29T03:00:00+02:00", "does not exist"},
    {"2026-03-29 02:30", 1774747800, "2026-03-29 03:30 +02:00 (Europe/Berlin)", "2026-03-29T03:30:00+02:00",
     "`2026-03-29 02:30` does not exist: clocks go forward over it; taken as 2026-03-29 03:30 +02:00 (Europe/Berlin)"},
    {"2026-03-29 02:59:59", 1774749599, "2026-03-29 03:59:59 +02:00 (Europe/Berlin)", "2026-03-29T03:59:59+02:00", "does not exist"},
    {"2026-03-29 03:00", 1774746000, "2026-03-29 03:00 +02:00 (Europe/Berlin)", "2026-03-29T03:00:00+02:00", NULL},
    /* Autumn: 03:00 becomes 02:00. */
    {"2026-10-25 01:59:59", 1792886399, "2026-10-25 01:59:59 +02:00 (Europe/Berlin)", "2026-10-25T01:59:59+02:00", NULL},
    {"2026-10-25 02:00", 1792890000, "2026-10-25 02:00 +01:00 (Europe/Berlin)", "2026-10-25T02:00:00+01:00", "comes twice"},
    {"2026-10-25 02:30", 1792891800, "2026-10-25 02:30 +01:00 (Europe/Berlin)", "2026-10-25T02:30:00+01:00",
     "`2026-10-25 02:30` comes twice, since clocks go back; the later one is taken, 2026-10-25 02:30 +01:00 (Europe/Berlin)"},
    {"2026-10-25 02:30 +02:00 (Europe/Berlin)", 1792888200, "2026-10-25 02:30 +02:00 (Europe/Berlin)", "2026-10-25T02:30:00+02:00", NULL},
    {"2026-10-25 03:00", 1792893600, "2026-10-25 03:00 +01:00 (Europe/Berlin)", "2026-10-25T03:00:00+01:00", NULL},
    /* West of Greenwich, half an hour, and a whole day that never was. */
    {"2026-03-08 02:30 America/New_York", 1772955000, "2026-03-08 03:30 -04:00 (America/New_York)", "2026-03-08T03:30:00-04:00", "does not exist"},
    {"2026-11-01 01:30 America/New_York", 1793514600, "2026-11-01 01:30 -05:00 (America/New_York)", "2026-11-01T01:30:00-05:00", "comes twice"},
    {"2026-04-05 01:45 Australia/Lord_Howe", 1775315700, "2026-04-05 01:45 +10:30 (Australia/Lord_Howe)", "2026-04-05T01:45:00+10:30", "comes twice"},
    {"2011-12-30 12:00 Pacific/Apia", 1325282400, "2011-12-31 12:00 +14:00 (Pacific/Apia)", "2011-12-31T12:00:00+14:00", "does not exist"},
    /* After the database's last year the last offset goes on. */
    {"2150-07-01 12:00 Europe/Berlin", 5695959600, "2150-07-01 12:00 +01:00 (Europe/Berlin)", "2150-07-01T12:00:00+01:00", NULL},
    /* clang-format on */
};

START_TEST(times_are_read_and_printed)
{
    char text[MOMENT_TEXT_BYTES];
    struct moment moment = at(readable[_i].text), again;
    ck_assert_int_eq(moment.unix_s, readable[_i].unix_s);
    if (readable[_i].note == NULL)
        ck_assert_str_eq(note, "");
    else
        ck_assert_msg(strstr(note, readable[_i].note) != NULL, "%s", note);
    ck_assert_str_eq(moment_text(moment, text), readable[_i].printed);
    ck_assert_msg(moment_parse(&again, text, NULL, problem, note), "%s", problem);
    ck_assert_int_eq(again.unix_s, moment.unix_s);
    ck_assert_str_eq(note, "");
    ck_assert_str_eq(moment_rfc3339(moment, text), readable[_i].rfc3339);
    ck_assert_msg(moment_parse(&again, text, NULL, problem, note), "%s", problem);
    ck_assert_int_eq(again.unix_s, moment.unix_s);
}
END_TEST

static const struct {
    const char *text, *says;
} refused[] = {
    /* clang-format off */
    {"", "is no time"}, {"tomorrow", "is no time"}, {"29.03.2026 23:59", "is no time"},
    {"2026-3-29 23:59", "is no time"}, {"2026-02-29 12:00", "is no time"},
    {"2100-02-29 12:00", "is no time"}, {"2026-13-01 12:00", "is no time"},
    {"2026-00-01 12:00", "is no time"}, {"2026-04-31 12:00", "is no time"},
    {"1969-12-31 23:59", "is no time"}, {"2026-03-29 24:00", "is no time"},
    {"2026-03-29 23:60", "is no time"}, {"2026-03-29 23:59:61", "is no time"},
    {"2026-03-29 23:59:00. UTC", "is no time"}, {"2026-03-29 23", "is no time"},
    {"2026-03-29 23:59pm", "is no time"}, {"2026-03-29x23:59", "is no time"},
    {"2026-03-29 23:59 +2", "is no time"}, {"2026-03-29 23:59 +24:00", "is no time"},
    {"2026-03-29 23:59 +02:60", "is no time"}, {"2026-03-29 23:59 +02:00x", "is no time"},
    {"2026-03-29 23:59 +01:00 (Europe/Berlin)", "is no time"},
    {"2026-03-29 23:59 +02:00 (Nowhere/At_All)", "is no time"},
    {"2026-03-29", "has no time of day"}, {"2026-03-29 Europe/Berlin", "has no time of day"},
    {"2026-03-29 23:59 Europe/Atlantis", "no time zone `Europe/Atlantis`"},
    {"2026-03-29 23:59 CET", "is an abbreviation"}, {"2026-03-29 23:59 EST5EDT", "is an abbreviation"},
    {"2026-03-29 23:59 ../../../etc/passwd", "is no time zone"},
    {"2026-03-29 23:59 Europe/../Europe/Berlin", "is no time zone"},
    {"2026-03-29 23:59 /etc/localtime", "is no time zone"},
    {"2026-03-29 23:59 :Europe/Berlin", "is no time"},
    {"2026-03-29 23:59 Europe/", "is no time zone"},
    {"2026-03-29 23:59 Europe", "no time zone `Europe`"},
    {"@", "seconds since 1970"}, {"@-5", "seconds since 1970"}, {"@99999999999999", "seconds since 1970"},
    /* clang-format on */
};

START_TEST(what_is_no_time)
{
    struct moment moment = {.unix_s = 77};
    ck_assert(!moment_parse(&moment, refused[_i].text, zone("UTC"), problem, note));
    ck_assert_msg(strstr(problem, refused[_i].says) != NULL, "%s", problem);
    ck_assert_str_eq(note, "");
}
END_TEST

START_TEST(a_time_needs_a_zone)
{
    struct moment moment;
    ck_assert(!moment_parse(&moment, "2026-03-29 23:59", NULL, problem, note));
    ck_assert_msg(strstr(problem, "has no time zone") != NULL && strstr(problem, "--zone") != NULL,
                  "%s", problem);
}
END_TEST

/* ---- Against libc ---------------------------------------------------------------------------- */

static const char *const zones[] = {"Europe/Berlin",     "America/New_York",    "Asia/Kathmandu",
                                    "Africa/Casablanca", "Australia/Lord_Howe", "Pacific/Apia",
                                    "America/St_Johns",  "Europe/Dublin",       "UTC"};

/* Any second of 1970 to 2099 has the offset that libc gives it, and reads back. */
START_TEST(offsets_are_those_of_libc)
{
    const struct zone *here = zone(zones[_i]);
    char text[MOMENT_TEXT_BYTES], expected[64], shown[64];
    ck_assert_int_eq(setenv("TZ", zones[_i], 1), 0);
    tzset();
    for (uint64_t i = 0; i < 4000; ++i) {
        time_t when = (time_t)(mix64_at(17, i) % UINT64_C(4102400000));
        struct tm parts, utc;
        ck_assert_ptr_nonnull(localtime_r(&when, &parts));
        ck_assert_ptr_nonnull(gmtime_r(&when, &utc));
        struct moment moment = moment_at((int64_t)when, here), again;
        ck_assert_int_eq(moment_offset(moment), parts.tm_gmtoff);
        (void)strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%S", &parts);
        (void)snprintf(shown, sizeof shown, "%.19s", moment_rfc3339(moment, text));
        ck_assert_str_eq(shown, expected);
        ck_assert_msg(moment_parse(&again, moment_text(moment, text), NULL, problem, note),
                      "%s: %s", text, problem);
        ck_assert_int_eq(again.unix_s, moment.unix_s);
    }
}
END_TEST

/* A local time that exists once reads to the second that shows it. */
START_TEST(local_times_read_as_they_show)
{
    const struct zone *here = zone(zones[_i]);
    for (uint64_t i = 0; i < 4000; ++i) {
        struct moment moment = moment_at((int64_t)(mix64_at(18, i) % UINT64_C(4102400000)), here);
        struct moment again;
        char text[MOMENT_TEXT_BYTES], local[24];
        (void)snprintf(local, sizeof local, "%.19s", moment_rfc3339(moment, text));
        ck_assert_msg(moment_parse(&again, local, here, problem, note), "%s", problem);
        ck_assert_msg(strstr(note, "does not exist") == NULL, "%s exists", local);
        if (note[0] == '\0')
            ck_assert_int_eq(again.unix_s, moment.unix_s);
        else
            ck_assert_int_ge(again.unix_s, moment.unix_s);
    }
}
END_TEST

START_TEST(the_zone_of_the_program_stays)
{
    ck_assert_int_eq(setenv("TZ", "Asia/Tokyo", 1), 0);
    tzset();
    (void)zone("Europe/Berlin");
    time_t zero = 0;
    struct tm parts;
    ck_assert_str_eq(getenv("TZ"), "Asia/Tokyo");
    ck_assert_ptr_nonnull(localtime_r(&zero, &parts));
    ck_assert_int_eq(parts.tm_gmtoff, 9 * 3600);
    ck_assert_int_eq(unsetenv("TZ"), 0);
    (void)zone("America/Lima");
    ck_assert_ptr_null(getenv("TZ"));
    ck_assert_ptr_eq(zone("Europe/Berlin"), zone("Europe/Berlin"));
    ck_assert_str_eq(zone_name(zone("Europe/Berlin")), "Europe/Berlin");
}
END_TEST

START_TEST(a_machine_without_zones_says_so)
{
    char folder[512];
    support_new_folder(folder);
    ck_assert_int_eq(setenv("TZDIR", support_path(folder, "none"), 1), 0);
    ck_assert_ptr_null(zone_find("Europe/Rome", problem));
    ck_assert_msg(strstr(problem, "install tzdata") != NULL, "%s", problem);
    /* UTC and offsets need no database. */
    struct moment moment;
    ck_assert(moment_parse(&moment, "2026-03-29 21:59 UTC", NULL, problem, note));
    ck_assert_int_eq(moment.unix_s, 1774821540);
    ck_assert(moment_parse(&moment, "2026-03-29 23:59 +02:00", NULL, problem, note));
    ck_assert_int_eq(moment.unix_s, 1774821540);
    /* A file that is no zone. */
    support_folder(support_path(folder, "none"));
    support_folder(support_path(folder, "none/Europe"));
    testing_write(support_path(folder, "none/Europe/Rome"), "no zone", 7);
    ck_assert_ptr_null(zone_find("Europe/Rome", problem));
    ck_assert_msg(strstr(problem, "no time zone `Europe/Rome`") != NULL, "%s", problem);
}
END_TEST

/* ---- Arithmetic ------------------------------------------------------------------------------ */

static const struct {
    const char *from;
    int64_t days;
    const char *to;
} days[] = {
    {"2026-03-28 23:59", 1, "2026-03-29 23:59 +02:00 (Europe/Berlin)"},
    {"2026-03-28 02:30", 1, "2026-03-29 03:30 +02:00 (Europe/Berlin)"},
    {"2026-10-24 23:59", 1, "2026-10-25 23:59 +01:00 (Europe/Berlin)"},
    {"2026-10-24 02:30", 1, "2026-10-25 02:30 +01:00 (Europe/Berlin)"},
    {"2026-03-30 12:00", -2, "2026-03-28 12:00 +01:00 (Europe/Berlin)"},
    {"2028-02-28 12:00", 1, "2028-02-29 12:00 +01:00 (Europe/Berlin)"},
    {"2026-12-31 12:00", 1, "2027-01-01 12:00 +01:00 (Europe/Berlin)"},
    {"2026-03-28 23:59 +01:00", 1, "2026-03-29 23:59 +01:00"},
    {"2026-03-28 23:59", 0, "2026-03-28 23:59 +01:00 (Europe/Berlin)"},
    {"2026-10-25 02:30 +02:00 (Europe/Berlin)", 0, "2026-10-25 02:30 +02:00 (Europe/Berlin)"},
    {"2026-10-25 02:30 +01:00 (Europe/Berlin)", 0, "2026-10-25 02:30 +01:00 (Europe/Berlin)"},
};

START_TEST(days_keep_the_time_of_day)
{
    char text[MOMENT_TEXT_BYTES];
    struct moment moment = moment_plus_days(at(days[_i].from), days[_i].days);
    ck_assert_str_eq(moment_text(moment, text), days[_i].to);
}
END_TEST

START_TEST(hours_are_elapsed_hours)
{
    char text[MOMENT_TEXT_BYTES];
    struct moment moment = moment_plus(at("2026-03-28 23:59"), INT64_C(24) * 3600);
    ck_assert_str_eq(moment_text(moment, text), "2026-03-30 00:59 +02:00 (Europe/Berlin)");
    ck_assert_str_eq(moment_text(moment_at_offset(0, -12600), text), "1969-12-31 20:30 -03:30");
    ck_assert_int_gt(moment_now(NULL).unix_s, 1700000000);
}
END_TEST

static const struct {
    int64_t seconds;
    const char *text;
} durations[] = {
    {0, "0 s"},
    {59, "59 s"},
    {60, "1 min"},
    {3599, "59 min"},
    {3600, "1 h 0 min"},
    {94200, "26 h 10 min"},
    {172799, "47 h 59 min"},
    {172800, "2 days 0 h 0 min"},
    {266999, "3 days 2 h 9 min"},
};

START_TEST(durations_are_short)
{
    char text[MOMENT_TEXT_BYTES];
    ck_assert_str_eq(moment_duration(durations[_i].seconds, text), durations[_i].text);
}
END_TEST

/* ---- Threads --------------------------------------------------------------------------------- */

static void *find_zones(void *result)
{
    bool *good = result;
    char why[MOMENT_PROBLEM_BYTES];
    *good = true;
    for (size_t round = 0; round < 50; ++round)
        for (size_t i = 0; i < COUNT_OF(zones); ++i) {
            const struct zone *found = zone_find(zones[i], why);
            *good = *good && found != NULL && strcmp(zone_name(found), zones[i]) == 0 &&
                    moment_offset(moment_at(1782921600, found)) % 900 == 0;
        }
    return NULL;
}

START_TEST(threads_share_zones)
{
    pthread_t threads[4];
    bool good[4] = {false};
    for (size_t i = 0; i < COUNT_OF(zones); ++i)
        (void)zone(zones[i]);
    for (size_t i = 0; i < COUNT_OF(threads); ++i)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, find_zones, &good[i]), 0);
    for (size_t i = 0; i < COUNT_OF(threads); ++i) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert(good[i]);
    }
}
END_TEST

Suite *suite_moment(void)
{
    Suite *suite = suite_create("moment");
    TCase *tests = tcase_create("moment");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, times_are_read_and_printed, 0, COUNT_OF(readable));
    tcase_add_loop_test(tests, what_is_no_time, 0, COUNT_OF(refused));
    tcase_add_test(tests, a_time_needs_a_zone);
    tcase_add_loop_test(tests, offsets_are_those_of_libc, 0, COUNT_OF(zones));
    tcase_add_loop_test(tests, local_times_read_as_they_show, 0, COUNT_OF(zones));
    tcase_add_test(tests, the_zone_of_the_program_stays);
    tcase_add_test(tests, a_machine_without_zones_says_so);
    tcase_add_loop_test(tests, days_keep_the_time_of_day, 0, COUNT_OF(days));
    tcase_add_test(tests, hours_are_elapsed_hours);
    tcase_add_loop_test(tests, durations_are_short, 0, COUNT_OF(durations));
    tcase_add_test(tests, threads_share_zones);
    suite_add_tcase(suite, tests);
    return suite;
}

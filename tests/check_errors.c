/* check_errors.c - how trouble of ours is kept and said. */
#include "testing.h"

#include <errno.h>

#include "errors.h"
#include "text.h"

START_TEST(first_message_wins)
{
    struct error err = {0};
    ck_assert_int_eq(error_set(&err, ERROR_USAGE, "no lab \"%s\"", "x"), -1);
    ck_assert_int_eq(error_set(&err, ERROR_INFRASTRUCTURE, "later"), -1);
    ck_assert_int_eq(error_no_memory(&err), -1);
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_str_eq(err.text, "no lab \"x\"");
    ck_assert_int_eq(error_context(&err, "row %d", 7), -1);
    ck_assert_str_eq(err.text, "row 7: no lab \"x\"");
    ck_assert_int_eq(err.kind, ERROR_USAGE);
    ck_assert_int_eq(error_set(NULL, ERROR_USAGE, "nobody listens"), -1);
    ck_assert_int_eq(error_context(NULL, "nobody"), -1);
}
END_TEST

START_TEST(errno_is_said)
{
    struct error err = {0};
    errno = ENOSPC;
    ck_assert_int_eq(error_set_errno(&err, ERROR_INFRASTRUCTURE, "cannot write %s", "f"), -1);
    ck_assert_str_eq(err.text, "cannot write f: No space left on device");
}
END_TEST

/* A path may hold anything; a message is one line of printable text. */
START_TEST(messages_are_printable)
{
    static const struct {
        const char *quoted, *expected;
    } rows[] = {
        {"a\nb", "no a b"},
        {"\x1b[31mred", "no ?[31mred"},
        {"caf\xc3\xa9", "no caf\xc3\xa9"},
        {"latin\xe9", "no latin?"},
        {"turn\xe2\x80\xae"
         "ed",
         "no turn?ed"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct error err = {0};
        (void)error_set(&err, ERROR_USAGE, "no %s", rows[i].quoted);
        ck_assert_str_eq(err.text, rows[i].expected);
        err = (struct error){0};
        (void)error_set(&err, ERROR_USAGE, "x");
        (void)error_context(&err, "no %s", rows[i].quoted);
        ck_assert_int_eq(strncmp(err.text, rows[i].expected, strlen(rows[i].expected)), 0);
    }
}
END_TEST

/* Whatever the length, the cut is marked and never splits a character. */
START_TEST(long_messages_are_cut)
{
    for (size_t length = 1000; length < 1060; ++length) {
        struct bytes name = bytes_with_limit(3000);
        ck_assert_int_eq(bytes_printf(&name, "%*s", (int)(length % 3 + 1), ""), 0);
        while (name.length + 2 <= length)
            ck_assert_int_eq(bytes_append_text(&name, "\xc3\xa9"), 0);
        struct error err = {0};
        errno = ENOENT;
        (void)error_set_errno(&err, ERROR_USAGE, "%s", name.data);
        size_t room = sizeof err.text - 1;
        ck_assert(text_is_utf8(err.text, strlen(err.text)));
        bool whole = name.length + strlen(": No such file or directory") <= room;
        ck_assert_int_eq(strstr(err.text, "…") == NULL, whole);
        ck_assert(strlen(err.text) + 4 >= room || whole);
        err = (struct error){0};
        (void)error_set(&err, ERROR_USAGE, "why");
        (void)error_context(&err, "%s", name.data);
        ck_assert(text_is_utf8(err.text, strlen(err.text)));
        bytes_release(&name);
    }
}
END_TEST

START_TEST(exit_statuses)
{
    static const struct {
        enum error_kind kind;
        int status;
    } rows[] = {
        {ERROR_NONE, 0}, {ERROR_USAGE, 2}, {ERROR_INFRASTRUCTURE, 3}, {ERROR_INTERRUPTED, 130}};
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        const struct error err = {.kind = rows[i].kind, .text = "text"};
        ck_assert_int_eq(error_report(&err), rows[i].status);
    }
}
END_TEST

Suite *suite_errors(void)
{
    Suite *suite = suite_create("errors");
    TCase *tests = tcase_create("errors");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, first_message_wins);
    tcase_add_test(tests, errno_is_said);
    tcase_add_test(tests, messages_are_printable);
    tcase_add_test(tests, long_messages_are_cut);
    tcase_add_test(tests, exit_statuses);
    suite_add_tcase(suite, tests);
    return suite;
}

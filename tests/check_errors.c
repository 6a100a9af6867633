/* check_errors.c - how trouble of ours is kept and said. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

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

/* What the program says on standard error when that is a terminal. */
static char *said_to_a_terminal(const char *const *arguments)
{
    const char *argv[8] = {testing_binary()};
    for (size_t i = 0; arguments[i] != NULL; ++i)
        argv[i + 1] = arguments[i];
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(terminal, 0);
    ck_assert(grantpt(terminal) == 0 && unlockpt(terminal) == 0);
    int side = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(side, 0);
    pid_t child = fork();
    if (child == 0) {
        (void)dup2(side, STDERR_FILENO);
        (void)execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    ck_assert_int_gt(child, 0);
    (void)close(side);
    struct bytes said = bytes_with_limit(10000);
    char chunk[1000];
    for (ssize_t got; (got = read(terminal, chunk, sizeof chunk)) > 0;) /* EIO: nobody is left */
        bytes_append(&said, chunk, (size_t)got);
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    (void)close(terminal);
    return bytes_take(&said);
}

START_TEST(a_terminal_gets_lines_of_80_columns)
{
    static const char *const arguments[] = {"grade", "starter/day17-registers", "--only", "x",
                                            NULL};
    AUTO_FREE char *said = said_to_a_terminal(arguments);
    size_t lines = 0;
    ck_assert_msg(strncmp(said, "spillway: --only x: no mark", 27) == 0, "%s", said);
    for (const char *at = said; *at != '\0'; at += strspn(at, "\r\n"), ++lines) {
        size_t length = strcspn(at, "\r\n");
        ck_assert_msg(length <= 80, "%.*s", (int)length, at);
        at += length;
    }
    ck_assert_uint_eq(lines, 2);
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.error), "question1, question2, question3\n"));
    ck_assert_ptr_eq(strchr(bytes_text(&result.error), '\n') + 1,
                     bytes_text(&result.error) + result.error.length);
    process_result_release(&result);
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
    tcase_add_test(tests, a_terminal_gets_lines_of_80_columns);
    suite_add_tcase(suite, tests);
    return suite;
}

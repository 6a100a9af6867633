/* check_repo_task.c - what a repo's child may answer, and what becomes of one that gives no answer.
 */
#include "testing.h"

#include <errno.h>

#include "process.h"
#include "repo_call.h"
#include "repo_helper.h"

#define ID "0123456789abcdef0123456789abcdef01234567"

/* ---- Replies ----------------------------------------------------------------------------------
 */

static struct repo_reply reply;
static struct repo_ref ref = {"refs/heads/main", ID};

static struct repo_task task_of(enum repo_task_kind kind)
{
    struct repo_task task;
    repo_task_init(&task, kind);
    if (kind == REPO_READ) {
        task.wanted_count = 2;
        task.wanted[0].limit = 300;
        task.wanted[1].limit = 10;
    }
    return task;
}

static void make_copied(void)
{
    repo_reply_init(&reply, REPO_COPY);
    (void)snprintf(reply.state, sizeof reply.state, ID);
    (void)snprintf(reply.ref, sizeof reply.ref, "refs/heads/main");
    reply.ref_count = 1;
    reply.payload_bytes = sizeof ref;
}

static void make_read(void)
{
    repo_reply_init(&reply, REPO_READ);
    (void)snprintf(reply.commit, sizeof reply.commit, ID);
    (void)snprintf(reply.chosen, sizeof reply.chosen, "the newest commit on main");
    (void)snprintf(reply.files[0].path, sizeof reply.files[0].path, "registers.cu");
    reply.files[0].found = 1;
    reply.files[0].length = sizeof ref;
    reply.payload_bytes = sizeof ref;
}

static void make_refused(void)
{
    repo_reply_init(&reply, REPO_READ);
    reply.reason = REPO_NO_SOURCE;
    (void)snprintf(reply.detail, sizeof reply.detail, "nothing is there");
}

static void fill(char *text, size_t room)
{
    memset(text, 'x', room);
}

/* Each spoils a good reply in one way. */
#define SPOIL(name, statement)                                                                     \
    static void name(void)                                                                         \
    {                                                                                              \
        statement;                                                                                 \
    }
SPOIL(nothing, (void)0)
SPOIL(other_magic, reply.magic ^= 1)
SPOIL(other_version, ++reply.version)
SPOIL(other_kind, reply.kind = REPO_PUT)
SPOIL(unknown_reason, reply.reason = REPO_REASON_COUNT)
SPOIL(longer, ++reply.payload_bytes)
SPOIL(much_longer, reply.payload_bytes = UINT64_MAX - sizeof reply + 1)
SPOIL(odd_bool, reply.unchanged = 2)
SPOIL(odd_flags, reply.flags = 1u << REPO_FLAG_COUNT)
SPOIL(flag_without_text, reply.flags = 1)
SPOIL(text_without_flag, reply.flag_text[3][0] = 'x')
SPOIL(odd_traits, reply.traits = 8)
SPOIL(open_detail, fill(reply.detail, sizeof reply.detail))
SPOIL(open_chosen, fill(reply.chosen, sizeof reply.chosen))
SPOIL(open_path, fill(reply.files[0].path, sizeof reply.files[0].path))
SPOIL(no_id, reply.commit[39] = 'g')
SPOIL(short_id, reply.commit[39] = '\0')
SPOIL(odd_state, reply.state[0] = 'G')
SPOIL(far_future, reply.unix_s = INT64_MAX)
SPOIL(far_past, reply.commit_s = INT64_MIN)
SPOIL(odd_offset, reply.commit_offset_s = 100000)
SPOIL(odd_source, reply.source = 3)
SPOIL(more_refs, reply.ref_count = 2)
SPOIL(no_refs, reply.ref_count = 0)
SPOIL(many_refs, reply.ref_count = UINT32_MAX)
SPOIL(no_commit, reply.commit[0] = '\0')
SPOIL(not_found, reply.files[0].found = 0)
SPOIL(found_much, reply.files[0].found = 2)
SPOIL(too_long_a_file, reply.files[0].length = 301)
SPOIL(unwanted_file, (reply.files[2] = reply.files[0], reply.files[0].length = 0))
SPOIL(content_and_problem, reply.files[0].problem[0] = 'x')
SPOIL(fine_with_detail, reply.detail[0] = 'x')
SPOIL(refused_without_detail, reply.detail[0] = '\0')
SPOIL(refused_unchanged, reply.unchanged = 1)

static const struct {
    void (*make)(void), (*spoil)(void);
    enum repo_task_kind kind;
    const char *why; /* "": it is accepted */
} replies[] = {
    {make_copied, nothing, REPO_COPY, ""},
    {make_read, nothing, REPO_READ, ""},
    {make_refused, nothing, REPO_READ, ""},
    {make_copied, nothing, REPO_DOWNLOAD, "none of ours"},
    {make_copied, other_magic, REPO_COPY, "none of ours"},
    {make_copied, other_version, REPO_COPY, "none of ours"},
    {make_copied, other_kind, REPO_COPY, "none of ours"},
    {make_copied, unknown_reason, REPO_COPY, "unknown reason"},
    {make_copied, longer, REPO_COPY, "wrong length"},
    {make_copied, much_longer, REPO_COPY, "wrong length"},
    {make_copied, odd_bool, REPO_COPY, "out of range"},
    {make_copied, odd_flags, REPO_COPY, "out of range"},
    {make_copied, flag_without_text, REPO_COPY, "text that is none"},
    {make_copied, text_without_flag, REPO_COPY, "text that is none"},
    {make_copied, odd_traits, REPO_COPY, "out of range"},
    {make_refused, open_detail, REPO_READ, "text that is none"},
    {make_read, open_chosen, REPO_READ, "text that is none"},
    {make_read, open_path, REPO_READ, "files that were not asked for"},
    {make_read, no_id, REPO_READ, "text that is none"},
    {make_read, short_id, REPO_READ, "text that is none"},
    {make_copied, odd_state, REPO_COPY, "text that is none"},
    {make_read, far_future, REPO_READ, "out of range"},
    {make_read, far_past, REPO_READ, "out of range"},
    {make_read, odd_offset, REPO_READ, "out of range"},
    {make_read, odd_source, REPO_READ, "out of range"},
    {make_copied, more_refs, REPO_COPY, "refs that are none"},
    {make_copied, no_refs, REPO_COPY, "refs that are none"},
    {make_copied, many_refs, REPO_COPY, "refs that are none"},
    {make_read, more_refs, REPO_READ, "refs that are none"},
    {make_read, no_commit, REPO_READ, "contradicts itself"},
    {make_read, not_found, REPO_READ, "files that were not asked for"},
    {make_read, found_much, REPO_READ, "files that were not asked for"},
    {make_read, too_long_a_file, REPO_READ, "files that were not asked for"},
    {make_read, unwanted_file, REPO_READ, "files that were not asked for"},
    {make_read, content_and_problem, REPO_READ, "files that were not asked for"},
    {make_read, fine_with_detail, REPO_READ, "contradicts itself"},
    {make_refused, refused_without_detail, REPO_READ, "contradicts itself"},
    {make_refused, refused_unchanged, REPO_READ, "contradicts itself"},
};

START_TEST(one_reply)
{
    static struct repo_reply read;
    struct repo_task task = task_of(replies[_i].kind);
    struct bytes all = bytes_with_limit(100000);
    const uint8_t *payload = NULL;
    const char *why = NULL;
    replies[_i].make();
    bool has_payload = reply.payload_bytes > 0;
    replies[_i].spoil();
    (void)bytes_append(&all, &reply, sizeof reply);
    if (has_payload)
        (void)bytes_append(&all, &ref, sizeof ref);
    bool accepted =
        repo_reply_read(&read, &payload, (const uint8_t *)all.data, all.length, &task, &why);
    ck_assert_msg(accepted == (replies[_i].why[0] == '\0'), "row %d: %s", _i, why);
    if (!accepted)
        ck_assert_msg(strstr(why, replies[_i].why) != NULL, "row %d: %s", _i, why);
    else if (has_payload)
        ck_assert_mem_eq(payload, &ref, sizeof ref);
    bytes_release(&all);
}
END_TEST

START_TEST(cut_replies)
{
    static struct repo_reply read;
    struct repo_task task = task_of(REPO_READ);
    const uint8_t *payload = NULL;
    const char *why = NULL;
    make_refused();
    ck_assert(!repo_reply_read(&read, &payload, (const uint8_t *)&reply, 0, &task, &why));
    ck_assert_str_eq(why, "is missing");
    ck_assert(
        !repo_reply_read(&read, &payload, (const uint8_t *)&reply, sizeof reply - 1, &task, &why));
    ck_assert_str_eq(why, "is cut off");
}
END_TEST

/* What a child says is made fit for a terminal. */
START_TEST(unprintable_words)
{
    static struct repo_reply read;
    struct repo_task task = task_of(REPO_READ);
    const uint8_t *payload = NULL;
    const char *why = NULL;
    make_refused();
    (void)snprintf(reply.detail, sizeof reply.detail, "a\033[2Jb\xff\nc");
    ck_assert(repo_reply_read(&read, &payload, (const uint8_t *)&reply, sizeof reply, &task, &why));
    ck_assert_str_eq(read.detail, "a?[2Jb? c");
}
END_TEST

/* ---- Tasks ------------------------------------------------------------------------------------
 */

START_TEST(lengths_of_tasks)
{
    static struct repo_task task;
    const struct repo_task *read = NULL;
    const struct repo_push push = {.unix_s = 1};
    struct repo_task_parts parts;
    struct bytes all = bytes_with_limit(100000);
    repo_task_init(&task, REPO_PUSH);
    task.push_count = task.ref_count = task.file_count = 1;
    task.files[0].length = 7;
    (void)bytes_append(&all, &task, sizeof task);
    (void)bytes_append(&all, &push, sizeof push);
    (void)bytes_append(&all, &ref, sizeof ref);
    (void)bytes_append(&all, "content", 7);
    struct repo_task *head = (struct repo_task *)(void *)all.data;
    ck_assert(repo_task_read(all.data, all.length, &read, &parts));
    ck_assert_mem_eq(parts.contents, "content", 7);
    ck_assert_int_eq(parts.pushes[0].unix_s, 1);
    ck_assert_str_eq(parts.refs[0].id, ID);
    ck_assert(!repo_task_read(all.data, all.length - 1, &read, &parts));
    ck_assert(!repo_task_read(all.data, sizeof task - 1, &read, &parts));
    head->push_count = UINT32_MAX;
    ck_assert(!repo_task_read(all.data, all.length, &read, &parts));
    head->push_count = 1;
    head->kind = REPO_TASK_KINDS;
    ck_assert(!repo_task_read(all.data, all.length, &read, &parts));
    bytes_release(&all);
}
END_TEST

/* ---- The helper -------------------------------------------------------------------------------
 */

static struct repo_helper_run run_task(struct repo_helper *helper, const void *task, size_t length,
                                       int expected, struct error *err)
{
    struct repo_helper_run run = {.task = bytes_with_limit(length),
                                  .descriptor = -1,
                                  .silence_ns = INT64_C(20000000000),
                                  .wall_ns = INT64_C(20000000000),
                                  .reply_limit = 100000};
    (void)bytes_append(&run.task, task, length);
    ck_assert_int_eq(repo_helper_run(helper, &run, err), expected);
    bytes_release(&run.task);
    return run;
}

START_TEST(a_task_that_does_not_add_up)
{
    struct repo_helper helper = REPO_HELPER_NONE;
    struct error err = {0};
    repo_helper_use(testing_binary());
    for (int i = 0; i < 3; ++i) { /* the helper lives on */
        struct repo_helper_run run = run_task(&helper, "nonsense", 8, 0, &err);
        ck_assert_int_eq(run.end, REPO_HELPER_DIED);
        ck_assert_str_eq(run.ending, "ended with status 3: a task that does not add up");
        ck_assert_uint_eq(run.reply.length, 0);
        bytes_release(&run.reply);
    }
    repo_helper_stop(&helper);
    repo_helper_stop(&helper);
}
END_TEST

START_TEST(helpers_that_are_none)
{
    static const struct {
        const char *program;
        int status;
    } rows[] = {{"/bin/true", 0}, {"/nowhere/spillway", -1}};
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct repo_helper helper = REPO_HELPER_NONE;
        struct error err = {0};
        repo_helper_use(rows[i].program);
        struct repo_helper_run run = run_task(&helper, "x", 1, rows[i].status, &err);
        if (rows[i].status == 0)
            ck_assert_int_eq(run.end, REPO_HELPER_DIED);
        else
            ck_assert_ptr_nonnull(strstr(err.text, "cannot run /nowhere/spillway"));
        bytes_release(&run.reply);
        repo_helper_stop(&helper);
    }
}
END_TEST

START_TEST(no_command_for_people)
{
    const char *const arguments[] = {"repo", NULL};
    struct process_result result = testing_spillway(arguments, NULL);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_ptr_nonnull(strstr(bytes_text(&result.error), "no command for people"));
    process_result_release(&result);
}
END_TEST

START_TEST(every_reason_has_its_words)
{
    for (unsigned i = 0; i < REPO_REASON_COUNT; ++i) {
        enum repo_reason reason = (enum repo_reason)i, parsed = REPO_FINE;
        ck_assert(repo_reason_parse(repo_reason_word(reason), &parsed) && parsed == reason);
        ck_assert_int_eq(reason == REPO_FINE, repo_reason_actor(reason) == REPO_NOBODY);
        ck_assert_int_eq(reason == REPO_FINE, repo_reason_mend(reason)[0] == '\0');
        char text[1000];
        ck_assert_ptr_nonnull(
            strstr(repo_sentence(text, sizeof text, reason, "it is so"), "It is so. "));
        for (unsigned k = 0; k < i; ++k)
            ck_assert_str_ne(repo_reason_word((enum repo_reason)k), repo_reason_word(reason));
    }
    enum repo_reason unused;
    ck_assert(!repo_reason_parse("nonsense", &unused));
}
END_TEST

Suite *suite_repo_task(void)
{
    Suite *suite = suite_create("repo_task");
    TCase *tests = tcase_create("repo_task");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, one_reply, 0, COUNT_OF(replies));
    tcase_add_test(tests, cut_replies);
    tcase_add_test(tests, unprintable_words);
    tcase_add_test(tests, lengths_of_tasks);
    tcase_add_test(tests, a_task_that_does_not_add_up);
    tcase_add_test(tests, helpers_that_are_none);
    tcase_add_test(tests, no_command_for_people);
    tcase_add_test(tests, every_reason_has_its_words);
    suite_add_tcase(suite, tests);
    return suite;
}

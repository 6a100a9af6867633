/* check_build.c - what compilers may do to us: shell scripts play nvcc and ptxas. */
#include "testing.h"

#include <signal.h>
#include <sys/stat.h>

#include "build.h"
#include "files.h"
#include "support_lab.h"
#include "support_toolkit.h"

static struct fake_toolkit toolkit;
static struct toolchain toolchain;
static struct submission submission;
static struct build build;
static char folder[512];

/* A toolkit of these snippets, with the fixtures of the tiny lab, and a submission for it. */
static void set_up(const char *nvcc, const char *ptxas)
{
    static const char *const names[][2] = {{"module.ptx", "toolkit/tiny.ptx"},
                                           {"report.log", "toolkit/tiny.log"},
                                           {"module.cubin", "toolkit/tiny.cubin"}};
    struct error err = {0};
    fake_toolkit_make(&toolkit, nvcc, ptxas);
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        struct bytes content = testing_fixture(names[i][1]);
        fake_toolkit_add(&toolkit, names[i][0], content.data, content.length);
        bytes_release(&content);
    }
    ck_assert_msg(toolchain_find(&toolchain, toolkit.nvcc, &err) == 0 &&
                      toolchain_ask(&toolchain, &err) == 0,
                  "%s", err.text);
    toolchain.compile_seconds = 30;
    submission = (struct submission){.lab = &support_lab};
    submission.source.content = bytes_with_limit(1000);
    ck_assert_int_eq(bytes_append_text(&submission.source.content, "// the source\r\nint main;"),
                     0);
    support_new_folder(folder);
}

static void tear_down(void)
{
    build_release(&build);
    submission_release(&submission);
    toolchain_release(&toolchain);
}

/* Builds for sm_75. Returns build_run()'s value. */
static int run(struct error *err)
{
    static const struct arch arch = {.number = 75};
    const struct build_options options = {.toolchain = &toolchain,
                                          .archs = &arch,
                                          .arch_count = 1,
                                          .what_if_arch = arch,
                                          .folder = folder};
    *err = (struct error){0};
    return build_run(&build, &submission, &options, err);
}

static const struct build_target *built(void)
{
    struct error err;
    ck_assert_msg(run(&err) == 0, "%s", err.text);
    ck_assert_uint_eq(build.target_count, 1);
    return &build.targets[0];
}

static void assert_note(const char *name, const char *part)
{
    struct bytes note = fake_toolkit_note(&toolkit, name);
    ck_assert_msg(strstr(bytes_text(&note), part) != NULL, "expected \"%s\" in %s: %s", part, name,
                  bytes_text(&note));
    bytes_release(&note);
}

/* ---- As it should be ----------------------------------------------------------------------------
 */

START_TEST(a_build)
{
    ck_assert_int_eq(setenv("NVCC_APPEND_FLAGS", "-maxrregcount=24", 1), 0);
    ck_assert_int_eq(setenv("NVCC_PREPEND_FLAGS", "-G", 1), 0);
    ck_assert_int_eq(setenv("CPLUS_INCLUDE_PATH", "/elsewhere", 1), 0);
    set_up("echo \"$@\" > \"$here/nvcc-arguments\"; env > \"$here/environment\"\n"
           "cp \"$source\" \"$here/source\"; pwd > \"$here/where\"\n" FAKE_NVCC,
           "echo \"$@\" > \"$here/$source-arguments\"; cp \"$source\" \"$here\"\n" FAKE_PTXAS);
    const struct build_target *target = built();
    ck_assert(target->compiled && target->module != NULL);
    ck_assert_str_eq(target->problem, "");
    ck_assert_uint_eq(target->error_line, 0);
    ck_assert(target->image.assembled && target->image.readable);
    ck_assert_uint_eq(target->image.report.kernel_count, 2);
    ck_assert_uint_eq(target->image.parsed.kernel_count, 2);
    ck_assert(build.has_what_if && build.what_if.assembled);
    assert_note("nvcc-arguments",
                "-std=c++17 -O3 -arch=sm_75 -lineinfo -ptx -o device.ptx tiny.cu");
    assert_note("device.ptx-arguments", "-arch=sm_75 -v -w -o device.cubin device.ptx");
    assert_note("source", "// the source\r\nint main;");
    assert_note("where", folder);
    struct bytes environment = fake_toolkit_note(&toolkit, "environment");
    ck_assert_ptr_null(strstr(bytes_text(&environment), "NVCC"));
    ck_assert_ptr_null(strstr(bytes_text(&environment), "INCLUDE"));
    ck_assert_ptr_nonnull(strstr(bytes_text(&environment), "TMPDIR="));
    bytes_release(&environment);
    /* The what-if differs by one directive, in front of the body of `twice`. */
    struct bytes what_if = fake_toolkit_note(&toolkit, "what-if.ptx");
    const char *added = strstr(bytes_text(&what_if), "\n.maxntid 1024, 1, 1\n");
    ck_assert_ptr_nonnull(added);
    ck_assert_ptr_nonnull(strstr(added, "{\n\t.reg .pred"));
    ck_assert_ptr_nonnull(strstr(added, "_Z4pickPKfPfmi("));
    ck_assert_uint_eq(what_if.length, target->ptx.length + strlen("\n.maxntid 1024, 1, 1\n"));
    bytes_release(&what_if);
    tear_down();
}
END_TEST

START_TEST(several_architectures)
{
    static const struct arch archs[] = {
        {.number = 90}, {.number = 75}, {.number = 100, .suffix = 'a'}};
    set_up("echo $arch >> \"$here/archs\"; test $arch != sm_90 || { echo no >&2; exit 1; "
           "}\n" FAKE_NVCC,
           NULL);
    struct error err = {0};
    const struct build_options options = {.toolchain = &toolchain,
                                          .archs = archs,
                                          .arch_count = 3,
                                          .what_if_arch = archs[1],
                                          .folder = folder};
    ck_assert_msg(build_run(&build, &submission, &options, &err) == 0, "%s", err.text);
    for (size_t i = 0; i < COUNT_OF(archs); ++i) {
        ck_assert(arch_equal(build.targets[i].arch, archs[i]));
        ck_assert_int_eq(build.targets[i].compiled, i != 0);
    }
    ck_assert(build.has_what_if);
    assert_note("archs", "sm_90\n");
    assert_note("archs", "sm_75\n");
    assert_note("archs", "sm_100a\n");
    tear_down();
}
END_TEST

START_TEST(a_source_that_cannot_be_compiled)
{
    set_up("echo ran > \"$here/ran\"\n", NULL);
    (void)snprintf(submission.source.problem, sizeof submission.source.problem, "is empty");
    const struct build_target *target = built();
    ck_assert(!target->compiled && !build.has_what_if);
    ck_assert_str_eq(target->problem, "the file is empty");
    struct bytes note = fake_toolkit_note(&toolkit, "ran");
    ck_assert_uint_eq(note.length, 0);
    bytes_release(&note);
    tear_down();
}
END_TEST

/* ---- Compile errors
 * ------------------------------------------------------------------------------ */

/* clang-format off */
static const struct {
    const char *said; /* a printf format, for the shell */
    unsigned line;
    const char *kept, *dropped; /* parts of the words; NULL: none */
} errors[] = {
    {"tiny.cu(41): error: identifier \"foo\" is undefined\\n      foo = 1;\\n      ^\\n\\n1 error detected\\n",
     41, "      foo = 1;\n", "1 error detected"},
    {"tiny.cu(7): warning: odd\\ntiny.cu(9): error: bad\\ntiny.cu(11): error: worse\\n", 9,
     "tiny.cu(7): warning: odd\ntiny.cu(9): error: bad\n", NULL},
    {"tiny.cu:3:10: fatal error: x.h: No such file or directory\\n    3 | #include \"x.h\"\\n", 3,
     "    3 | #include", NULL},
    {"/etc/passwd(1): error: root:x:0:0\\n  root:x:0:0:root\\n  ^\\ntiny.cu(2): error: mine\\n", 2,
     "tiny.cu(2): error: mine", "root"},
    {"tiny.cu(2): error: mine\\n  mine\\nIn file included from /secret/file\\n  secret\\n", 2, "  mine\n",
     "secret"},
    {"other.cu(5): error: not ours\\n", 0, NULL, "not ours"},
    {"tiny.cu(5): note: nothing\\n", 0, "note", NULL},
    {"tiny.cu(0): error: zero\\ntiny.cu(x): error: what\\ntiny.cu(99999999999): error: far\\n", 0, NULL, "what"},
    {"nvcc fatal   : Unsupported\\n", 0, NULL, "nvcc"},
    {"", 0, NULL, NULL},
    {"tiny.cu(6): error: \\033[31mred\\033[0m \\377 \\001\\n", 6, "error: ?[31mred?[0m ? ?", "\033"},
    {"tiny.cu(6): error: a\\000b\\n", 6, "error: a?b", NULL},
};
/* clang-format on */

START_TEST(compile_error)
{
    char snippet[1000];
    (void)snprintf(snippet, sizeof snippet, "printf '%s' >&2\nexit 2\n", errors[_i].said);
    set_up(snippet, NULL);
    const struct build_target *target = built();
    ck_assert(!target->compiled && target->module == NULL && !build.has_what_if);
    ck_assert_str_eq(target->problem, "it does not compile");
    ck_assert_uint_eq(target->error_line, errors[_i].line);
    const char *words = bytes_text(&target->words);
    if (errors[_i].kept != NULL)
        ck_assert_msg(strstr(words, errors[_i].kept) != NULL, "%s", words);
    else
        ck_assert_str_eq(words, "");
    if (errors[_i].dropped != NULL)
        ck_assert_msg(strstr(words, errors[_i].dropped) == NULL, "%s", words);
    tear_down();
}
END_TEST

START_TEST(floods)
{
    set_up("yes 'tiny.cu(3): error: again and again' | head -c 9000000\nexit 1\n", NULL);
    const struct build_target *target = built();
    ck_assert_str_eq(target->problem, "it does not compile");
    ck_assert_uint_eq(target->error_line, 3);
    ck_assert(target->words.length > 3000 && target->words.length <= 4096);
    tear_down();
    set_up("yes 'remark' | head -c 9000000\n" FAKE_NVCC,
           "yes 'remark' | head -c 9000000 >&2\n" FAKE_PTXAS);
    ck_assert(built()->compiled);
    tear_down();
    set_up(NULL, "head -c 300000 /dev/zero | tr '\\0' e; echo error; exit 1\n");
    target = built();
    ck_assert(target->compiled && !target->image.assembled);
    ck_assert_uint_lt(strlen(target->image.problem), sizeof target->image.problem - 1);
    tear_down();
}
END_TEST

/* ---- Compilers that end badly
 * --------------------------------------------------------------------- */

/* clang-format off */
/* What becomes of a compiler that plays these tricks. */
static const struct {
    const char *nvcc, *ptxas;
    const char *problem, *image_problem; /* NULL: none */
    const char *error;                   /* of the machine; NULL: none */
} tricks[] = {
    /* a signal once: tried again */
    {"test -e \"$here/once\" || { touch \"$here/once\"; kill -9 $$; }\n" FAKE_NVCC, NULL, NULL, NULL, NULL},
    {NULL, "test -e \"$here/$source\" || { touch \"$here/$source\"; kill -9 $$; }\n" FAKE_PTXAS, NULL, NULL, NULL},
    {"test -e \"$here/once\" || { touch \"$here/once\"; exit 137; }\n" FAKE_NVCC, NULL, NULL, NULL, NULL},
    /* twice: this source's doing, since others compile */
    {"kill -9 $$", NULL, "signal 9", NULL, NULL},
    {"kill -SEGV $$", NULL, "makes the compiler crash (signal 11", NULL, NULL},
    {"exit 139", NULL, "makes the compiler crash (signal 11", NULL, NULL},
    {NULL, "kill -SEGV $$", NULL, "makes the compiler crash (signal 11", NULL},
    /* twice, and others do not compile either: the machine's */
    {"touch \"$here/broken\"; kill -9 $$", NULL, NULL, NULL, "cannot compile even an empty kernel here: no host compiler"},
    {"touch \"$here/broken\"; echo 'tiny.cu(1): error: x'; exit 1", NULL, NULL, NULL, "no host compiler"},
    {NULL, "touch \"$here/broken\"; echo error; exit 1", NULL, NULL, "no host compiler"},
    {"touch \"$here/broken\"\n" FAKE_NVCC, NULL, NULL, NULL, NULL}, /* nobody asked */
    /* nothing written */
    {":", NULL, NULL, NULL, "nvcc left no readable"},
    {NULL, ":", NULL, NULL, "ptxas left no readable"},
    {"mkdir \"$out\"", NULL, NULL, NULL, "nvcc left no readable"},
    {"ln -s /etc/passwd \"$out\"", NULL, NULL, NULL, "not a regular file"},
    {"mkfifo \"$out\"", NULL, NULL, NULL, "not a regular file"},
    /* too much written */
    {"truncate -s 33M \"$out\"", NULL, "more than 33554432 bytes of PTX", NULL, NULL},
    {"exec truncate -s 65M \"$out\"", NULL, "write a file of more than 64 MiB", NULL, NULL},
    {NULL, "exec truncate -s 65M \"$out\"", NULL, "write a file of more than 64 MiB", NULL},
    /* written, but no PTX */
    {"echo hello > \"$out\"", NULL, "its PTX cannot be read (line 1: ", NULL, NULL},
    {": > \"$out\"", NULL, "its PTX cannot be read", NULL, NULL},
    {"head -c 10000 /dev/urandom > \"$out\"", NULL, "its PTX cannot be read", NULL, NULL},
    /* ptxas says no */
    {NULL, "echo 'ptxas device.ptx, line 7; error   : Unknown \033[1msymbol'; exit 255\n", NULL,
     "ptxas refuses it: ptxas device.ptx, line 7; error   : Unknown ?[1msymbol", NULL},
    {NULL, "echo first; echo second error; exit 1\n", NULL, "ptxas refuses it: second error", NULL},
    {NULL, "exit 1\n", NULL, "ptxas refuses it: ", NULL},
    /* busy for ever */
    {"sleep 300", NULL, "still busy after 1 seconds and was stopped", NULL, NULL},
    {"sleep 300 & sleep 300", NULL, "still busy after 1 seconds and was stopped", NULL, NULL},
    {NULL, "exec >&- 2>&-; sleep 300", NULL, "still busy after 1 seconds and was stopped", NULL},
};
/* clang-format on */

START_TEST(trick)
{
    struct error err;
    set_up(tricks[_i].nvcc, tricks[_i].ptxas);
    bool sleeps = (tricks[_i].nvcc != NULL && strstr(tricks[_i].nvcc, "sleep") != NULL) ||
                  (tricks[_i].ptxas != NULL && strstr(tricks[_i].ptxas, "sleep") != NULL);
    if (sleeps)
        toolchain.compile_seconds = 1;
    int status = run(&err);
    if (tricks[_i].error != NULL) {
        ck_assert_int_eq(status, -1);
        ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
        ck_assert_msg(strstr(err.text, tricks[_i].error) != NULL, "%s", err.text);
        ck_assert_ptr_null(build.targets);
        tear_down();
        return;
    }
    ck_assert_msg(status == 0, "%s", err.text);
    const struct build_target *target = &build.targets[0];
    ck_assert_msg(target->compiled == (tricks[_i].problem == NULL), "%s", target->problem);
    ck_assert_msg(strstr(target->problem, tricks[_i].problem != NULL ? tricks[_i].problem : "") !=
                      NULL,
                  "%s", target->problem);
    bool assembled = tricks[_i].problem == NULL && tricks[_i].image_problem == NULL;
    ck_assert_msg(target->image.assembled == assembled, "%s", target->image.problem);
    if (tricks[_i].image_problem != NULL)
        ck_assert_msg(strstr(target->image.problem, tricks[_i].image_problem) != NULL, "%s",
                      target->image.problem);
    tear_down();
}
END_TEST

START_TEST(a_compiler_that_is_gone)
{
    struct error err;
    set_up(NULL, NULL);
    ck_assert_int_eq(unlink(toolkit.ptxas), 0);
    ck_assert_int_eq(run(&err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "cannot start") != NULL, "%s", err.text);
    tear_down();
    set_up(NULL, NULL);
    (void)snprintf(folder, sizeof folder, "/nowhere");
    ck_assert_int_eq(run(&err), -1);
    ck_assert_msg(strstr(err.text, "cannot make /nowhere/sm_75") != NULL, "%s", err.text);
    tear_down();
}
END_TEST

/* What ptxas says in a language that we do not know is no number, and no trouble here. */
START_TEST(foreign_words)
{
    set_up(NULL, "echo 'ptxas: tutto bene' >&2\ncp \"$here/module.cubin\" \"$out\"\n");
    const struct build_target *target = built();
    ck_assert(target->image.assembled && target->image.readable);
    ck_assert_uint_eq(target->image.report.kernel_count, 0);
    tear_down();
    set_up(NULL, "cat \"$here/report.log\" >&2\necho 'no ELF' > \"$out\"\n");
    target = built();
    ck_assert(target->image.assembled && !target->image.readable);
    ck_assert_uint_eq(target->image.report.kernel_count, 2);
    tear_down();
}
END_TEST

/* ---- The what-if
 * --------------------------------------------------------------------------------- */

static void set_module(const char *text)
{
    fake_toolkit_add(&toolkit, "module.ptx", text, strlen(text));
}

START_TEST(no_what_if)
{
    static const struct {
        const char *module, *ptxas, *problem;
    } rows[] = {
        {PTX_HEADER PTX_PICK, NULL, "there is no kernel called twice"},
        {PTX_HEADER ".visible .entry _Z5twicePKfPfm(.param .u64 a, .param .u64 b, .param .u64 c)\n"
                    ".maxntid 128, 1, 1 { ret; }\n",
         NULL, "twice carries launch bounds of its own: undo that edit"},
        {PTX_HEADER ".visible .entry _Z5twicePKfPfm(.param .u64 a, .param .u64 b, .param .u64 c)\n"
                    ".reqntid 128, 1, 1 { ret; }\n",
         NULL, "twice carries launch bounds of its own"},
        {PTX_HEADER PTX_TWICE,
         "test $source = device.ptx || { echo 'error: no'; exit 1; }\n" FAKE_PTXAS,
         "ptxas refuses it: error: no"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        set_up(NULL, rows[i].ptxas);
        set_module(rows[i].module);
        ck_assert(built()->image.assembled);
        ck_assert(!build.has_what_if);
        ck_assert_msg(strstr(build.what_if_problem, rows[i].problem) != NULL, "%s",
                      build.what_if_problem);
        tear_down();
    }
}
END_TEST

/* A compiler that was got hold of may leave links for us to write through. */
START_TEST(links_are_not_written_through)
{
    struct error err;
    char target[600];
    set_up("ln -s \"$here/victim\" what-if.ptx\n" FAKE_NVCC, NULL);
    (void)snprintf(target, sizeof target, "%s/bin/victim", toolkit.home);
    testing_write(target, "mine", 4);
    ck_assert_int_eq(run(&err), -1);
    ck_assert_msg(strstr(err.text, "what-if.ptx") != NULL, "%s", err.text);
    assert_note("victim", "mine");
    tear_down();
}
END_TEST

Suite *suite_build(void)
{
    Suite *suite = suite_create("build");
    TCase *tests = tcase_create("build");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_build);
    tcase_add_test(tests, several_architectures);
    tcase_add_test(tests, a_source_that_cannot_be_compiled);
    tcase_add_loop_test(tests, compile_error, 0, COUNT_OF(errors));
    tcase_add_test(tests, floods);
    tcase_add_loop_test(tests, trick, 0, COUNT_OF(tricks));
    tcase_add_test(tests, a_compiler_that_is_gone);
    tcase_add_test(tests, foreign_words);
    tcase_add_test(tests, no_what_if);
    tcase_add_test(tests, links_are_not_written_through);
    suite_add_tcase(suite, tests);
    return suite;
}

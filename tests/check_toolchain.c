/* check_toolchain.c - which toolkit is found, and what is believed of what it says. */
#include "testing.h"

#include <limits.h>
#include <sys/stat.h>

#include "support_toolkit.h"
#include "toolchain.h"

static struct fake_toolkit toolkit;
static char place[512]; /* for links, wrappers and paths of each test */

static void set_up(void)
{
    fake_toolkit_make(&toolkit, NULL, NULL);
    support_new_folder(place);
    ck_assert_int_eq(unsetenv("CUDA_HOME"), 0);
    ck_assert_int_eq(setenv("PATH", "/usr/bin:/bin", 1), 0);
}

static char *real(const char *path)
{
    char *resolved = realpath(path, NULL);
    ck_assert_msg(resolved != NULL, "%s", path);
    return resolved;
}

/* Finds, and expects the toolkit's own nvcc and ptxas, found as said. */
static void assert_found(const char *option, const char *how)
{
    struct toolchain found;
    struct error err = {0};
    ck_assert_msg(toolchain_find(&found, option, &err) == 0, "%s", err.text);
    AUTO_FREE char *nvcc = real(toolkit.nvcc), *ptxas = real(toolkit.ptxas);
    ck_assert_str_eq(found.nvcc, nvcc);
    ck_assert_str_eq(found.ptxas, ptxas);
    ck_assert_str_eq(found.found, how);
    toolchain_release(&found);
}

static void assert_not_found(const char *option, const char *why)
{
    struct toolchain found;
    struct error err = {0};
    ck_assert_int_eq(toolchain_find(&found, option, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, why) != NULL, "expected \"%s\" in: %s", why, err.text);
    toolchain_release(&found);
}

static void set_path(const char *folder)
{
    char path[2048];
    (void)snprintf(path, sizeof path, "%s:/usr/bin:/bin", folder);
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
}

/* ---- By option ------------------------------------------------------------------------------- */

START_TEST(by_option)
{
    assert_found(toolkit.nvcc, "--nvcc");
    ck_assert_int_eq(setenv("CUDA_HOME", "/nowhere", 1), 0);
    assert_found(toolkit.nvcc, "--nvcc"); /* it outweighs the environment */
    ck_assert_int_eq(chdir(toolkit.home), 0);
    assert_found("bin/nvcc", "--nvcc");
    assert_found("./bin/../bin/nvcc", "--nvcc");
}
END_TEST

START_TEST(bad_option)
{
    const char *plain = support_path(place, "plain");
    testing_write(plain, "x", 1);
    assert_not_found("/nowhere/nvcc", "/nowhere/nvcc is no program");
    assert_not_found("", "no program");
    assert_not_found(plain, "no program");
    assert_not_found(toolkit.home, "a folder: name the program in it");
    ck_assert_int_eq(symlink("nothing", support_path(place, "dangling")), 0);
    assert_not_found(support_path(place, "dangling"), "no program");
}
END_TEST

/* ---- By the environment ---------------------------------------------------------------------- */

START_TEST(by_home)
{
    ck_assert_int_eq(setenv("CUDA_HOME", toolkit.home, 1), 0);
    assert_found(NULL, "CUDA_HOME");
    ck_assert_int_eq(setenv("CUDA_HOME", "/nowhere", 1), 0);
    assert_not_found(NULL, "CUDA_HOME is /nowhere");
    /* Compilers run in another folder: what is relative has to be made absolute. */
    ck_assert_int_eq(chdir(toolkit.home), 0);
    ck_assert_int_eq(setenv("CUDA_HOME", ".", 1), 0);
    assert_found(NULL, "CUDA_HOME");
    ck_assert_int_eq(setenv("CUDA_HOME", "", 1), 0);
    set_path(support_path(toolkit.home, "bin"));
    assert_found(NULL, "PATH");
}
END_TEST

START_TEST(by_path)
{
    set_path(support_path(toolkit.home, "bin"));
    assert_found(NULL, "PATH");
    /* What is no program is passed over, as a shell does: a folder, a plain file. */
    support_folder(support_path(place, "one/nvcc"));
    support_folder(support_path(place, "two"));
    testing_write(support_path(place, "two/nvcc"), "x", 1);
    char path[3000];
    (void)snprintf(path, sizeof path, "::relative:%s:%s:%s", support_path(place, "one"),
                   support_path(place, "two"), support_path(toolkit.home, "bin"));
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
    assert_found(NULL, "PATH");
}
END_TEST

/* Whoever controls the current folder must not become the compiler. */
START_TEST(current_folder_is_not_searched)
{
    struct toolchain found;
    struct error err = {0};
    ck_assert_int_eq(chdir(support_path(toolkit.home, "bin")), 0);
    ck_assert_int_eq(setenv("PATH", ":.:bin:", 1), 0);
    bool there = toolchain_find(&found, NULL, &err) == 0;
    ck_assert_int_eq(there, access("/usr/local/cuda/bin/nvcc", X_OK) == 0);
    if (there)
        ck_assert_str_eq(found.found, "/usr/local/cuda");
    else
        ck_assert_msg(strstr(err.text, "no nvcc on the PATH") != NULL, "%s", err.text);
    toolchain_release(&found);
}
END_TEST

/* ---- Links and wrappers ---------------------------------------------------------------------- */

/* nvcc looks for the rest of its toolkit beside the name that it was called by. */
START_TEST(links_are_resolved)
{
    ck_assert_int_eq(symlink(toolkit.nvcc, support_path(place, "nvcc")), 0);
    ck_assert_int_eq(symlink("nvcc", support_path(place, "nvcc-13")), 0);
    set_path(place);
    assert_found(NULL, "PATH");
    assert_found(support_path(place, "nvcc-13"), "--nvcc");
    char home[600];
    (void)snprintf(home, sizeof home, "%s/cuda", place);
    ck_assert_int_eq(symlink(toolkit.home, home), 0);
    ck_assert_int_eq(setenv("CUDA_HOME", home, 1), 0);
    assert_found(NULL, "CUDA_HOME");
}
END_TEST

/* ccache is called by the name of the compiler that it stands for. */
START_TEST(a_masquerade_keeps_its_name)
{
    struct toolchain found;
    struct error err = {0};
    support_script(support_path(place, "ccache"), "#!/bin/sh\n");
    ck_assert_int_eq(symlink("ccache", support_path(place, "nvcc")), 0);
    char path[2000];
    (void)snprintf(path, sizeof path, "%s:%s", place, support_path(toolkit.home, "bin"));
    ck_assert_int_eq(setenv("PATH", path, 1), 0);
    ck_assert_msg(toolchain_find(&found, NULL, &err) == 0, "%s", err.text);
    AUTO_FREE char *folder = real(place), *ptxas = real(toolkit.ptxas);
    ck_assert_str_eq(found.nvcc, support_path(folder, "nvcc"));
    ck_assert_str_eq(found.ptxas, ptxas); /* on the PATH */
    toolchain_release(&found);
}
END_TEST

/* Debian has a script /usr/bin/nvcc and a link /usr/bin/ptxas. */
START_TEST(wrapper_with_ptxas_beside_it)
{
    struct toolchain found;
    struct error err = {0};
    char script[1200];
    (void)snprintf(script, sizeof script, "#!/bin/sh\nexec '%s' \"$@\"\n", toolkit.nvcc);
    support_script(support_path(place, "nvcc"), script);
    ck_assert_int_eq(symlink(toolkit.ptxas, support_path(place, "ptxas")), 0);
    set_path(place);
    ck_assert_msg(toolchain_find(&found, NULL, &err) == 0, "%s", err.text);
    AUTO_FREE char *folder = real(place);
    ck_assert_str_eq(found.nvcc, support_path(folder, "nvcc"));
    ck_assert_str_eq(found.ptxas, support_path(folder, "ptxas"));
    ck_assert_msg(toolchain_ask(&found, &err) == 0, "%s", err.text);
    ck_assert_str_eq(found.version, "13.0.88");
    toolchain_release(&found);
}
END_TEST

START_TEST(without_ptxas)
{
    support_script(support_path(place, "nvcc"), "#!/bin/sh\n");
    ck_assert_int_eq(setenv("PATH", place, 1), 0);
    assert_not_found(NULL, "no ptxas beside it");
    support_folder(support_path(place, "ptxas")); /* a folder is no program */
    assert_not_found(NULL, "no ptxas beside it");
}
END_TEST

/* ---- What nvcc says -------------------------------------------------------------------------- */

#define BANNER "nvcc: NVIDIA (R) Cuda compiler driver\nBuilt on Wed_Aug_20\n"
#define LISTED "echo compute_75; echo compute_80"

/* clang-format off */
static const struct {
    const char *version, *archs; /* shell */
    const char *said;            /* NULL: refused */
    unsigned major, minor;
    size_t count;
} answers[] = {
    {"printf '" BANNER "Cuda compilation tools, release 13.0, V13.0.88\nBuild x/y\n'", LISTED,
     "13.0.88", 13, 0, 2},
    {"printf 'Cuda compilation tools, release 12.4, V12.4.131\\r\\n'",
     "printf 'compute_50\\r\\ncompute_90\\r\\n'", "12.4.131", 12, 4, 2},
    {"echo ', V12.0'", LISTED, "12.0", 12, 0, 2},
    {"echo ', V11.8.89'; echo ', V99.9.9'", LISTED, "11.8.89", 11, 8, 2},
    {"echo 'release 13.0'", LISTED, NULL, 0, 0, 0},
    {"echo ', V'", LISTED, NULL, 0, 0, 0},
    {"echo ', V13'", LISTED, NULL, 0, 0, 0},
    {"echo ', V13.'", LISTED, NULL, 0, 0, 0},
    {"echo ', V.13'", LISTED, NULL, 0, 0, 0},
    {"echo ', V99999999999999999999.1'", LISTED, NULL, 0, 0, 0},
    {"echo ', V13.0000000000000000000000000000000000001'", LISTED, NULL, 0, 0, 0},
    {":", LISTED, NULL, 0, 0, 0},
    {"echo ', V13.0.88'; exit 1", LISTED, NULL, 0, 0, 0},
    {"echo ', V13.0.88'; kill -9 $$", LISTED, NULL, 0, 0, 0},
    {"head -c 300000 /dev/zero", LISTED, NULL, 0, 0, 0},
    {"echo ', V13.0.88'", ":", NULL, 0, 0, 0},
    {"echo ', V13.0.88'", "echo all", NULL, 0, 0, 0},
    {"echo ', V13.0.88'", "exit 1", NULL, 0, 0, 0},
    {"echo ', V13.0.88'", "echo hello; echo compute_120; echo; echo compute_75; echo sm_x",
     "13.0.88", 13, 0, 2},
    {"echo ', V13.0.88'", "seq 100 299 | sed s/^/compute_/", "13.0.88", 13, 0, TOOLCHAIN_ARCHS_MAX},
};
/* clang-format on */

START_TEST(what_nvcc_says)
{
    char script[1000];
    (void)snprintf(script, sizeof script,
                   "#!/bin/sh\ncase $1 in --version) %s;; --list-gpu-arch) %s;; esac\n",
                   answers[_i].version, answers[_i].archs);
    support_script(toolkit.nvcc, script);
    struct toolchain found;
    struct error err = {0};
    ck_assert_msg(toolchain_find(&found, toolkit.nvcc, &err) == 0, "%s", err.text);
    int status = toolchain_ask(&found, &err);
    ck_assert_msg(status == (answers[_i].said == NULL ? -1 : 0), "%s", err.text);
    ck_assert_int_eq(err.kind, answers[_i].said == NULL ? ERROR_INFRASTRUCTURE : ERROR_NONE);
    if (status == 0) {
        ck_assert_str_eq(found.version, answers[_i].said);
        ck_assert_uint_eq(found.major, answers[_i].major);
        ck_assert_uint_eq(found.minor, answers[_i].minor);
        ck_assert_uint_eq(found.arch_count, answers[_i].count);
        for (size_t i = 1; i < found.arch_count; ++i)
            ck_assert_uint_lt(found.archs[i - 1].number, found.archs[i].number);
    }
    toolchain_release(&found);
}
END_TEST

START_TEST(what_is_known)
{
    struct toolchain known = {.major = 13, .minor = 0, .arch_count = 4};
    known.archs[0] = (struct arch){.number = 75};
    known.archs[1] = (struct arch){.number = 89};
    known.archs[2] = (struct arch){.number = 90};
    known.archs[3] = (struct arch){.number = 120};
    static const struct {
        const char *arch;
        bool now, by_12_8;
    } rows[] = {
        {"sm_75", true, true},    {"sm_76", false, false},  {"sm_75a", false, false},
        {"sm_89a", false, false}, {"sm_90a", true, true},   {"sm_90f", false, false},
        {"sm_120a", true, true},  {"sm_120f", true, false}, {"sm_121a", false, false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct arch arch;
        ck_assert(arch_parse(rows[i].arch, &arch));
        known.major = 13;
        known.minor = 0;
        ck_assert_msg(toolchain_knows(&known, arch) == rows[i].now, "%s", rows[i].arch);
        known.major = 12;
        known.minor = 8;
        ck_assert_msg(toolchain_knows(&known, arch) == rows[i].by_12_8, "%s by 12.8", rows[i].arch);
    }
    if (!testing_have_toolkit())
        return;
    struct toolchain ours;
    struct error err = {0};
    char nvcc[4096];
    (void)snprintf(nvcc, sizeof nvcc, "%s/bin/nvcc", testing_cuda_home());
    ck_assert_msg(toolchain_find(&ours, nvcc, &err) == 0 && toolchain_ask(&ours, &err) == 0, "%s",
                  err.text);
    ck_assert(ours.major >= 12 && ours.arch_count > 0);
    toolchain_release(&ours);
}
END_TEST

/* ---- Another gcc ----------------------------------------------------------------------------- */

/* What doctor advises where the system's gcc is too new for nvcc: shown inside, as the link it is.
 */
START_TEST(gcc_by_a_link)
{
    static const struct {
        const char *target; /* of a link called gcc */
        bool shown;
    } rows[] = {{"/usr/bin/gcc", true}, {"/usr/bin/env", false}, {"/nowhere", false}};
    const char *link = support_path(place, "gcc");
    AUTO_FREE char *gcc = real("/usr/bin/gcc");
    set_path(place);
    for (size_t i = 0; i < COUNT_OF(rows); ++i) {
        struct toolchain found;
        struct error err = {0};
        ck_assert_int_eq(symlink(rows[i].target, link), 0);
        ck_assert_msg(toolchain_find(&found, toolkit.nvcc, &err) == 0, "%s", err.text);
        const struct sandbox_view view = toolchain_view(&found, NULL);
        if (rows[i].shown) {
            ck_assert_str_eq(view.link, link);
            ck_assert_str_eq(view.link_target, gcc);
        } else {
            ck_assert_ptr_null(view.link);
        }
        toolchain_release(&found);
        ck_assert_int_eq(unlink(link), 0);
    }
}
END_TEST

/* In the sandbox that this machine has, gcc compiles C++ when called by that link. */
START_TEST(gcc_by_a_link_compiles)
{
    struct toolchain found;
    struct error err = {0};
    ck_assert_int_eq(symlink("/usr/bin/gcc", support_path(place, "gcc")), 0);
    set_path(place);
    ck_assert_msg(toolchain_find(&found, toolkit.nvcc, &err) == 0, "%s", err.text);
    found.sandbox = *sandbox_probe();
    char folder[512], script[1200];
    support_new_folder(folder);
    testing_write(support_path(folder, "a.cc"), "int a;\n", 7);
    (void)snprintf(script, sizeof script, "exec '%s/gcc' -E a.cc", place);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct toolchain_environment environment;
    const struct sandbox_view view = toolchain_view(&found, folder);
    const struct process_spec spec = {
        .argv = argv,
        .environment = toolchain_environment(&environment, sandbox_folder(&found.sandbox, folder)),
        .wall_ns = INT64_C(60000000000),
        .output_limit = 10000,
        .merge_error = true};
    struct process_result result;
    ck_assert_msg(sandbox_run(&result, &found.sandbox, &spec, &view, &err) == 0, "%s", err.text);
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.output));
    process_result_release(&result);
    toolchain_release(&found);
}
END_TEST

/* Nothing of our own environment but the PATH goes on to a compiler. */
START_TEST(compile_environment)
{
    struct toolchain_environment storage;
    char long_path[6000];
    ck_assert_int_eq(setenv("NVCC_APPEND_FLAGS", "-G", 1), 0);
    ck_assert_int_eq(setenv("PATH", "/a:/b", 1), 0);
    const char *const *entries = toolchain_environment(&storage, "/private");
    ck_assert_str_eq(entries[0], "PATH=/a:/b");
    ck_assert_str_eq(entries[1], "TMPDIR=/private");
    ck_assert_str_eq(entries[2], "LC_ALL=C");
    ck_assert_ptr_null(entries[3]);
    memset(long_path, 'p', sizeof long_path);
    long_path[sizeof long_path - 1] = '\0';
    ck_assert_int_eq(setenv("PATH", long_path, 1), 0);
    ck_assert_str_eq(toolchain_environment(&storage, "/private")[0], "PATH=/usr/bin:/bin");
    ck_assert_int_eq(unsetenv("PATH"), 0);
    ck_assert_str_eq(toolchain_environment(&storage, "/private")[0], "PATH=/usr/bin:/bin");
}
END_TEST

Suite *suite_toolchain(void)
{
    Suite *suite = suite_create("toolchain");
    TCase *tests = tcase_create("toolchain");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, by_option);
    tcase_add_test(tests, bad_option);
    tcase_add_test(tests, by_home);
    tcase_add_test(tests, by_path);
    tcase_add_test(tests, current_folder_is_not_searched);
    tcase_add_test(tests, links_are_resolved);
    tcase_add_test(tests, a_masquerade_keeps_its_name);
    tcase_add_test(tests, wrapper_with_ptxas_beside_it);
    tcase_add_test(tests, without_ptxas);
    tcase_add_loop_test(tests, what_nvcc_says, 0, COUNT_OF(answers));
    tcase_add_test(tests, what_is_known);
    tcase_add_test(tests, gcc_by_a_link);
    tcase_add_test(tests, gcc_by_a_link_compiles);
    tcase_add_test(tests, compile_environment);
    suite_add_tcase(suite, tests);
    return suite;
}

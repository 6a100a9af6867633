/* check_package.c - the Debian package and the completions. `make check` looks at a package that
 * was made from the staged installation, `make check-package` at the one that debhelper built. */
#include "testing.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>

#include "files.h"
#include "support_toolkit.h"
#include "writers.h"

#define VERSION_START "spillway "

static char root[512];

static struct process_result run(const char *const *argv, const char *const *environment,
                                 const char *directory)
{
    static const char *const usual[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8",
                                        NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment != NULL ? environment : usual,
                                      .directory = directory,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = (size_t)8 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    return result;
}

static bool says(const struct process_result *result, const char *words)
{
    return strstr(bytes_text(&result->output), words) != NULL ||
           strstr(bytes_text(&result->error), words) != NULL;
}

/* ---- Install, use, remove -------------------------------------------------------------------- */

/* Owned; NULL when there is none in this build. */
static char *package_path(void)
{
    const char *built = getenv("SPILLWAY_DEB"), *staged = getenv("SPILLWAY_STAGED");
    if (built != NULL)
        return strdup(built);
    AUTO_FREE char *folder = staged == NULL ? NULL : path_join(staged, "package");
    DIR *listing = folder == NULL ? NULL : opendir(folder);
    char *path = NULL;
    for (const struct dirent *entry; listing != NULL && (entry = readdir(listing)) != NULL;)
        if (strstr(entry->d_name, ".deb") != NULL && path == NULL)
            path = path_join(folder, entry->d_name);
    if (listing != NULL)
        (void)closedir(listing);
    return path;
}

static struct process_result dpkg(const char *action, const char *what)
{
    char option[600], log[600];
    (void)snprintf(option, sizeof option, "--root=%s", root);
    (void)snprintf(log, sizeof log, "--log=%s/dpkg.log", root);
    /* Only this package is in that root: what it depends on is the test machine's. */
    const char *const argv[] = {"/usr/bin/dpkg", option, log, "--force-depends",
                                action,          what,   NULL};
    struct process_result result = run(argv, NULL, "/");
    ck_assert_msg(result.exit_code == 0, "dpkg %s: %s%s", action, bytes_text(&result.output),
                  bytes_text(&result.error));
    return result;
}

static size_t files_left;
static char last_left[1024];

static int count_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)where;
    if (type == FTW_F || type == FTW_SL) {
        ++files_left;
        (void)snprintf(last_left, sizeof last_left, "%s", path);
    }
    return 0;
}

START_TEST(it_installs_grades_and_goes)
{
    static const char *const files[] = {
        "usr/bin/spillway", "usr/share/spillway/labs/day17-registers/hints",
        "usr/share/bash-completion/completions/spillway",
        "usr/share/fish/vendor_completions.d/spillway.fish", "usr/share/pkgconfig/spillway.pc"};
    AUTO_FREE char *package = package_path();
    if (package == NULL || access("/usr/bin/dpkg", X_OK) != 0)
        TEST_SKIP("no package was made here");
    if (geteuid() != 0)
        TEST_SKIP("dpkg installs into a folder for root alone");
    support_folder(support_path(root, "var/lib/dpkg/updates"));
    support_folder(support_path(root, "var/lib/dpkg/info"));
    testing_write(support_path(root, "var/lib/dpkg/status"), "", 0);
    testing_write(support_path(root, "var/lib/dpkg/available"), "", 0);
    struct process_result result = dpkg("--install", package);
    process_result_release(&result);
    for (size_t i = 0; i < COUNT_OF(files); ++i)
        ck_assert_msg(access(support_path(root, files[i]), R_OK) == 0, "no %s", files[i]);

    AUTO_FREE char *program = strdup(support_path(root, "usr/bin/spillway"));
    result = run((const char *[]){program, "hint", "day17-registers", NULL}, NULL, "/");
    ck_assert_msg(says(&result, "question2"), "%s", bytes_text(&result.error));
    process_result_release(&result);
    if (testing_have_toolkit()) {
        char home[600], cache[600];
        (void)snprintf(home, sizeof home, "CUDA_HOME=%s", testing_cuda_home());
        (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s", testing_temporary_folder());
        AUTO_FREE char *starter =
            strdup(support_path(root, "usr/share/spillway/starter/day17-registers"));
        result = run((const char *[]){program, "grade", starter, "--executor", "emulator", NULL},
                     (const char *[]){"PATH=/usr/bin:/bin", home, cache, NULL}, "/");
        ck_assert_msg(says(&result, "\nScore: 25/100\n"), "%s%s", bytes_text(&result.output),
                      bytes_text(&result.error));
        process_result_release(&result);
    }

    result = dpkg("--purge", "spillway");
    process_result_release(&result);
    ck_assert_int_ne(access(program, F_OK), 0);
    AUTO_FREE char *usr = strdup(support_path(root, "usr"));
    files_left = 0;
    if (access(usr, F_OK) == 0)
        ck_assert_int_eq(nftw(usr, count_file, 16, FTW_PHYS), 0);
    ck_assert_msg(files_left == 0, "%zu files are left, such as %s", files_left, last_left);
}
END_TEST

/* ---- What it says of itself ------------------------------------------------------------------ */

static struct bytes read_text(const char *path)
{
    struct bytes text;
    ck_assert_msg(file_read(&text, path, (size_t)4 << 20, false) == FILE_READ, "%s", path);
    return text;
}

START_TEST(versions_agree)
{
    struct bytes changelog = read_text("packaging/debian/changelog");
    struct process_result version = testing_spillway((const char *[]){"--version", NULL}, NULL);
    char expected[80];
    const char *number = bytes_text(&version.output) + strlen(VERSION_START);
    (void)snprintf(expected, sizeof expected, "spillway (%.*s-", (int)strcspn(number, "\n"),
                   number);
    ck_assert_msg(strncmp(bytes_text(&changelog), expected, strlen(expected)) == 0, "%s", expected);
    process_result_release(&version);
    bytes_release(&changelog);
}
END_TEST

/* What a build needs is in packaging/deps: the package says the same. */
START_TEST(build_depends_are_those_of_deps)
{
    struct bytes deps = read_text("packaging/deps"),
                 control = read_text("packaging/debian/control");
    size_t libraries = 0;
    char *rest = deps.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        if (strncmp(line, "need lib", 8) != 0 || strstr(line, "-dev ") == NULL)
            continue;
        char *name = line + strlen("need ");
        name[strcspn(name, " ")] = '\0';
        ck_assert_msg(strstr(bytes_text(&control), name) != NULL, "Build-Depends lacks %s", name);
        ++libraries;
    }
    ck_assert_uint_ge(libraries, 3);
    bytes_release(&deps);
    bytes_release(&control);
}
END_TEST

/* A source archive, from a repository and from where there is none. */
START_TEST(dist_holds_the_sources)
{
    AUTO_FREE char *file = strdup(support_path(root, "dist.tar.gz"));
    AUTO_FREE char *script = realpath("packaging/dist", NULL);
    struct process_result result;
    for (int round = 0; round < 2; ++round) {
        AUTO_FREE char *unpacked = strdup(support_path(root, "spillway-x"));
        result = run((const char *[]){"/bin/sh", script, file, "spillway-x", NULL}, NULL,
                     round == 0 ? NULL : unpacked);
        ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
        process_result_release(&result);
        result = run((const char *[]){"/usr/bin/tar", "-tzf", file, NULL}, NULL, NULL);
        ck_assert(says(&result, "spillway-x/Makefile\n"));
        ck_assert(says(&result, "spillway-x/packaging/debian/control\n"));
        ck_assert(!says(&result, "spillway-x/build/"));
        process_result_release(&result);
        if (round > 0)
            break;
        result = run((const char *[]){"/usr/bin/tar", "-C", root, "-xzf", file, NULL}, NULL, NULL);
        ck_assert_int_eq(result.exit_code, 0);
        process_result_release(&result);
        support_folder(support_path(unpacked, "build"));
        testing_write(support_path(unpacked, "build/x"), "", 0);
    }
}
END_TEST

/* ---- Options: tables, help, completions ------------------------------------------------------ */

static bool offers(const char *text, const char *option)
{
    size_t length = strlen(option);
    for (const char *at = text; (at = strstr(at, option)) != NULL; at += length)
        if (strchr(" \n\t", at[length]) != NULL && (at == text || strchr(" \n\t", at[-1]) != NULL))
            return true;
    return false;
}

struct names {
    char items[40][40];
    size_t count;
};

static void commands(struct names *names)
{
    struct process_result help = testing_spillway((const char *[]){"--help", NULL}, NULL);
    const char *line = strstr(bytes_text(&help.output), "Commands:\n");
    ck_assert_ptr_nonnull(line);
    names->count = 0;
    for (line = strchr(line, '\n') + 1; line[0] == ' '; line = strchr(line, '\n') + 1) {
        ck_assert_uint_lt(names->count, COUNT_OF(names->items));
        (void)snprintf(names->items[names->count++], sizeof names->items[0], "%.*s",
                       (int)strcspn(line + 2, " "), line + 2);
    }
    process_result_release(&help);
}

/* The options in the getopt tables of cmd_NAME.c, and the writers' where they are added. */
static void options_of(struct names *names, const char *command)
{
    char path[100];
    (void)snprintf(path, sizeof path, "grader/cmd_%s.c", command);
    struct bytes source = read_text(path);
    names->count = 0;
    for (const char *at = bytes_text(&source); (at = strstr(at, "{\"")) != NULL; ++at) {
        size_t length = strcspn(at + 2, "\"");
        const char *kind = at + 2 + length;
        if (*kind != '"')
            continue;
        kind += 1 + strspn(kind + 1, ", \n");
        if (strncmp(kind, "required_argument", 17) != 0 && strncmp(kind, "no_argument", 11) != 0)
            continue;
        ck_assert_uint_lt(names->count, COUNT_OF(names->items));
        (void)snprintf(names->items[names->count++], sizeof names->items[0], "--%.*s", (int)length,
                       at + 2);
    }
    if (strstr(bytes_text(&source), "writers_options(") != NULL)
        for (size_t i = 0; i < writer_count; ++i) {
            ck_assert_uint_lt(names->count, COUNT_OF(names->items));
            (void)snprintf(names->items[names->count++], sizeof names->items[0], "--%s",
                           writer_table[i].option);
        }
    bytes_release(&source);
}

START_TEST(help_lists_every_option_of_the_tables)
{
    struct names names = {0}, options = {0};
    size_t seen = 0;
    commands(&names);
    for (size_t i = 0; i < names.count; ++i) {
        struct process_result help =
            testing_spillway((const char *[]){names.items[i], "--help", NULL}, NULL);
        options_of(&options, names.items[i]);
        for (size_t k = 0; k < options.count; ++k)
            ck_assert_msg(strcmp(options.items[k], "--help") == 0 ||
                              offers(bytes_text(&help.output), options.items[k]),
                          "`spillway %s --help` does not list %s", names.items[i],
                          options.items[k]);
        seen += options.count;
        process_result_release(&help);
    }
    ck_assert_uint_gt(seen, 40);
}
END_TEST

/* The file that `make install` put there; owned. NULL: not staged in this build. */
static char *installed(const char *name)
{
    const char *staged = getenv("SPILLWAY_STAGED");
    AUTO_FREE char *share = staged == NULL ? NULL : path_join(staged, "installed/usr/share");
    return share == NULL ? NULL : path_join(share, name);
}

/* What a shell offers for `spillway COMMAND --`, one a line. */
static struct process_result offered(const char *shell, const char *file, const char *words)
{
    char script[2000], path[700];
    const char *binary = testing_binary();
    (void)snprintf(path, sizeof path, "PATH=%.*s:/usr/bin:/bin",
                   (int)(strrchr(binary, '/') - binary), binary);
    if (strcmp(shell, "/usr/bin/fish") == 0)
        (void)snprintf(script, sizeof script, "source %s; complete -C 'spillway %s'", file, words);
    else
        (void)snprintf(script, sizeof script,
                       "compopt() { :; }; . %s; COMP_WORDS=(spillway); line=('%s'); "
                       "IFS=' ' read -r -a more <<<\"${line[0]}\"; COMP_WORDS+=(\"${more[@]}\"); "
                       "[[ '%s' != *' ' ]] || COMP_WORDS+=(''); "
                       "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _spillway; "
                       "printf '%%s\\n' \"${COMPREPLY[@]}\"",
                       file, words, words);
    char home[600];
    (void)snprintf(home, sizeof home, "HOME=%s", root);
    return run((const char *[]){shell, "-c", script, NULL},
               (const char *[]){path, home, "LC_ALL=C.UTF-8", NULL}, root);
}

static const struct {
    const char *shell, *file;
} shells[] = {
    {"/bin/bash", "bash-completion/completions/spillway"},
    {"/usr/bin/fish", "fish/vendor_completions.d/spillway.fish"},
};

START_TEST(completions_offer_every_option)
{
    AUTO_FREE char *file = installed(shells[_i].file);
    if (file == NULL || access(file, R_OK) != 0)
        TEST_SKIP("nothing is installed in this build");
    if (access(shells[_i].shell, X_OK) != 0)
        TEST_SKIP("no %s", shells[_i].shell);
    struct names names = {0}, options = {0};
    commands(&names);
    struct process_result result = offered(shells[_i].shell, file, " ");
    for (size_t i = 0; i < names.count; ++i)
        ck_assert_msg(offers(bytes_text(&result.output), names.items[i]), "%s is not offered: %s%s",
                      names.items[i], bytes_text(&result.output), bytes_text(&result.error));
    process_result_release(&result);
    for (size_t i = 0; i < names.count; ++i) {
        char words[80];
        (void)snprintf(words, sizeof words, "%s --", names.items[i]);
        result = offered(shells[_i].shell, file, words);
        options_of(&options, names.items[i]);
        for (size_t k = 0; k < options.count; ++k)
            ck_assert_msg(offers(bytes_text(&result.output), options.items[k]),
                          "%s of %s is not offered: %s%s", options.items[k], names.items[i],
                          bytes_text(&result.output), bytes_text(&result.error));
        process_result_release(&result);
    }
    result = offered(shells[_i].shell, file, "grade --lab ");
    ck_assert_msg(offers(bytes_text(&result.output), "day17-registers"), "%s",
                  bytes_text(&result.output));
    process_result_release(&result);
}
END_TEST

/* Help describes these in words: each that is offered is taken. */
START_TEST(words_that_are_offered_are_taken)
{
    static const char *const options[] = {"--executor", "--sandbox"};
    AUTO_FREE char *file = installed(shells[0].file);
    if (file == NULL || access(file, R_OK) != 0)
        TEST_SKIP("nothing is installed in this build");
    for (size_t i = 0; i < COUNT_OF(options); ++i) {
        char words[80];
        (void)snprintf(words, sizeof words, "grade %s ", options[i]);
        struct process_result result = offered("/bin/bash", file, words);
        size_t count = 0;
        char *rest = result.output.data;
        for (char *word; rest != NULL && (word = strsep(&rest, "\n")) != NULL;) {
            if (word[0] == '\0')
                continue;
            struct process_result taken = testing_spillway(
                (const char *[]){"grade", "/nowhere", options[i], word, NULL}, NULL);
            ck_assert_msg(says(&taken, "there is no folder"), "%s %s: %s", options[i], word,
                          bytes_text(&taken.error));
            process_result_release(&taken);
            ++count;
        }
        ck_assert_uint_ge(count, 3);
        process_result_release(&result);
    }
}
END_TEST

START_TEST(zsh_reads_its_completion)
{
    AUTO_FREE char *file = installed("zsh/site-functions/_spillway");
    if (file == NULL || access(file, R_OK) != 0)
        TEST_SKIP("nothing is installed in this build");
    struct bytes text = read_text(file);
    struct names names = {0}, options = {0};
    commands(&names);
    ck_assert_int_eq(strncmp(bytes_text(&text), "#compdef spillway\n", 18), 0);
    for (size_t i = 0; i < names.count; ++i) {
        char start[80];
        (void)snprintf(start, sizeof start, "\n    %s)\n", names.items[i]);
        const char *section = strstr(bytes_text(&text), start);
        ck_assert_msg(section != NULL, "%s", names.items[i]);
        const char *end = strstr(section, "\n        ;;\n");
        options_of(&options, names.items[i]);
        for (size_t k = 0; k < options.count; ++k) {
            char wanted[80];
            (void)snprintf(wanted, sizeof wanted, "%s[", options.items[k]);
            const char *at = strstr(section, wanted);
            ck_assert_msg(at != NULL && at < end, "%s of %s", options.items[k], names.items[i]);
        }
    }
    bytes_release(&text);
    if (access("/usr/bin/zsh", X_OK) != 0)
        TEST_SKIP("no zsh");
    struct process_result result =
        run((const char *[]){"/usr/bin/zsh", "-fn", file, NULL}, NULL, NULL);
    ck_assert_msg(result.exit_code == 0 && result.error.length == 0, "%s",
                  bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

static void set_up(void)
{
    support_new_folder(root);
}

Suite *suite_package(void)
{
    Suite *suite = suite_create("package");
    TCase *tests = tcase_create("package");
    tcase_set_timeout(tests, 180);
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, it_installs_grades_and_goes);
    tcase_add_test(tests, versions_agree);
    tcase_add_test(tests, build_depends_are_those_of_deps);
    tcase_add_test(tests, dist_holds_the_sources);
    tcase_add_test(tests, help_lists_every_option_of_the_tables);
    tcase_add_loop_test(tests, completions_offer_every_option, 0, COUNT_OF(shells));
    tcase_add_test(tests, words_that_are_offered_are_taken);
    tcase_add_test(tests, zsh_reads_its_completion);
    suite_add_tcase(suite, tests);
    return suite;
}

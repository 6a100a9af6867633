/* check_delivery.c - what a user gets: the bundle, an installation, the man page, `make deps` and
 * `make run`. The Makefile stages a bundle and two installations before the tests. */
#include "testing.h"

#include <ctype.h>
#include <dirent.h>
#include <ftw.h>
#include <gnu/libc-version.h>
#include <sys/stat.h>

#include "files.h"
#include "number.h"

#define MAN_PAGE_BYTES ((size_t)256 << 10)

/* Runs a program with exactly this environment, from this folder. Release the result. */
static struct process_result run(const char *const *argv, const char *const *environment,
                                 const char *directory)
{
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .directory = directory,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = (size_t)8 << 20};
    struct process_result result;
    struct error err = {0};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert_msg(!result.timed_out && !result.signalled, "%s did not end by itself", argv[0]);
    return result;
}

static char *below(const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    ck_assert_ptr_nonnull(path);
    return path;
}

/* ---- The bundle and the installation --------------------------------------------------------- */

/* The folder that has bin/ and share/, owned; NULL: not staged in this build. */
static char *delivered(bool bundle)
{
    const char *staged = getenv(bundle ? "SPILLWAY_BUNDLE" : "SPILLWAY_STAGED");
    if (staged == NULL)
        return NULL;
    return bundle ? strdup(staged) : below(staged, "installed/usr");
}

static const struct {
    bool bundle;
    const char *arguments[4];
    const char *expected;
} program_rows[] = {
    /* clang-format off */
    {true,  {"--version"},                            "spillway "},
    {true,  {"labs"},                                 "day17-registers"},
    {true,  {"hint", "day17-registers"},              "question2"},
    {true,  {"hint", "day17-registers", "question2"}, "division"},
    {true,  {"occupancy", "--help"},                  "--regs"},
    {false, {"--version"},                            "spillway "},
    {false, {"labs"},                                 "day17-registers"},
    {false, {"hint", "day17-registers"},              "question2"},
    {false, {"hint", "day17-registers", "question2"}, "division"},
    /* clang-format on */
};

/* From another folder and with no environment at all: nothing comes from this source tree. */
START_TEST(program_row)
{
    AUTO_FREE char *folder = delivered(program_rows[_i].bundle);
    if (folder == NULL)
        TEST_SKIP("this build makes no bundle");
    AUTO_FREE char *program = below(folder, "bin/spillway");
    const char *argv[6] = {program};
    for (size_t i = 0; i < 4; ++i)
        argv[1 + i] = program_rows[_i].arguments[i];
    struct process_result result = run(argv, NULL, "/");
    ck_assert_msg(result.exit_code == 0, "exit status %d: %s", result.exit_code,
                  bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.output), program_rows[_i].expected) != NULL, "%s",
                  bytes_text(&result.output));
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *path;
    bool there;
} file_rows[] = {
    {"share/spillway/labs/day17-registers/hints", true},
    {"share/spillway/labs/day17-registers/README.md", true},
    {"share/spillway/starter/day17-registers/registers.cu", true},
    {"share/spillway/exercises/day17-registers/answers.ini", true},
    {"share/spillway/exercises/day17-registers/questions.md", true},
    {"share/spillway/labs/day17-registers/colab.ipynb", true},
    {"share/spillway/packaging/student/Makefile", true},
    {"share/man/man1/spillway.1", true},
    {"share/spillway/reference", false}, /* no solutions for students */
    {"share/spillway/labs/day17-registers/lab.c", false},
};

START_TEST(file_row)
{
    for (int bundle = 0; bundle < 2; ++bundle) {
        AUTO_FREE char *folder = delivered(bundle == 1);
        if (folder == NULL)
            TEST_SKIP("this build makes no bundle");
        AUTO_FREE char *path = below(folder, file_rows[_i].path);
        ck_assert_msg((access(path, R_OK) == 0) == file_rows[_i].there, "%s", path);
    }
}
END_TEST

/* Of the C library: these belong to the system's own loader and cannot be carried along. */
static bool of_glibc(const char *name)
{
    static const char *const stems[] = {"libc",    "libm",   "libdl",     "librt",  "libpthread",
                                        "libutil", "libanl", "libresolv", "libmvec"};
    if (strstr(name, "linux-vdso") != NULL || strstr(name, "ld-linux") != NULL)
        return true;
    for (size_t i = 0; i < COUNT_OF(stems); ++i)
        if (strncmp(name, stems[i], strlen(stems[i])) == 0 &&
            strncmp(name + strlen(stems[i]), ".so", 3) == 0)
            return true;
    return false;
}

START_TEST(bundle_needs_only_glibc)
{
    AUTO_FREE char *folder = delivered(true);
    if (folder == NULL)
        TEST_SKIP("this build makes no bundle");
    AUTO_FREE char *program = below(folder, "bin/spillway");
    AUTO_FREE char *own = realpath(folder, NULL);
    const char *const argv[] = {"/usr/bin/ldd", program, NULL};
    struct process_result result = run(argv, (const char *[]){"PATH=/usr/bin:/bin", NULL}, "/");
    ck_assert_int_eq(result.exit_code, 0);
    size_t carried = 0;
    char *rest = result.output.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *name = line + strspn(line, "\t "), *arrow = strstr(line, "=> ");
        if (*name == '\0' || of_glibc(name))
            continue;
        AUTO_FREE char *path = arrow == NULL ? NULL : strndup(arrow + 3, strcspn(arrow + 3, " "));
        AUTO_FREE char *real = path == NULL ? NULL : realpath(path, NULL);
        ck_assert_msg(real != NULL && strncmp(real, own, strlen(own)) == 0, "not in the bundle: %s",
                      line);
        ++carried;
    }
    /* libgit2, jansson, inih and SQLite at least: else the test looked at nothing. */
    ck_assert_uint_ge(carried, 4);
    process_result_release(&result);
}
END_TEST

/* The highest GLIBC_2.N that the file asks for. */
static uint64_t glibc_minor(const char *path)
{
    const char *const argv[] = {"/usr/bin/objdump", "-T", path, NULL};
    struct process_result result = run(argv, NULL, "/");
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    uint64_t highest = 0;
    for (const char *at = bytes_text(&result.output); (at = strstr(at, "GLIBC_2.")) != NULL;) {
        at += strlen("GLIBC_2.");
        uint64_t minor = 0;
        ck_assert(number_parse_u64_bytes(at, strspn(at, "0123456789"), 999, &minor));
        highest = minor > highest ? minor : highest;
    }
    process_result_release(&result);
    return highest;
}

START_TEST(bundle_runs_with_glibc_2_35)
{
    static const char *const folders[] = {"bin", "lib"};
    AUTO_FREE char *folder = delivered(true);
    if (folder == NULL)
        TEST_SKIP("this build makes no bundle");
    if (access("/usr/bin/objdump", X_OK) != 0)
        TEST_SKIP("no objdump");
    /* Debian 12 has 2.36, and none of its programs asks for it. Elsewhere a bundle is for this
     * system and newer ones; packaging/bundle says so in its README. */
    const char *minor_text = strchr(gnu_get_libc_version(), '.');
    uint64_t here = 0;
    ck_assert(minor_text != NULL && number_parse_u64(minor_text + 1, 999, &here));
    if (here > 36)
        TEST_SKIP("made with glibc %s: bundles for everybody are made on Debian 12 or older",
                  gnu_get_libc_version());
    for (size_t i = 0; i < COUNT_OF(folders); ++i) {
        AUTO_FREE char *path = below(folder, folders[i]);
        DIR *listing = opendir(path);
        ck_assert_ptr_nonnull(listing);
        for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
            if (entry->d_name[0] == '.')
                continue;
            AUTO_FREE char *file = below(path, entry->d_name);
            ck_assert_msg(glibc_minor(file) <= 35, "%s needs glibc 2.%llu", file,
                          (unsigned long long)glibc_minor(file));
        }
        (void)closedir(listing);
    }
}
END_TEST

/* What the bundle's README says to type, in a copy of it, each command until its comment. */
START_TEST(bundle_readme_is_true)
{
    AUTO_FREE char *folder = delivered(true);
    if (folder == NULL)
        TEST_SKIP("this build makes no bundle");
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    AUTO_FREE char *readme = below(folder, "README");
    struct bytes text, script = bytes_with_limit(4000);
    ck_assert_int_eq(file_read(&text, readme, 4000, false), FILE_READ);
    bytes_printf(&script, "set -e; cp -r '%s' '%s/unpacked'; cd '%s/unpacked'\n", folder,
                 testing_temporary_folder(), testing_temporary_folder());
    size_t commands = 0;
    char *rest = text.data;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        char *comment = strncmp(line, "    ", 4) == 0 ? strstr(line + 4, "  ") : NULL;
        if (comment == NULL)
            continue;
        *comment = '\0';
        bytes_printf(&script, "%s\n", line);
        ++commands;
    }
    ck_assert_uint_ge(commands, 5);
    AUTO_FREE char *home = NULL, *cache = NULL;
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s", testing_cuda_home()), 0);
    ck_assert_int_gt(asprintf(&cache, "SPILLWAY_CACHE=%s/cache", testing_temporary_folder()), 0);
    const char *const argv[] = {"/bin/sh", "-c", bytes_text(&script), NULL};
    struct process_result result =
        run(argv, (const char *[]){"PATH=/usr/bin:/bin", home, cache, NULL}, "/");
    ck_assert_msg(result.exit_code == 0, "exit status %d: %s%s", result.exit_code,
                  bytes_text(&result.output), bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.output), "Score: 25/100") != NULL, "%s",
                  bytes_text(&result.output));
    process_result_release(&result);
    bytes_release(&script);
    bytes_release(&text);
}
END_TEST

static char first_left[512];

static int note_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)where;
    if (type != FTW_D && type != FTW_DP)
        (void)snprintf(first_left, sizeof first_left, "%s", path);
    return first_left[0] != '\0';
}

START_TEST(uninstall_leaves_no_file)
{
    const char *staged = getenv("SPILLWAY_STAGED");
    ck_assert_ptr_nonnull(staged);
    AUTO_FREE char *root = below(staged, "uninstalled");
    AUTO_FREE char *bin = below(root, "usr/bin");
    ck_assert_int_eq(access(bin, F_OK), 0); /* it was installed there */
    (void)nftw(root, note_file, 16, FTW_PHYS);
    ck_assert_str_eq(first_left, "");
}
END_TEST

/* ---- The man page ---------------------------------------------------------------------------- */

START_TEST(man_page_is_clean)
{
    if (access("/usr/bin/groff", X_OK) != 0)
        TEST_SKIP("no groff");
    const char *const argv[] = {"/usr/bin/groff", "-man", "-ww", "-z", "spillway.1", NULL};
    struct process_result result = run(argv, (const char *[]){"PATH=/usr/bin:/bin", NULL}, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_str_eq(bytes_text(&result.error), "");
    process_result_release(&result);
}
END_TEST

/* spillway.1 without its backslashes, so that an option reads as it is typed. */
static struct bytes man_page(void)
{
    struct bytes source, plain = bytes_with_limit(MAN_PAGE_BYTES);
    ck_assert_int_eq(file_read(&source, "spillway.1", MAN_PAGE_BYTES, false), FILE_READ);
    for (size_t i = 0; i < source.length; ++i)
        if (source.data[i] != '\\')
            bytes_append(&plain, &source.data[i], 1);
    ck_assert(!plain.failed);
    bytes_release(&source);
    return plain;
}

/* Every option that `spillway COMMAND --help` prints stands in the section of that command. */
static void compare_options(const char *command, const char *section, size_t section_length)
{
    struct process_result help = testing_spillway((const char *[]){command, "--help", NULL}, NULL);
    ck_assert_msg(help.exit_code == 0, "%s --help: exit status %d", command, help.exit_code);
    for (const char *at = bytes_text(&help.output); (at = strstr(at, "--")) != NULL;) {
        size_t length = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
        AUTO_FREE char *option = strndup(at, length);
        bool lone = at > bytes_text(&help.output) && !isspace((unsigned char)at[-1]) &&
                    strchr("[`(|", at[-1]) == NULL;
        at += length;
        if (length < 4 || lone || strcmp(option, "--help") == 0)
            continue;
        const char *found = memmem(section, section_length, option, length);
        while (found != NULL && (islower((unsigned char)found[length]) || found[length] == '-'))
            found =
                memmem(found + 1, section_length - (size_t)(found + 1 - section), option, length);
        ck_assert_msg(found != NULL, "spillway.1: section of %s lacks %s", command, option);
    }
    process_result_release(&help);
}

START_TEST(man_page_has_every_command_and_option)
{
    struct bytes page = man_page();
    struct process_result usage = testing_spillway((const char *[]){"--help", NULL}, NULL);
    const char *line = strstr(bytes_text(&usage.output), "Commands:\n");
    ck_assert_ptr_nonnull(line);
    size_t commands = 0;
    for (line = strchr(line, '\n') + 1; line[0] == ' '; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line + 2, " ");
        AUTO_FREE char *command = strndup(line + 2, length);
        AUTO_FREE char *heading = NULL;
        ck_assert_int_gt(asprintf(&heading, ".SS spillway %s", command), 0);
        const char *section = strstr(bytes_text(&page), heading);
        ck_assert_msg(section != NULL, "spillway.1 has no section for `%s`", command);
        const char *end = strstr(section + 1, "\n.S");
        ck_assert_ptr_nonnull(end);
        compare_options(command, section, (size_t)(end - section));
        ++commands;
    }
    ck_assert_uint_ge(commands, 5);
    process_result_release(&usage);
    bytes_release(&page);
}
END_TEST

START_TEST(man_page_has_the_version)
{
    struct bytes page = man_page();
    struct process_result version = testing_spillway((const char *[]){"--version", NULL}, NULL);
    const char *number = strchr(bytes_text(&version.output), ' ');
    ck_assert_ptr_nonnull(number);
    AUTO_FREE char *title = NULL;
    ck_assert_int_gt(
        asprintf(&title, "\"Spillway %.*s\"", (int)strcspn(number + 1, "\n"), number + 1), 0);
    ck_assert_msg(strstr(bytes_text(&page), title) != NULL, "%s", title);
    process_result_release(&version);
    bytes_release(&page);
}
END_TEST

/* ---- make deps ------------------------------------------------------------------------------- */
/* On a machine made of scripts: what each program answers, and what apt-get was asked. */

static void write_program(const char *folder, const char *name, const char *text)
{
    AUTO_FREE char *path = below(folder, name);
    testing_write(path, text, strlen(text));
    ck_assert_int_eq(chmod(path, 0755), 0);
}

#define ALL_THERE true
#define NONE_THERE false

static const struct {
    const char *name;
    bool tools;
    const char *user, *apt, *sudo; /* what id prints, and scripts; NULL: there is none */
    int exit_code;
    const char *says;
    const char *asked[4];  /* first words of each call of apt-get, in order */
    const char *candidate; /* what apt-cache says of the packaged toolkit; NULL: no apt-cache */
} deps_rows[] = {
    /* clang-format off */
    {"all there",        ALL_THERE,  "0",    "exit 1", NULL, 0, "", {NULL}, NULL},
    {"as root",          NONE_THERE, "0",    "exit 0", NULL, 0, "Installing gcc", {"install"}, NULL},
    {"old lists",        NONE_THERE, "0",    "[ -e updated ] || { case \"$*\" in *update*) : >updated ;; *) exit 100 ;; esac; }",
                                                       NULL, 0, "Installing gcc", {"install", "update", "install"}, NULL},
    {"apt fails",        NONE_THERE, "0",    "echo 'E: no network'; exit 100", NULL, 1, "no network", {"install", "update"}, NULL},
    {"by sudo",          NONE_THERE, "1000", "exit 0", "shift; exec \"$@\"", 0, "Installing gcc", {"install"}, NULL},
    {"sudo refuses",     NONE_THERE, "1000", "exit 0", "exit 1", 0, "An administrator installs that with: apt-get install gcc", {NULL}, NULL},
    {"no sudo",          NONE_THERE, "1000", "exit 0", NULL, 0, "An administrator installs that with: apt-get install gcc", {NULL}, NULL},
    {"another system",   NONE_THERE, "0",    NULL, NULL, 0, "package manager", {NULL}, NULL},
    {"a toolkit as a package", ALL_THERE, "0", "exit 1", NULL, 0, "apt-get install nvidia-cuda-toolkit (12.0.140)", {NULL},
                                                       "12.0.140~12.0.1-4build4"},
    {"the package is too old", ALL_THERE, "0", "exit 1", NULL, 0, "", {NULL}, "11.5.1-1ubuntu1"},
    /* clang-format on */
};

START_TEST(deps_row)
{
    static const char *const tools[] = {"gcc",     "g++", "make",  "pkg-config", "bwrap",
                                        "xmllint", "zip", "unzip", "git",        "ssh"};
    static const char *const basics[] = {"env", "rm", "cat", "mktemp", "true", "sed"};
    AUTO_FREE char *folder = NULL, *path = NULL, *apt = NULL, *id = NULL, *sudo = NULL;
    ck_assert_int_gt(asprintf(&folder, "%s/deps-%d", testing_temporary_folder(), _i), 0);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    for (size_t i = 0; i < COUNT_OF(basics); ++i) {
        AUTO_FREE char *target = below("/usr/bin", basics[i]), *link = below(folder, basics[i]);
        ck_assert_int_eq(symlink(target, link), 0);
    }
    for (size_t i = 0; i < COUNT_OF(tools) && deps_rows[_i].tools; ++i)
        write_program(folder, tools[i], "#!/bin/sh\n");
    ck_assert_int_gt(asprintf(&id, "#!/bin/sh\necho %s\n", deps_rows[_i].user), 0);
    write_program(folder, "id", id);
    if (deps_rows[_i].apt != NULL) {
        ck_assert_int_gt(asprintf(&apt, "#!/bin/sh\necho \"$DEBIAN_FRONTEND $*\" >>asked\n%s\n",
                                  deps_rows[_i].apt),
                         0);
        write_program(folder, "apt-get", apt);
    }
    if (deps_rows[_i].candidate != NULL) {
        AUTO_FREE char *cache = NULL;
        ck_assert_int_gt(
            asprintf(&cache, "#!/bin/sh\necho '  Candidate: %s'\n", deps_rows[_i].candidate), 0);
        write_program(folder, "apt-cache", cache);
    }
    if (deps_rows[_i].sudo != NULL) {
        ck_assert_int_gt(asprintf(&sudo, "#!/bin/sh\n%s\n", deps_rows[_i].sudo), 0);
        write_program(folder, "sudo", sudo);
    }
    AUTO_FREE char *script = realpath("packaging/deps", NULL);
    ck_assert_int_gt(asprintf(&path, "PATH=%s", folder), 0);
    struct process_result result = run((const char *[]){"/bin/sh", script, NULL},
                                       (const char *[]){path, "CUDA_HOME=/nowhere", NULL}, folder);
    ck_assert_msg(result.exit_code == deps_rows[_i].exit_code, "%s: exit status %d: %s%s",
                  deps_rows[_i].name, result.exit_code, bytes_text(&result.output),
                  bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.output), deps_rows[_i].says) != NULL ||
                      strstr(bytes_text(&result.error), deps_rows[_i].says) != NULL,
                  "%s: %s%s", deps_rows[_i].name, bytes_text(&result.output),
                  bytes_text(&result.error));
    if (result.exit_code == 0 && strstr(deps_rows[_i].says, "package manager") == NULL &&
        strstr(deps_rows[_i].says, "administrator") == NULL)
        ck_assert_ptr_nonnull(strstr(bytes_text(&result.output), "No nvcc was found"));
    bool offered = strstr(bytes_text(&result.output), "nvidia-cuda-toolkit") != NULL;
    ck_assert_msg(offered == (strstr(deps_rows[_i].says, "nvidia-cuda-toolkit") != NULL), "%s: %s",
                  deps_rows[_i].name, bytes_text(&result.output));
    process_result_release(&result);

    AUTO_FREE char *log = below(folder, "asked");
    struct bytes asked;
    (void)file_read(&asked, log, 65536, false);
    char *rest = asked.data;
    size_t calls = 0;
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL && *line != '\0';
         ++calls) {
        ck_assert_uint_lt(calls, 3);
        ck_assert_msg(deps_rows[_i].asked[calls] != NULL, "%s: apt-get %s", deps_rows[_i].name,
                      line);
        ck_assert_msg(strstr(line, deps_rows[_i].asked[calls]) != NULL, "%s: apt-get %s",
                      deps_rows[_i].name, line);
        ck_assert_msg(strncmp(line, "noninteractive ", 15) == 0, "%s", line);
        if (strcmp(deps_rows[_i].asked[calls], "install") == 0)
            ck_assert_ptr_nonnull(strstr(line,
                                         " gcc g++ make pkg-config libgit2-dev libjansson-dev "
                                         "libinih-dev libsqlite3-dev libssl-dev check bubblewrap"));
    }
    ck_assert_msg(deps_rows[_i].asked[calls] == NULL, "%s: only %zu calls", deps_rows[_i].name,
                  calls);
    bytes_release(&asked);
}
END_TEST

/* Nobody may install, but everybody may unpack: the libraries go below build/deps. */
START_TEST(deps_unpacks_libraries_for_this_build)
{
    static const char *const programs[] = {"env",  "rm",      "cat",      "mktemp", "true",
                                           "grep", "sed",     "mkdir",    "find",   "readlink",
                                           "ln",   "dirname", "dpkg-deb", "tar",    "cp"};
    AUTO_FREE char *folder = NULL, *path = NULL;
    if (access("/usr/bin/dpkg-deb", X_OK) != 0)
        TEST_SKIP("no dpkg-deb");
    ck_assert_int_gt(asprintf(&folder, "%s/unpack", testing_temporary_folder()), 0);
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    for (size_t i = 0; i < COUNT_OF(programs); ++i) {
        AUTO_FREE char *target = below("/usr/bin", programs[i]), *link = below(folder, programs[i]);
        ck_assert_int_eq(symlink(target, link), 0);
    }
    static const char make_package[] =
        "mkdir -p p/DEBIAN p/usr/include p/usr/lib/x && cd p && : >usr/include/git2.h && "
        "ln -s libgit2.so.1 usr/lib/x/libgit2.so && printf 'Package: libgit2-dev\nVersion: 1\n"
        "Architecture: all\nMaintainer: x <x@example.org>\nDescription: x\n' >DEBIAN/control && "
        "dpkg-deb --build . ../libgit2.archive";
    struct process_result made = run((const char *[]){"/bin/sh", "-c", make_package, NULL},
                                     (const char *[]){"PATH=/usr/bin:/bin", NULL}, folder);
    ck_assert_msg(made.exit_code == 0, "%s", bytes_text(&made.error));
    process_result_release(&made);
    AUTO_FREE char *apt = NULL;
    ck_assert_int_gt(asprintf(&apt,
                              "#!/bin/sh\ncase \"$*\" in\n"
                              "-s*libgit2-dev*) echo 'Inst libgit2-dev (1 Debian:12 [all])' ;;\n"
                              "*download\\ libgit2-dev) cp %s/libgit2.archive libgit2.deb ;;\n"
                              "*) exit 1 ;;\nesac\n",
                              folder),
                     0);
    write_program(folder, "id", "#!/bin/sh\necho 1000\n");
    write_program(folder, "apt-get", apt);
    AUTO_FREE char *script = realpath("packaging/deps", NULL);
    ck_assert_int_gt(asprintf(&path, "PATH=%s", folder), 0);
    struct process_result result = run((const char *[]){"/bin/sh", script, NULL},
                                       (const char *[]){path, "CUDA_HOME=/nowhere", NULL}, folder);
    const char *output = bytes_text(&result.output);
    ck_assert_int_eq(result.exit_code, 0);
    const char *command =
        strstr(output, "An administrator installs that with: apt-get install gcc");
    ck_assert_msg(command != NULL, "%s", output);
    ck_assert_msg(strstr(command, "in build/deps: libgit2-dev") != NULL, "%s%s", output,
                  bytes_text(&result.error));
    AUTO_FREE char *header = below(folder, "build/deps/usr/include/git2.h");
    AUTO_FREE char *link = below(folder, "build/deps/usr/lib/x/libgit2.so");
    ck_assert_int_eq(access(header, R_OK), 0);
    char target[100] = "";
    ck_assert_int_gt(readlink(link, target, sizeof target - 1), 0);
    ck_assert_str_eq(target, "/usr/lib/x/libgit2.so.1");
    process_result_release(&result);
}
END_TEST

/* ---- make ------------------------------------------------------------------------------------ */

static struct process_result make(const char *const *arguments)
{
    const char *argv[8] = {"/usr/bin/make"};
    for (size_t i = 0; arguments[i] != NULL; ++i)
        argv[1 + i] = arguments[i];
    return run(argv, (const char *[]){"PATH=/usr/bin:/bin", NULL}, NULL);
}

static const struct {
    int program_status, make_status;
    const char *says;
} run_rows[] = {
    {0, 0, "the program ran"},
    {3, 0, "needs a GPU"},
    {1, 2, "the program ran"},
};

/* An nvcc that "compiles" to a script with a known exit status. */
START_TEST(make_run_row)
{
    AUTO_FREE char *folder = NULL, *nvcc = NULL, *home = NULL;
    ck_assert_int_gt(asprintf(&folder, "%s/run-%d", testing_temporary_folder(), _i), 0);
    AUTO_FREE char *bin = below(folder, "bin");
    ck_assert(mkdir(folder, 0755) == 0 && mkdir(bin, 0755) == 0);
    ck_assert_int_gt(asprintf(&nvcc,
                              "#!/bin/sh\n"
                              "while [ \"$1\" != -o ]; do shift; done\n"
                              "printf '#!/bin/sh\\necho the program ran\\nexit %d\\n' >\"$2\"\n"
                              "chmod +x \"$2\"\n",
                              run_rows[_i].program_status),
                     0);
    write_program(bin, "nvcc", nvcc);
    ck_assert_int_gt(asprintf(&home, "CUDA_HOME=%s", folder), 0);
    struct process_result result = make((const char *[]){"run", home, "ARCH=sm_75", NULL});
    ck_assert_msg(result.exit_code == run_rows[_i].make_status, "exit status %d: %s%s",
                  result.exit_code, bytes_text(&result.output), bytes_text(&result.error));
    ck_assert_msg(strstr(bytes_text(&result.output), run_rows[_i].says) != NULL, "%s",
                  bytes_text(&result.output));
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *arguments[3];
    int exit_code;
    const char *says;
} make_rows[] = {
    /* clang-format off */
    {{"help"},                        0, "make grade "},
    {{"help"},                        0, "make deps "},
    {{"help"},                        0, "make check-gpu "},
    {{"help"},                        0, "make check-labs "},
    {{"help"},                        0, "make mutants "},
    {{"help"},                        0, "make bench "},
    {{"help"},                        0, "LAB=day17-registers"},
    {{"all", "SANITIZE=adress"},      2, "unknown \"adress\""},
    {{"run", "CUDA_HOME=/nowhere"},   2, "No nvcc was found"},
    /* clang-format on */
};

START_TEST(make_row)
{
    struct process_result result = make(make_rows[_i].arguments);
    ck_assert_int_eq(result.exit_code, make_rows[_i].exit_code);
    ck_assert_msg(strstr(bytes_text(&result.output), make_rows[_i].says) != NULL ||
                      strstr(bytes_text(&result.error), make_rows[_i].says) != NULL,
                  "%s%s", bytes_text(&result.output), bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

Suite *suite_delivery(void)
{
    Suite *suite = suite_create("delivery");
    TCase *tests = tcase_create("delivery");
    tcase_set_timeout(tests, 180);
    tcase_add_loop_test(tests, program_row, 0, COUNT_OF(program_rows));
    tcase_add_loop_test(tests, file_row, 0, COUNT_OF(file_rows));
    tcase_add_test(tests, bundle_needs_only_glibc);
    tcase_add_test(tests, bundle_runs_with_glibc_2_35);
    tcase_add_test(tests, bundle_readme_is_true);
    tcase_add_test(tests, uninstall_leaves_no_file);
    tcase_add_test(tests, man_page_is_clean);
    tcase_add_test(tests, man_page_has_every_command_and_option);
    tcase_add_test(tests, man_page_has_the_version);
    tcase_add_loop_test(tests, deps_row, 0, COUNT_OF(deps_rows));
    tcase_add_test(tests, deps_unpacks_libraries_for_this_build);
    tcase_add_loop_test(tests, make_run_row, 0, COUNT_OF(run_rows));
    tcase_add_loop_test(tests, make_row, 0, COUNT_OF(make_rows));
    suite_add_tcase(suite, tests);
    return suite;
}

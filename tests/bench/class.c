/* class.c - `make bench`, the part about classes: how fast `spillway batch` grades one.
 *
 * The class is made here: 30 solutions that compile to different code (the finished lab, the
 * starter, and what students do wrong), and near copies of them: with a comment on a line, with
 * comment lines in front, with another name for a variable, with blank lines between. Each is a git
 * repo with one commit.
 *
 * Against it stands what an instructor does without Spillway: a shell loop over the same repos,
 * `git clone` and `nvcc -o`, two at a time. It grades nothing and is all the same the yardstick.
 *
 * usage: class SPILLWAY NVCC [STUDENTS [MORE]]  from the top of the source tree. With MORE,
 * a second class of so many students is graded, and the cost a repo is compared. Exit status 1 when
 * a bar is missed, 3 when something cannot run. */
#include "base.h"

#include <ctype.h>
#include <dirent.h>
#include <git2.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "files.h"
#include "number.h"
#include "process.h"

#define FIRST_BAR 4.0
#define AGAIN_BAR 100.0
#define MORE_BAR 1.15
#define MEMORY_BAR_MIB 500.0
#define AGAIN_ROUNDS 5
#define MUTANTS "tests/mutants/day17-registers/"

/* What is handed in. Without those that keep a machine busy until a limit stops them. */
static const char *const solutions[] = {
    "reference/day17-registers/registers.cu",
    "starter/day17-registers/registers.cu",
    MUTANTS "bounds_1024.cu",
    MUTANTS "bounds_128_8.cu",
    MUTANTS "bounds_256_8.cu",
    MUTANTS "bounds_on_the_wrong_kernel.cu",
    MUTANTS "bounds_swapped.cu",
    MUTANTS "bounds_threads_only.cu",
    MUTANTS "conditional_wrap.cu",
    MUTANTS "constant_output.cu",
    MUTANTS "double_inside.cu",
    MUTANTS "forgotten_store.cu",
    MUTANTS "forgotten_tap_back.cu",
    MUTANTS "forgotten_tap_forward.cu",
    MUTANTS "junk_array_beside.cu",
    MUTANTS "junk_array_instead.cu",
    MUTANTS "missing_guard.cu",
    MUTANTS "modulo_percent.cu",
    MUTANTS "question3_edit_left_in.cu",
    MUTANTS "reads_past_window.cu",
    MUTANTS "shift_ignored.cu",
    MUTANTS "shift_in_forward_pass.cu",
    MUTANTS "shift_modulo_63.cu",
    MUTANTS "shift_subtracted.cu",
    MUTANTS "shift_without_modulo.cu",
    MUTANTS "stale_zero.cu",
    MUTANTS "tail_unwritten.cu",
    MUTANTS "unfused.cu",
    MUTANTS "wrong_decay.cu",
    MUTANTS "wrong_order_back.cu",
};

struct bench {
    const char *spillway, *nvcc;
    char *folder;                                 /* owned; temporary */
    char *sources[COUNT_OF(solutions)], *answers; /* owned */
    bool missed;
};

static _Noreturn void give_up(const char *text)
{
    (void)fprintf(stderr, "bench: %s\n", text);
    exit(3);
}

/* ---- The class ------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    struct bytes content;
    if (file_read(&content, path, (size_t)1 << 20, true) != FILE_READ)
        give_up(path);
    return bytes_take(&content);
}

/* The mutants are kernels alone: what students hand in is the whole program, which the reference
 * has around its kernels. */
static char *read_program(const char *path)
{
    static const char program[] = "// ---- The program", include[] = "#include <";
    char *kernels = read_text(path);
    if (strstr(kernels, "int main") != NULL)
        return kernels;
    AUTO_FREE char *reference = read_text(solutions[0]);
    const char *host = strstr(reference, program);
    struct bytes whole = bytes_with_limit((size_t)1 << 20);
    for (const char *at = reference; (at = strstr(at, include)) != NULL; ++at)
        bytes_printf(&whole, "%.*s\n", (int)strcspn(at, "\n"), at);
    bytes_printf(&whole, "%s\n%s", kernels, host != NULL ? host : "");
    free(kernels);
    if (host == NULL || whole.failed)
        give_up("the reference is not laid out as it was");
    return bytes_take(&whole);
}

static void comment_on_a_line(struct bytes *out, const char *source, size_t student)
{
    const char *semicolon = strchr(source, ';');
    size_t until = semicolon == NULL ? 0 : (size_t)(semicolon - source) + 1;
    bytes_append(out, source, until);
    bytes_printf(out, " // checked by %zu", student);
    bytes_append_text(out, source + until + strcspn(source + until, "\n"));
}

static void comment_in_front(struct bytes *out, const char *source, size_t student)
{
    for (size_t i = 0; i <= student % 5; ++i)
        bytes_printf(out, "// work of student %zu\n", student);
    bytes_append_text(out, source);
}

static void more_room(struct bytes *out, const char *source, size_t student)
{
    const char *kernel = strstr(source, "__global__");
    size_t until = kernel == NULL ? 0 : (size_t)(kernel - source);
    bytes_append(out, source, until);
    for (size_t i = 0; i <= student % 4; ++i)
        bytes_append_text(out, "\n");
    bytes_append_text(out, source + until);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void another_name(struct bytes *out, const char *source, size_t student)
{
    for (const char *at = source; *at != '\0';) {
        bool begins = at == source || !is_word(at[-1]);
        if (begins && strncmp(at, "sum", 3) == 0 && !is_word(at[3])) {
            bytes_printf(out, "sum%zu", student);
            at += 3;
        } else {
            bytes_append(out, at++, 1);
        }
    }
}

/* The first of each solution is handed in as it is. */
static struct bytes work_of(const struct bench *bench, size_t student)
{
    const char *source = bench->sources[student % COUNT_OF(solutions)];
    struct bytes out = bytes_with_limit((size_t)1 << 20);
    size_t copy = student / COUNT_OF(solutions);
    static void (*const changes[])(struct bytes *, const char *, size_t) = {
        more_room, comment_on_a_line, comment_in_front, another_name};
    if (copy == 0)
        bytes_append_text(&out, source);
    else
        changes[copy % COUNT_OF(changes)](&out, source, student);
    if (out.failed)
        give_up("out of memory");
    return out;
}

static void checked(int code)
{
    if (code < 0)
        give_up(git_error_last() != NULL ? git_error_last()->message : "git failed");
}

static void add(git_repository *repository, git_index *index, const char *path, const void *data,
                size_t length)
{
    git_index_entry entry = {.path = path, .mode = GIT_FILEMODE_BLOB};
    checked(git_blob_create_from_buffer(&entry.id, repository, data, length));
    checked(git_index_add(index, &entry));
}

static void make_repo(const struct bench *bench, const char *path, size_t student)
{
    git_repository *repository = NULL;
    git_index *index = NULL;
    git_tree *tree = NULL;
    git_signature *somebody = NULL;
    git_oid tree_id, commit_id;
    git_repository_init_options options = {.version = GIT_REPOSITORY_INIT_OPTIONS_VERSION};
    options.flags = GIT_REPOSITORY_INIT_MKPATH | GIT_REPOSITORY_INIT_BARE;
    options.initial_head = "main";
    checked(git_repository_init_ext(&repository, path, &options));
    checked(git_repository_index(&index, repository));
    struct bytes work = work_of(bench, student);
    add(repository, index, "registers.cu", work.data, work.length);
    add(repository, index, "answers.ini", bench->answers, strlen(bench->answers));
    bytes_release(&work);
    checked(git_index_write_tree(&tree_id, index));
    checked(git_tree_lookup(&tree, repository, &tree_id));
    checked(git_signature_new(&somebody, "A Student", "student@example.org", 1700000000, 0));
    checked(git_commit_create(&commit_id, repository, "HEAD", somebody, somebody, NULL, "work",
                              tree, 0, NULL));
    git_signature_free(somebody);
    git_tree_free(tree);
    git_index_free(index);
    git_repository_free(repository);
}

/* FOLDER/NAME/repos/sNNNNN and FOLDER/NAME/roster.csv. */
static char *make_class(const struct bench *bench, const char *name, size_t students)
{
    AUTO_FREE char *folder = path_join(bench->folder, name);
    AUTO_FREE char *repos = path_join(folder, "repos");
    char *roster = path_join(folder, "roster.csv");
    struct bytes rows = bytes_with_limit((size_t)16 << 20);
    struct error err = {0};
    (void)mkdir(folder, 0700);
    (void)mkdir(repos, 0700);
    bytes_append_text(&rows, "id,name,email,repo\n");
    for (size_t i = 0; i < students; ++i) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/s%05zu", repos, i);
        make_repo(bench, path, i);
        bytes_printf(&rows, "s%05zu,Student %zu,s%05zu@example.org,%s\n", i, i, i, path);
    }
    if (rows.failed || file_write(roster, rows.data, rows.length, &err) != 0)
        give_up("cannot write the roster");
    bytes_release(&rows);
    return roster;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* The proportional set size of a process and all below it, in KiB: shared pages count once. */
static uint64_t memory_of(pid_t pid)
{
    char path[64], line[256];
    uint64_t total = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        uint64_t value = 0;
        const char *digits = line + 4 + strspn(line + 4, " \t");
        if (strncmp(line, "Pss:", 4) == 0 &&
            number_parse_u64_bytes(digits, strspn(digits, "0123456789"), UINT64_MAX, &value))
            total += value;
    }
    if (file != NULL)
        (void)fclose(file);
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    for (const struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        char children[400];
        struct bytes list = {0};
        (void)snprintf(children, sizeof children, "/proc/%d/task/%s/children", (int)pid,
                       task->d_name);
        if (!isdigit((unsigned char)task->d_name[0]) ||
            file_read(&list, children, 65536, false) != FILE_READ)
            continue;
        char *rest = list.data;
        for (char *word; rest != NULL && (word = strsep(&rest, " \n")) != NULL;) {
            uint64_t child = 0;
            if (number_parse_u64(word, INT32_MAX, &child))
                total += memory_of((pid_t)child);
        }
        bytes_release(&list);
    }
    if (tasks != NULL)
        (void)closedir(tasks);
    return total;
}

struct watch {
    pthread_t thread;
    bool stop;
    uint64_t most_kib;
};

static void *watch_main(void *argument)
{
    struct watch *watch = argument;
    while (!__atomic_load_n(&watch->stop, __ATOMIC_ACQUIRE)) {
        uint64_t now = memory_of(getpid());
        watch->most_kib = now > watch->most_kib ? now : watch->most_kib;
        (void)usleep(100000);
    }
    return NULL;
}

/* ---- Timing ---------------------------------------------------------------------------------- */

static double run_program(const struct bench *bench, const char *const *argv)
{
    static char path[4096], temporary[4200];
    const char *outer = getenv("PATH");
    (void)snprintf(path, sizeof path, "PATH=%s", outer != NULL ? outer : "/usr/bin:/bin");
    (void)snprintf(temporary, sizeof temporary, "TMPDIR=%s", bench->folder);
    const char *const environment[] = {path, temporary, "LC_ALL=C", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(7200000000000),
                                      .output_limit = (size_t)16 << 20,
                                      .merge_error = true};
    struct process_result result;
    struct error err = {0};
    if (process_run(&result, &spec, &err) != 0)
        give_up(err.text);
    if (result.timed_out || result.signalled || result.exit_code != 0) {
        (void)fputs(bytes_text(&result.output), stderr);
        give_up("a program that was to be timed failed");
    }
    double wall_s = (double)result.wall_ns * 1e-9;
    process_result_release(&result);
    return wall_s;
}

static double batch(const struct bench *bench, const char *roster, const char *out)
{
    const char *const argv[] = {bench->spillway, "batch",  roster,      "--lab", "day17-registers",
                                "--out",         out,      "--seed",    "17",    "--executor",
                                "emulator",      "--nvcc", bench->nvcc, NULL};
    return run_program(bench, argv);
}

/* What an instructor's shell does with the repos whose number has this parity: $1 is where they
 * are, $2 where the clones go, $3 nvcc, $4 the last digits. */
static double shell_loop(const struct bench *bench, const char *repos, const char *clones,
                         const char *digits)
{
    static const char loop[] =
        "ls \"$1\" | grep \"[$4]\\$\" | NVCC=\"$3\" FROM=\"$1\" TO=\"$2\" xargs -P 2 -I {} sh -c "
        "'git clone -q \"$FROM/{}\" \"$TO/{}\" && "
        "$NVCC -o \"$TO/{}/registers\" \"$TO/{}/registers.cu\" 2> /dev/null'";
    const char *const argv[] = {"/bin/sh", "-c",        loop,   "loop", repos,
                                clones,    bench->nvcc, digits, NULL};
    (void)mkdir(clones, 0700);
    return run_program(bench, argv);
}

static void print_bar(struct bench *bench, const char *what, double value, double bar,
                      bool at_least)
{
    bool met = at_least ? value >= bar : value <= bar;
    (void)printf("%-46s %8.2f  bar %s %.2f: %s\n", what, value, at_least ? ">=" : "<=", bar,
                 met ? "met" : "MISSED");
    (void)fflush(stdout);
    bench->missed = bench->missed || !met;
}

static int compare_doubles(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static void bench_class(struct bench *bench, size_t students, size_t more)
{
    AUTO_FREE char *roster = make_class(bench, "class", students);
    AUTO_FREE char *repos = path_join(bench->folder, "class/repos");
    AUTO_FREE char *clones = path_join(bench->folder, "clones");
    AUTO_FREE char *out = path_join(bench->folder, "out");
    struct watch watch = {.stop = false};
    double again[AGAIN_ROUNDS];
    /* One half before and one after: what else the machine does then weighs on both sides. */
    double loop = shell_loop(bench, repos, clones, "02468");
    if (pthread_create(&watch.thread, NULL, watch_main, &watch) != 0)
        give_up("cannot start a thread");
    double first = batch(bench, roster, out);
    __atomic_store_n(&watch.stop, true, __ATOMIC_RELEASE);
    (void)pthread_join(watch.thread, NULL);
    loop += shell_loop(bench, repos, clones, "13579");
    for (size_t i = 0; i < AGAIN_ROUNDS; ++i)
        again[i] = batch(bench, roster, out);
    qsort(again, AGAIN_ROUNDS, sizeof again[0], compare_doubles);
    double unchanged = again[AGAIN_ROUNDS / 2];
    print_bar(bench, "a class for the first time: clone + nvcc / batch", loop / first, FIRST_BAR,
              true);
    print_bar(bench, "nothing changed: clone + nvcc / batch", loop / unchanged, AGAIN_BAR, true);
    print_bar(bench, "peak memory with compilers, MiB", (double)watch.most_kib / 1024,
              MEMORY_BAR_MIB, false);
    (void)printf("  %zu repos: git clone + nvcc -o %.1f s, batch %.1f s, again %.2f s\n", students,
                 loop, first, unchanged);
    if (more == 0)
        return;
    AUTO_FREE char *more_roster = make_class(bench, "more", more);
    AUTO_FREE char *more_out = path_join(bench->folder, "more-out");
    double large = batch(bench, more_roster, more_out);
    double ratio = large / (double)more / (first / (double)students);
    print_bar(bench, "a large class, cost a repo / that of the small one", ratio, MORE_BAR, false);
    (void)printf("  %zu repos: batch %.1f s, %.1f ms a repo; %zu repos: %.1f ms a repo\n", more,
                 large, large / (double)more * 1e3, students, first / (double)students * 1e3);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct bench bench = {.spillway = argc > 1 ? argv[1] : "", .nvcc = argc > 2 ? argv[2] : ""};
    uint64_t students = 300, more = 0;
    if (argc < 3 || argc > 5 || (argc > 3 && !number_parse_u64(argv[3], 100000, &students)) ||
        (argc > 4 && !number_parse_u64(argv[4], 100000, &more)))
        give_up("usage: class SPILLWAY NVCC [STUDENTS [MORE]]");
    process_catch_interrupts();
    AUTO_FREE char *spillway = realpath(bench.spillway, NULL);
    if (spillway == NULL)
        give_up("there is no such spillway");
    bench.spillway = spillway;
    bench.folder = temporary_folder_create(&err);
    if (bench.folder == NULL)
        give_up(err.text);
    for (size_t i = 0; i < COUNT_OF(solutions); ++i)
        bench.sources[i] = read_program(solutions[i]);
    bench.answers = read_text("reference/day17-registers/answers.ini");
    (void)git_libgit2_init();
    bench_class(&bench, students, more);
    (void)git_libgit2_shutdown();
    for (size_t i = 0; i < COUNT_OF(solutions); ++i)
        free(bench.sources[i]);
    free(bench.answers);
    temporary_folder_remove(bench.folder);
    return bench.missed ? 1 : 0;
}

/* mutants.c - grade wrong and sly kernels, and see that each loses its marks and no others.
 *
 *   mutants [--executor emulator|gpu] [--arch sm_75,…] [--seed N] [--lab ID] [NAME…]
 *
 * Each file of tests/mutants/<lab>/ is built for several architectures, run, and judged by the
 * grader's own stages, with answers made from the facts of that very build: so only the kernel is
 * at fault. EXPECTED.tsv beside the files says what must be lost, WORDS.tsv what the lost marks
 * must say. Then come the reference, which must keep everything, and the untouched starter with its
 * blank answers, which must earn its floor exactly, on every architecture that nvcc offers.
 *
 * A plain program without a test framework, so that it can be carried to a machine with a GPU:
 * start it where tests/, starter/, reference/ and exercises/ lie. It is its own worker process.
 * Under the GPU executor the kernels run from the build for the device; resources are judged on
 * every architecture all the same. */
#include "base.h"

#include <getopt.h>
#include <pthread.h>
#include <sys/stat.h>

#include "build.h"
#include "caps.h"
#include "commands.h"
#include "files.h"
#include "mutant_words.h"
#include "number.h"
#include "numbers.h"
#include "process.h"
#include "rubric.h"
#include "run_survey.h"
#include "scrub.h"
#include "toolchain.h"

#define ELEMENTS 4099
#define CRITERIA_MAX 64
#define TARGETS_MAX TOOLCHAIN_ARCHS_MAX
#define WORKERS 2
#define FILE_BYTES_MAX ((size_t)1 << 20)

/* ---- What is to be graded, and what came out ---- */

struct verdicts { /* one submission on one architecture */
    struct arch arch;
    bool expected[CRITERIA_MAX]; /* this mark must be lost */
    enum mark_status got[CRITERIA_MAX];
    char *message[CRITERIA_MAX]; /* owned; of marks that are not passed */
    char *remedy[CRITERIA_MAX];  /* owned; the same */
    int score;
};

struct item { /* one submission */
    char name[80];
    char path[256];            /* of the source */
    const char *answers;       /* of a fixed answers.ini; NULL: made from the facts */
    bool every_arch;           /* all that nvcc offers, not those of the command line */
    int floor;                 /* -1: the marks decide; else the score that must come out */
    char expected[5][300];     /* marks lost everywhere, then on arch_columns[i - 1] */
    struct verdicts *verdicts; /* owned */
    size_t verdict_count;
    /* GPU: launches that finished on the emulator too, and those whose bytes are equal. */
    unsigned on_both, identical;
    struct error err; /* the machine failed */
};

struct session {
    const struct lab *lab;
    struct toolchain toolchain;
    struct numbers numbers;
    struct arch archs[TARGETS_MAX];
    size_t arch_count;
    enum executor_kind executor;
    struct gpu_device gpu;
    uint64_t seed;
    const char *folder;
    struct mutant_words words;
    struct item *items;      /* owned */
    size_t item_count, next; /* next: taken under lock */
    pthread_mutex_t lock;
};

/* ---- EXPECTED.tsv ---- */

static const char *const arch_columns[] = {"sm_75", "sm_86", "sm_90", "sm_120"};

/* Marks of one cell: "group.*" and "group.item", parted by blanks; "none" and "-" for nothing.
 * False when a word fits no mark. */
static bool mark_cell(const struct lab *lab, const char *cell, bool *lost)
{
    char copy[300];
    (void)snprintf(copy, sizeof copy, "%s", cell);
    char *rest = copy;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        bool fits = strcmp(word, "none") == 0 || strcmp(word, "-") == 0;
        size_t length = strlen(word);
        bool group = length > 2 && strcmp(word + length - 2, ".*") == 0;
        for (size_t i = 0; i < lab->criterion_count; ++i)
            if (group ? strncmp(lab->criteria[i].id, word, length - 1) == 0
                      : strcmp(lab->criteria[i].id, word) == 0) {
                lost[i] = true;
                fits = true;
            }
        if (!fits)
            return false;
    }
    return true;
}

/* "12.4": toolkits from that on, "<13.0": older ones; false when it is neither. */
static bool read_toolkits(const struct toolchain *toolchain, const char *cell, bool *fits)
{
    bool older = cell[0] == '<';
    const char *minor = strchr(cell, '.');
    uint64_t numbers[2];
    if (minor == NULL ||
        !number_parse_u64_bytes(cell + older, (size_t)(minor - cell) - older, 999, &numbers[0]) ||
        !number_parse_u64(minor + 1, 999, &numbers[1]))
        return false;
    bool has = toolchain->major > numbers[0] ||
               (toolchain->major == numbers[0] && toolchain->minor >= numbers[1]);
    *fits = has != older;
    return true;
}

static int read_row(struct session *session, char *line, struct error *err)
{
    struct item *item = &session->items[session->item_count];
    char *rest = line, *name = strsep(&rest, "\t");
    *item = (struct item){.floor = -1};
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    (void)snprintf(item->path, sizeof item->path, "tests/mutants/%s/%s", session->lab->id, name);
    for (size_t i = 0; i < COUNT_OF(item->expected); ++i) {
        const char *cell = strsep(&rest, "\t");
        bool lost[CRITERIA_MAX] = {false};
        if (cell == NULL || !mark_cell(session->lab, cell, lost))
            return error_set(err, ERROR_USAGE, "EXPECTED.tsv, %s: column %zu is no list of marks",
                             name, i + 2);
        (void)snprintf(item->expected[i], sizeof item->expected[i], "%s", cell);
    }
    bool fits = true;
    if (rest != NULL && !read_toolkits(&session->toolchain, rest, &fits))
        return error_set(err, ERROR_USAGE, "EXPECTED.tsv, %s: the last column is no toolkit", name);
    if (fits)
        ++session->item_count;
    else if (rest[0] != '<') /* then a row for newer ones stands for it */
        (void)printf("%-28s left out: it needs CUDA %s\n", name, rest);
    return 0;
}

static bool wanted(const char *name, char *const *names, int count)
{
    for (int i = 0; i < count; ++i)
        if (strncmp(names[i], name, strlen(names[i])) == 0)
            return true;
    return count == 0;
}

static void add_own(struct session *session, const char *name, int floor, const char *answers)
{
    struct item *item = &session->items[session->item_count++];
    *item = (struct item){.every_arch = true, .floor = floor, .answers = answers};
    (void)snprintf(item->name, sizeof item->name, "(%s)", name);
    (void)snprintf(item->path, sizeof item->path, "%s/%s/%s", name, session->lab->id,
                   session->lab->source_name);
    for (size_t i = 0; i < COUNT_OF(item->expected); ++i)
        (void)snprintf(item->expected[i], sizeof item->expected[i], "none");
}

/* Rows of EXPECTED.tsv that were asked for, then the reference and the starter. */
static int list_items(struct session *session, char *const *names, int count, struct error *err)
{
    static char blank[256];
    char path[256];
    (void)snprintf(path, sizeof path, "tests/mutants/%s/EXPECTED.tsv", session->lab->id);
    (void)snprintf(blank, sizeof blank, "exercises/%s/answers.ini", session->lab->id);
    struct bytes table;
    enum file_status status = file_read(&table, path, FILE_BYTES_MAX, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "%s: %s", path, file_status_text(status));
    session->items = calloc(table.length + 2, sizeof session->items[0]);
    if (session->items == NULL)
        error_no_memory(err);
    char *rest = table.data;
    for (char *line; err->kind == ERROR_NONE && (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != '\0' && line[0] != '#' && wanted(line, names, count))
            (void)read_row(session, line, err);
    bytes_release(&table);
    if (err->kind != ERROR_NONE)
        return -1;
    if (wanted("(reference)", names, count))
        add_own(session, "reference", -1, NULL);
    if (wanted("(starter)", names, count))
        add_own(session, "starter", session->lab->starter_floor, blank);
    return session->item_count > 0
               ? 0
               : error_set(err, ERROR_USAGE, "no mutant has a name that begins so");
}

/* ---- Answers from facts ---- */

/* The right answer to every question about this build, as a student with that build would write
 * it. */
static void write_answers(struct bytes *text, const struct rubric_input *input)
{
    const struct lab *lab = input->lab;
    const struct rubric_target *target = input->declared;
    char arch[ARCH_NAME_BYTES], problem[300] = "";
    const struct kernel_facts *kernels[CRITERIA_MAX] = {NULL};
    for (size_t k = 0; k < lab->kernel_count; ++k)
        kernels[k] = target->known[k] ? &target->facts[k] : NULL;
    struct arch declared = target->target->arch;
    struct kernel_facts what_if;
    struct key_context context = {
        .lab = lab,
        .kernels = kernels,
        .sm = sm_limits_find(arch_major(declared), arch_minor(declared)),
        .what_if_problem = problem,
    };
    if (input->build->has_what_if &&
        facts_gather_image(&what_if, &lab->kernels[lab->what_if.kernel], target->target,
                           &input->build->what_if, problem))
        context.what_if = &what_if;
    bytes_printf(text, "lab = %s\n[build]\narch = %s\nnvcc = %s\n", lab->id,
                 arch_name(declared, "sm_", arch), input->toolchain->version);
    const char *section = "";
    for (size_t i = 0; i < lab->criterion_count; ++i) {
        const struct criterion *criterion = &lab->criteria[i];
        struct answer_key key = {.kind = KEY_UNKNOWN};
        if (criterion->kind == CRITERION_REPORTED_COUNT) {
            const struct kernel_facts *facts = kernels[criterion->kernel];
            key.kind = KEY_NUMBER;
            key.number = facts != NULL ? facts->registers : 0;
        } else if (criterion->kind == CRITERION_ANSWER) {
            criterion->compute(&context, &key);
        } else {
            continue;
        }
        if (strcmp(section, criterion->section) != 0)
            bytes_printf(text, "[%s]\n", criterion->section);
        section = criterion->section;
        if (key.kind == KEY_NUMBER)
            bytes_printf(text, "%s = %lld\n", criterion->key, (long long)key.number);
        else
            bytes_printf(text, "%s = %s\n", criterion->key,
                         key.kind == KEY_WORD ? key.word : "nobody-knows");
    }
}

static int take_answers(struct submission *submission, const struct item *item,
                        const struct rubric_input *input, struct error *err)
{
    struct bytes text = bytes_with_limit(LIMIT_ANSWERS_BYTES);
    if (item->answers == NULL)
        write_answers(&text, input);
    else if (file_read(&text, item->answers, LIMIT_ANSWERS_BYTES, true) != FILE_READ)
        error_set(err, ERROR_USAGE, "cannot read %s", item->answers);
    answers_release(&submission->answers);
    if (err->kind == ERROR_NONE)
        (void)answers_parse(&submission->answers, bytes_text(&text), text.length, err);
    bytes_release(&text);
    return err->kind == ERROR_NONE ? 0 : -1;
}

/* ---- One submission on one architecture ---- */

struct stages {
    struct build build; /* the graded architecture, then the one that runs when it is another */
    struct build_image scrub;
    struct numbers_result own;
    const struct numbers_result *result; /* own, or that of an earlier architecture */
    struct rubric_input rubric;
    struct grade grade;
};

/* A kernel that fills local and shared memory, for the frames of this very build. */
static int assemble_scrub(struct stages *s, const struct session *session,
                          const struct build_target *target, const char *folder, struct error *err)
{
    int64_t frame = 0, shared = 0;
    for (size_t i = 0; i < target->image.parsed.kernel_count; ++i) {
        const struct cubin_kernel *kernel = &target->image.parsed.kernels[i];
        frame = kernel->max_frame_bytes > frame ? kernel->max_frame_bytes : frame;
        shared = kernel->shared_bytes > shared ? kernel->shared_bytes : shared;
    }
    struct bytes ptx;
    char name[ARCH_NAME_BYTES];
    if (scrub_source(&ptx, arch_name(target->arch, "sm_", name), frame, shared) != 0)
        return error_no_memory(err);
    const struct build_options options = {.toolchain = &session->toolchain};
    int status = build_assemble(&s->scrub, &options, target->arch, folder, "scrub", ptx.data,
                                ptx.length, err);
    bytes_release(&ptx);
    return status;
}

static bool is_place(const char *line)
{
    return strncmp(line, ".target", 7) == 0 || strncmp(line, "\t.file", 6) == 0 ||
           strncmp(line, ".file", 5) == 0;
}

/* Whether two PTX texts differ only in the architecture and in the folder they were made in. */
static bool same_code(const struct bytes *a, const struct bytes *b)
{
    const char *p = bytes_text(a), *q = bytes_text(b);
    while (*p != '\0' && *q != '\0') {
        size_t p_length = strcspn(p, "\n"), q_length = strcspn(q, "\n");
        if (!(is_place(p) && is_place(q)) && (p_length != q_length || memcmp(p, q, p_length) != 0))
            return false;
        p += p_length + (p[p_length] == '\n');
        q += q_length + (q[q_length] == '\n');
    }
    return *p == *q;
}

/* What ran for an earlier architecture holds for this one when the code is the same. */
static const struct numbers_result *find_run(const struct session *session,
                                             const struct stages *earlier, size_t count,
                                             const struct build_target *executed)
{
    for (size_t i = 0; i < count; ++i) {
        const struct build_target *other =
            &earlier[i].build.targets[earlier[i].build.target_count - 1];
        bool same = session->executor == EXECUTOR_GPU ||
                    (executed->compiled == other->compiled &&
                     executed->image.assembled == other->image.assembled &&
                     same_code(&executed->ptx, &other->ptx));
        if (same && earlier[i].result == &earlier[i].own)
            return earlier[i].result;
    }
    return NULL;
}

/* What the GPU computed, the emulator must compute to the last bit. */
static int compare_with_emulator(struct item *item, const struct session *session,
                                 const struct build_target *target, const struct audit *audit,
                                 const struct numbers_result *gpu, struct error *err)
{
    const struct numbers_options options = {.executor = EXECUTOR_EMULATOR, .arch = target->arch};
    struct numbers_result emulator;
    if (numbers_run(&emulator, &session->numbers, target, audit, &options, err) != 0)
        return -1;
    for (size_t i = 0; i < gpu->outcome_count; ++i) {
        const struct run_launch_result *a = gpu->outcomes[i].launch;
        const struct run_launch_result *b = emulator.outcomes[i].launch;
        if (a == NULL || b == NULL || a->status != RUN_FINISHED || b->status != RUN_FINISHED)
            continue;
        bool same = a->outputs[0].bytes == b->outputs[0].bytes &&
                    memcmp(a->outputs[0].data, b->outputs[0].data, a->outputs[0].bytes) == 0;
        ++item->on_both;
        item->identical += same;
        if (!same)
            (void)printf("%s: %s computes other bits on the emulator than on the GPU\n", item->name,
                         session->lab->kernels[session->lab->cases[i].kernel].name);
    }
    numbers_result_release(&emulator);
    return 0;
}

static int run_stage(struct stages *s, const struct session *session, struct item *item,
                     const struct stages *earlier, size_t earlier_count, const char *folder,
                     struct error *err)
{
    const struct build_target *target = &s->build.targets[s->build.target_count - 1];
    bool gpu = session->executor == EXECUTOR_GPU;
    s->result = find_run(session, earlier, earlier_count, target);
    if (s->result != NULL)
        return 0;
    if (gpu && target->image.assembled && assemble_scrub(s, session, target, folder, err) != 0)
        return -1;
    struct audit audit;
    audit_judge(&audit, session->lab, target);
    const struct numbers_options options = {
        .executor = session->executor,
        .device = session->gpu.ordinal,
        .arch = target->arch,
        .threads = 1,
        .scrub = gpu ? &s->scrub : NULL,
        .timing_rounds = gpu ? 3 : 0,
    };
    s->result = &s->own;
    if (numbers_run(&s->own, &session->numbers, target, &audit, &options, err) != 0)
        return -1;
    return gpu ? compare_with_emulator(item, session, target, &audit, &s->own, err) : 0;
}

static int judge_stage(struct stages *s, const struct session *session,
                       struct submission *submission, const struct item *item, struct error *err)
{
    s->rubric = (struct rubric_input){
        .lab = session->lab,
        .submission = submission,
        .toolchain = &session->toolchain,
        .build = &s->build,
        .target_count = s->build.target_count,
        .graded_count = 1,
        .declared_arch = s->build.targets[0].arch,
        .numbers = &session->numbers,
        .result = s->result,
        .targets = calloc(s->build.target_count, sizeof s->rubric.targets[0]),
    };
    if (s->rubric.targets == NULL)
        return error_no_memory(err);
    for (size_t i = 0; i < s->build.target_count; ++i)
        s->rubric.targets[i].target = &s->build.targets[i];
    s->rubric.declared = &s->rubric.targets[0];
    s->rubric.executed = &s->rubric.targets[s->build.target_count - 1];
    if (rubric_gather(&s->rubric, err) != 0 || take_answers(submission, item, &s->rubric, err) != 0)
        return -1;
    return rubric_judge(&s->grade, &s->rubric, err);
}

static int build_stage(struct stages *s, const struct session *session,
                       const struct submission *submission, struct arch arch, const char *folder,
                       struct error *err)
{
    struct arch archs[2] = {arch, {.number = session->gpu.major * 10 + session->gpu.minor}};
    bool other = session->executor == EXECUTOR_GPU && !arch_equal(archs[0], archs[1]);
    const struct build_options options = {.toolchain = &session->toolchain,
                                          .archs = archs,
                                          .arch_count = other ? 2 : 1,
                                          .what_if_arch = arch,
                                          .folder = folder};
    return build_run(&s->build, submission, &options, err);
}

static void take_verdicts(struct verdicts *verdicts, const struct session *session,
                          const struct item *item, struct stages *s, struct arch arch)
{
    verdicts->arch = arch;
    verdicts->score = s->grade.score;
    char name[ARCH_NAME_BYTES];
    (void)arch_name(arch, "sm_", name);
    (void)mark_cell(session->lab, item->expected[0], verdicts->expected);
    for (size_t i = 0; i < COUNT_OF(arch_columns); ++i)
        if (strcmp(arch_columns[i], name) == 0)
            (void)mark_cell(session->lab, item->expected[i + 1], verdicts->expected);
    for (size_t i = 0; i < s->grade.mark_count; ++i) {
        verdicts->got[i] = s->grade.marks[i].status;
        if (verdicts->got[i] == MARK_PASSED)
            continue;
        verdicts->message[i] = steal_pointer(&s->grade.marks[i].message);
        verdicts->remedy[i] = steal_pointer(&s->grade.marks[i].remedy);
    }
}

/* ---- One submission ---- */

/* The submission as `spillway grade` reads it: a folder with the source in it. */
static int read_submission(struct submission *submission, const struct session *session,
                           const struct item *item, const char *folder, struct error *err)
{
    struct bytes source;
    enum file_status status = file_read(&source, item->path, FILE_BYTES_MAX, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_USAGE, "%s: %s", item->path, file_status_text(status));
    AUTO_FREE char *path = path_join(folder, session->lab->source_name);
    const struct submission_options options = {.directory = folder, .lab_id = session->lab->id};
    int result = path == NULL ? error_no_memory(err)
                              : file_write(path, bytes_text(&source), source.length, err);
    bytes_release(&source);
    return result == 0 ? submission_read(submission, &options, err) : result;
}

static void grade_archs(struct item *item, const struct session *session,
                        struct submission *submission, const char *folder, const struct arch *archs,
                        size_t count)
{
    struct stages *stages = calloc(count, sizeof *stages);
    item->verdicts = calloc(count, sizeof item->verdicts[0]);
    if (stages == NULL || item->verdicts == NULL)
        error_no_memory(&item->err);
    for (size_t i = 0; i < count && item->err.kind == ERROR_NONE; ++i) {
        /* Builds of different architectures make their own folders below this one; the one for a
         * GPU would be made each time. */
        char name[32];
        (void)snprintf(name, sizeof name, "%zu", i);
        AUTO_FREE char *own = path_join(folder, name);
        if (own == NULL || mkdir(own, 0700) != 0) {
            error_set_errno(&item->err, ERROR_INFRASTRUCTURE, "cannot make a folder");
            break;
        }
        if (build_stage(&stages[i], session, submission, archs[i], own, &item->err) != 0 ||
            run_stage(&stages[i], session, item, stages, i, own, &item->err) != 0 ||
            judge_stage(&stages[i], session, submission, item, &item->err) != 0)
            break;
        take_verdicts(&item->verdicts[item->verdict_count++], session, item, &stages[i], archs[i]);
    }
    for (size_t i = 0; stages != NULL && i < count; ++i) {
        grade_release(&stages[i].grade);
        rubric_input_release(&stages[i].rubric);
        numbers_result_release(&stages[i].own);
        build_image_release(&stages[i].scrub);
        build_release(&stages[i].build);
    }
    free(stages);
}

static void grade_item(struct item *item, const struct session *session)
{
    AUTO_FREE char *folder = path_join(session->folder, item->name);
    struct submission submission = {0};
    if (folder == NULL || mkdir(folder, 0700) != 0)
        error_set_errno(&item->err, ERROR_INFRASTRUCTURE, "cannot make a folder");
    else if (read_submission(&submission, session, item, folder, &item->err) == 0)
        grade_archs(item, session, &submission, folder,
                    item->every_arch ? session->toolchain.archs : session->archs,
                    item->every_arch ? session->toolchain.arch_count : session->arch_count);
    submission_release(&submission);
}

static void *worker_main(void *argument)
{
    struct session *session = argument;
    for (;;) {
        (void)pthread_mutex_lock(&session->lock);
        size_t mine = session->next++;
        (void)pthread_mutex_unlock(&session->lock);
        if (mine >= session->item_count || process_interrupted())
            return NULL;
        grade_item(&session->items[mine], session);
        if (isatty(STDERR_FILENO))
            (void)fprintf(stderr, "\r%zu of %zu … ", mine + 1, session->item_count);
    }
}

/* ---- The table ---- */

/* The marks for which pick() holds, whole groups as "group.*". */
static void list_marks(struct bytes *out, const struct lab *lab, const bool *picked)
{
    for (size_t i = 0; i < lab->criterion_count;) {
        const char *id = lab->criteria[i].id;
        size_t group = strcspn(id, ".") + 1, end = i, count = 0;
        for (; end < lab->criterion_count && strncmp(lab->criteria[end].id, id, group) == 0; ++end)
            count += picked[end];
        if (count == end - i)
            bytes_printf(out, " %.*s*", (int)group, id);
        for (size_t k = i; count < end - i && k < end; ++k)
            if (picked[k])
                bytes_printf(out, " %s", lab->criteria[k].id);
        i = end;
    }
    if (out->length == 0)
        bytes_append_text(out, " none");
}

static bool as_expected(const struct session *session, const struct item *item,
                        const struct verdicts *v)
{
    if (item->floor >= 0)
        return v->score == item->floor;
    for (size_t i = 0; i < session->lab->criterion_count; ++i)
        if (v->got[i] != (v->expected[i] ? MARK_FAILED : MARK_PASSED))
            return false;
    return true;
}

static bool same_verdicts(const struct verdicts *a, const struct verdicts *b)
{
    return memcmp(a->got, b->got, sizeof a->got) == 0 &&
           memcmp(a->expected, b->expected, sizeof a->expected) == 0;
}

static void print_surprises(const struct session *session, const struct verdicts *v)
{
    for (size_t i = 0; i < session->lab->criterion_count; ++i)
        if (v->got[i] != (v->expected[i] ? MARK_FAILED : MARK_PASSED))
            (void)printf("    %s is %s, expected %s: %s\n", session->lab->criteria[i].id,
                         mark_status_word(v->got[i]), v->expected[i] ? "failed" : "passed",
                         v->message[i] != NULL ? v->message[i] : "");
}

/* Marks that were lost as they should be must also say the right thing. */
static void print_words(const struct session *session, const struct item *item, unsigned *passed,
                        unsigned *failed)
{
    char missing[400], arch[ARCH_NAME_BYTES];
    for (size_t i = 0; i < item->verdict_count; ++i)
        for (size_t k = 0; k < session->lab->criterion_count; ++k) {
            const struct verdicts *v = &item->verdicts[i];
            const char *mark = session->lab->criteria[k].id;
            unsigned found = 0;
            if (v->got[k] != MARK_FAILED)
                continue;
            bool right = mutant_words_hold(&session->words, item->name, mark, v->message[k],
                                           v->remedy[k], missing, sizeof missing, &found);
            *(right ? passed : failed) += right ? found > 0 : 1;
            if (!right)
                (void)printf("    on %s, %s does not say %s: %s | %s\n",
                             arch_name(v->arch, "sm_", arch), mark, missing, v->message[k],
                             v->remedy[k]);
        }
}

/* Neighbours with equal outcomes share a line. */
static void print_item(const struct session *session, const struct item *item, unsigned *passed,
                       unsigned *failed)
{
    size_t count = session->lab->criterion_count;
    for (size_t i = 0; i < item->verdict_count;) {
        const struct verdicts *v = &item->verdicts[i];
        bool good = as_expected(session, item, v), lost[CRITERIA_MAX] = {false};
        struct bytes archs = bytes_with_limit(400), marks = bytes_with_limit(4000);
        size_t end = i;
        for (; end < item->verdict_count && same_verdicts(v, &item->verdicts[end]); ++end)
            bytes_printf(&archs, "%s%u", end == i ? "sm_" : " ", item->verdicts[end].arch.number);
        for (size_t k = 0; k < count; ++k)
            lost[k] = v->got[k] != MARK_PASSED;
        list_marks(&marks, session->lab, lost);
        (void)printf("%-28s %-18s %-5s %3d  lost:%s\n", item->name, bytes_text(&archs),
                     good ? "ok" : "WRONG", v->score, bytes_text(&marks));
        if (!good && item->floor >= 0)
            (void)printf("    expected a score of %d\n", item->floor);
        else if (!good)
            print_surprises(session, v);
        *(good ? passed : failed) += (unsigned)(end - i);
        bytes_release(&archs);
        bytes_release(&marks);
        i = end;
    }
    if (item->err.kind != ERROR_NONE) {
        (void)printf("%-28s could not be graded: %s\n", item->name, item->err.text);
        ++*failed;
    }
}

/* ---- The command line ---- */

static int parse_archs(struct session *session, char *list, struct error *err)
{
    session->arch_count = 0;
    for (char *name; (name = strsep(&list, ",")) != NULL;)
        if (session->arch_count == TARGETS_MAX ||
            !arch_parse(name, &session->archs[session->arch_count++]))
            return error_set(err, ERROR_USAGE, "--arch: \"%s\" is no architecture", name);
    return 0;
}

static int parse_options(struct session *session, int argc, char **argv, struct error *err)
{
    static const struct option options[] = {
        {"executor", required_argument, NULL, 'e'},
        {"arch", required_argument, NULL, 'a'},
        {"seed", required_argument, NULL, 's'},
        {"lab", required_argument, NULL, 'l'},
        {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'e' && strcmp(optarg, "gpu") == 0)
            session->executor = EXECUTOR_GPU;
        else if (option == 'e' && strcmp(optarg, "emulator") == 0)
            session->executor = EXECUTOR_EMULATOR;
        else if (option == 'a' && parse_archs(session, optarg, err) == 0)
            continue;
        else if (option == 's' && number_parse_u64(optarg, INT64_MAX, &session->seed))
            continue;
        else if (option == 'l')
            session->lab = lab_find(optarg);
        else
            return error_set(err, ERROR_USAGE,
                             "usage: mutants [--executor emulator|gpu] [--arch sm_75,…] [--seed N] "
                             "[--lab ID] [NAME…]");
    }
    return session->lab != NULL ? 0 : error_set(err, ERROR_USAGE, "there is no such lab");
}

static int find_gpu(struct session *session, struct error *err)
{
    struct gpu_survey survey;
    if (session->executor != EXECUTOR_GPU)
        return 0;
    if (run_survey_gpus(&survey, err) != 0)
        return -1;
    if (survey.device_count == 0)
        return error_set(err, ERROR_INFRASTRUCTURE, "no GPU: %s", survey.why_none);
    session->gpu = survey.devices[0];
    return 0;
}

/* Those of the table's columns that this nvcc offers, unless others were asked for. */
static int choose_archs(struct session *session, struct error *err)
{
    char name[ARCH_NAME_BYTES];
    for (size_t i = 0; i < session->arch_count; ++i)
        if (!toolchain_knows(&session->toolchain, session->archs[i]))
            return error_set(err, ERROR_USAGE, "nvcc %s does not know %s",
                             session->toolchain.version, arch_name(session->archs[i], "sm_", name));
    if (session->arch_count > 0)
        return 0;
    for (size_t i = 0; i < COUNT_OF(arch_columns); ++i) {
        struct arch arch;
        if (!arch_parse(arch_columns[i], &arch))
            continue;
        if (toolchain_knows(&session->toolchain, arch))
            session->archs[session->arch_count++] = arch;
        else
            (void)printf("%s is left out: nvcc %s does not know it\n", arch_columns[i],
                         session->toolchain.version);
    }
    return session->arch_count > 0
               ? 0
               : error_set(err, ERROR_INFRASTRUCTURE, "nvcc %s knows none of the architectures",
                           session->toolchain.version);
}

static int prepare(struct session *session, int argc, char **argv, struct error *err)
{
    if (parse_options(session, argc, argv, err) != 0 ||
        toolchain_find(&session->toolchain, NULL, err) != 0 ||
        toolchain_ask(&session->toolchain, err) != 0 || choose_archs(session, err) != 0 ||
        list_items(session, argv + optind, argc - optind, err) != 0 ||
        mutant_words_load(&session->words, session->lab->id, err) != 0 ||
        find_gpu(session, err) != 0 ||
        numbers_prepare(&session->numbers, session->lab, session->seed, ELEMENTS, err) != 0)
        return -1;
    return 0;
}

static void grade_all(struct session *session)
{
    pthread_t threads[WORKERS];
    size_t started = 0;
    /* A GPU is one: launches of two workers would only disturb each other. */
    size_t wanted_workers = session->executor == EXECUTOR_GPU ? 1 : WORKERS;
    while (started < wanted_workers &&
           pthread_create(&threads[started], NULL, worker_main, session) == 0)
        ++started;
    if (started == 0)
        (void)worker_main(session);
    for (size_t i = 0; i < started; ++i)
        (void)pthread_join(threads[i], NULL);
}

static void session_release(struct session *session)
{
    for (size_t i = 0; i < session->item_count; ++i) {
        struct item *item = &session->items[i];
        for (size_t v = 0; v < item->verdict_count; ++v)
            for (size_t k = 0; k < CRITERIA_MAX; ++k) {
                free(item->verdicts[v].message[k]);
                free(item->verdicts[v].remedy[k]);
            }
        free(item->verdicts);
    }
    free(session->items);
    mutant_words_release(&session->words);
    numbers_release(&session->numbers);
    toolchain_release(&session->toolchain);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "worker") == 0)
        return cmd_worker(argc - 1, argv + 1);
    process_catch_interrupts();
    struct error err = {0};
    struct session session = {.lab = lab_registry[0],
                              .executor = EXECUTOR_EMULATOR,
                              .seed = 17,
                              .lock = PTHREAD_MUTEX_INITIALIZER};
    char *folder = temporary_folder_create(&err);
    session.folder = folder;
    unsigned passed = 0, failed = 0;
    if (folder != NULL && prepare(&session, argc, argv, &err) == 0) {
        (void)printf("%s, nvcc %s, seed %llu, %s\n\n", session.lab->id, session.toolchain.version,
                     (unsigned long long)session.seed,
                     session.executor == EXECUTOR_GPU ? session.gpu.name : "PTX emulator");
        grade_all(&session);
        for (size_t i = 0; i < session.item_count; ++i)
            print_item(&session, &session.items[i], &passed, &failed);
        for (size_t i = 0; i < session.item_count; ++i)
            print_words(&session, &session.items[i], &passed, &failed);
    }
    unsigned on_both = 0, identical = 0;
    for (size_t i = 0; i < session.item_count; ++i) {
        on_both += session.items[i].on_both;
        identical += session.items[i].identical;
    }
    if (session.executor == EXECUTOR_GPU) {
        (void)printf("\n%u launches finished on the GPU and on the emulator; the outputs of %u are "
                     "bit-identical\n",
                     on_both, identical);
        failed += on_both - identical;
    }
    temporary_folder_remove(folder);
    session_release(&session);
    if (err.kind != ERROR_NONE)
        return error_report(&err);
    (void)printf("\n%u passed, %u failed\n", passed, failed);
    return passed > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

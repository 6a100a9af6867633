/* check_recall.c - what is built and run once for many, and what is not. Shell scripts play the
 * compilers and count how often they are called; launches run on the emulator in the real worker.
 */
#include "testing.h"

#include <sys/stat.h>

#include "build.h"
#include "numbers_pack.h"
#include "recall.h"
#include "support_lab.h"
#include "support_toolkit.h"
#include "worker_process.h"

static struct fake_toolkit toolkit;
static struct toolchain toolchain;
static struct cache *cache;
static struct recall recall;
static char cache_folder_path[512];

#define COUNT_NVCC "echo x >> \"$here/nvcc-calls\"\n"
#define COUNT_PTXAS "echo x >> \"$here/ptxas-calls\"\n"

static void open_recall(void)
{
    struct error err = {0};
    ck_assert_msg(cache_open(&cache, cache_folder_path, &err) == 0 &&
                      recall_open(&recall, cache, &toolchain, &err) == 0,
                  "%s", err.text);
}

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
    support_new_folder(cache_folder_path);
    ck_assert_int_eq(chmod(cache_folder_path, 0700), 0);
    open_recall();
}

static void tear_down(void)
{
    cache_close(cache);
    toolchain_release(&toolchain);
}

/* Builds for sm_75 in a folder of its own. */
static void build(struct build *ret, const char *source)
{
    static const struct arch arch = {.number = 75};
    char folder[512];
    struct submission submission = {.lab = &support_lab};
    struct error err = {0};
    support_new_folder(folder);
    submission.source.content = bytes_with_limit(10000);
    ck_assert_int_eq(bytes_append_text(&submission.source.content, source), 0);
    const struct build_options options = {.toolchain = &toolchain,
                                          .archs = &arch,
                                          .arch_count = 1,
                                          .what_if_arch = arch,
                                          .folder = folder,
                                          .recall = &recall};
    ck_assert_msg(build_run(ret, &submission, &options, &err) == 0, "%s", err.text);
    submission_release(&submission);
}

/* Builds, and says whether the build is whole and what it is about. */
static bool builds(const char *source, char problem[200])
{
    struct build made;
    build(&made, source);
    const struct build_target *target = &made.targets[0];
    bool whole = target->compiled && target->image.assembled && target->image.readable &&
                 target->image.report.kernel_count == 2 && made.has_what_if;
    (void)snprintf(problem, 200, "%s%s%s", target->problem, target->image.problem,
                   bytes_text(&target->words));
    build_release(&made);
    return whole;
}

static size_t calls(const char *name)
{
    struct bytes note = fake_toolkit_note(&toolkit, name);
    size_t count = note.length / 2;
    bytes_release(&note);
    return count;
}

#define NVCC_CALLS calls("nvcc-calls")
#define PTXAS_CALLS calls("ptxas-calls")

START_TEST(near_copies_are_compiled_once)
{
    char problem[200];
    set_up(COUNT_NVCC FAKE_NVCC, COUNT_PTXAS FAKE_PTXAS);
    ck_assert(builds("int a; // one\n", problem));
    ck_assert_uint_eq(NVCC_CALLS, 1);
    ck_assert_uint_eq(PTXAS_CALLS, 2); /* and the what-if */
    ck_assert(builds("int a; // another\n", problem));
    ck_assert(builds("int a;\t\n", problem));
    ck_assert_uint_eq(NVCC_CALLS, 1);
    ck_assert_uint_eq(PTXAS_CALLS, 2);
    /* Another source that gives the same PTX is not assembled again. */
    ck_assert(builds("int b;\n", problem));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    ck_assert_uint_eq(PTXAS_CALLS, 2);
    /* A later batch knows it all. */
    cache_close(cache);
    open_recall();
    ck_assert(builds("int b; // x\n", problem));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    tear_down();
}
END_TEST

START_TEST(line_tables_do_not_count_for_machine_code)
{
    char problem[200];
    set_up(COUNT_NVCC "sed \"s/^\\tret;/\\t.loc\\t1 $(wc -l < \"$source\") 5\\n\\tret;/\" "
                      "\"$here/module.ptx\" > \"$out\"; cp \"$out\" \"$here/made\"\n",
           COUNT_PTXAS FAKE_PTXAS);
    ck_assert(builds("int a;\n", problem));
    ck_assert(builds("\n\nint a;\n", problem));
    ck_assert(builds("\n\n\nint a;\n", problem));
    struct bytes made = fake_toolkit_note(&toolkit, "made");
    ck_assert_ptr_nonnull(strstr(bytes_text(&made), "\t.loc\t1 4 5\n\tret;"));
    bytes_release(&made);
    ck_assert_uint_eq(NVCC_CALLS, 3);
    ck_assert_uint_eq(PTXAS_CALLS, 2);
    tear_down();
}
END_TEST

/* Its .loc names the line of the declaration, and $1 goes into the text as well. */
#define COMPILE_WITH_LINES(extra)                                                                  \
    COUNT_NVCC "line=$(grep -n 'int a' \"$source\" | cut -d: -f1)\n"                               \
               "{ sed \"s/^\\tret;/\\t.loc\\t1 $line 5\\n\\tret;/\" \"$here/module.ptx\"\n"        \
               "printf '" extra "\\t.file\\t1 \"/submission/tiny.cu\"\\n' $line; } > \"$out\"\n"

static void assert_line(const char *source, const char *entry)
{
    struct build made;
    build(&made, source);
    ck_assert_msg(strstr(bytes_text(&made.targets[0].ptx), entry) != NULL, "%s: %s", source,
                  bytes_text(&made.targets[0].ptx));
    ck_assert(made.targets[0].image.assembled);
    build_release(&made);
}

START_TEST(the_same_code_on_other_lines_is_compiled_twice)
{
    set_up(COMPILE_WITH_LINES(""), FAKE_PTXAS);
    assert_line("int a;\nint b;\n", "\t.loc\t1 1 5\n");
    assert_line("// me\nint a;\nint b;\n", "\t.loc\t1 2 5\n");
    ck_assert_uint_eq(NVCC_CALLS, 2);
    assert_line("\n\n\nint a;\n/* so\n */\nint b;\n", "\t.loc\t1 4 5\n");
    assert_line("int a;\n\nint b;\n", "\t.loc\t1 1 5\n");
    ck_assert_uint_eq(NVCC_CALLS, 2);
    assert_line("int a; int b;\n", "\t.loc\t1 1 5\n"); /* other lines of code */
    ck_assert_uint_eq(NVCC_CALLS, 3);
    tear_down();
}
END_TEST

START_TEST(lines_that_stay_prove_nothing)
{
    set_up(COMPILE_WITH_LINES(""), FAKE_PTXAS);
    assert_line("int a;\nint b;\n", "\t.loc\t1 1 5\n");
    assert_line("int a;\n\nint b;\n", "\t.loc\t1 1 5\n");
    assert_line("int a;\n\n\nint b;\n", "\t.loc\t1 1 5\n");
    ck_assert_uint_eq(NVCC_CALLS, 3);
    assert_line("\nint a;\nint b;\n", "\t.loc\t1 2 5\n");
    assert_line("\n\nint a;\nint b;\n", "\t.loc\t1 3 5\n");
    ck_assert_uint_eq(NVCC_CALLS, 4);
    tear_down();
}
END_TEST

START_TEST(code_that_depends_on_its_lines_is_compiled_each_time)
{
    set_up(COMPILE_WITH_LINES("// asked for %s\\n"), FAKE_PTXAS);
    assert_line("int a;\n", "// asked for 1\n");
    assert_line("\nint a;\n", "// asked for 2\n");
    assert_line("\n\nint a;\n", "// asked for 3\n");
    assert_line("\n\n\nint a;\n", "// asked for 4\n");
    ck_assert_uint_eq(NVCC_CALLS, 4);
    tear_down();
}
END_TEST

START_TEST(words_of_the_compiler_are_shared_by_equal_files_alone)
{
    char problem[200];
    set_up(COUNT_NVCC "echo \"tiny.cu(1): error: in $(cat \"$source\")\"; exit 1\n", FAKE_PTXAS);
    ck_assert(!builds("int a; // one", problem));
    ck_assert_ptr_nonnull(strstr(problem, "in int a; // one"));
    ck_assert_uint_eq(NVCC_CALLS, 1);
    /* The words quote the comment: a near copy needs its own. */
    ck_assert(!builds("int a; // two", problem));
    ck_assert_ptr_nonnull(strstr(problem, "in int a; // two"));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    for (int again = 0; again < 2; ++again) {
        ck_assert(!builds("int a; // one", problem));
        ck_assert_ptr_nonnull(strstr(problem, "in int a; // one"));
        ck_assert(!builds("int a; // two", problem));
        ck_assert_ptr_nonnull(strstr(problem, "in int a; // two"));
    }
    ck_assert_uint_eq(NVCC_CALLS, 2);
    tear_down();
}
END_TEST

START_TEST(a_warning_is_as_private_as_an_error)
{
    char problem[200];
    set_up(COUNT_NVCC "echo \"tiny.cu(1): warning: in $(cat \"$source\")\"\n" FAKE_NVCC,
           FAKE_PTXAS);
    ck_assert(builds("int a; // one", problem));
    ck_assert(builds("int a; // two", problem));
    ck_assert_ptr_nonnull(strstr(problem, "in int a; // two"));
    ck_assert(builds("int a; // one", problem));
    ck_assert_ptr_nonnull(strstr(problem, "in int a; // one"));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    tear_down();
}
END_TEST

START_TEST(what_a_limit_stopped_is_tried_again)
{
    char problem[200];
    set_up(COUNT_NVCC "[ -e \"$here/quick\" ] || sleep 20\n" FAKE_NVCC, FAKE_PTXAS);
    toolchain.compile_seconds = 1;
    ck_assert(!builds("int a;", problem));
    ck_assert_ptr_nonnull(strstr(problem, "still busy"));
    fake_toolkit_add(&toolkit, "quick", "", 0);
    ck_assert(builds("int a;", problem));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    tear_down();
}
END_TEST

START_TEST(what_ptxas_refuses_is_not_kept)
{
    char problem[200];
    set_up(FAKE_NVCC,
           COUNT_PTXAS "[ -e \"$here/good\" ] || { echo \"$source, line 7; error : no\"; "
                       "exit 1; }\n" FAKE_PTXAS);
    ck_assert(!builds("int a;", problem));
    ck_assert_ptr_nonnull(strstr(problem, "line 7"));
    ck_assert(!builds("int a;", problem));
    fake_toolkit_add(&toolkit, "good", "", 0);
    ck_assert(builds("int a;", problem));
    size_t before = PTXAS_CALLS;
    ck_assert(builds("int a;", problem));
    ck_assert_uint_eq(PTXAS_CALLS, before);
    tear_down();
}
END_TEST

START_TEST(another_compiler_compiles_anew)
{
    char problem[200];
    set_up(COUNT_NVCC FAKE_NVCC, COUNT_PTXAS FAKE_PTXAS);
    ck_assert(builds("int a;", problem));
    struct bytes script = fake_toolkit_note(&toolkit, "ptxas");
    bytes_append_text(&script, "# mended\n");
    fake_toolkit_add(&toolkit, "ptxas", script.data, script.length);
    bytes_release(&script);
    cache_close(cache);
    open_recall();
    ck_assert(builds("int a;", problem));
    ck_assert_uint_eq(NVCC_CALLS, 2);
    ck_assert_uint_eq(PTXAS_CALLS, 4);
    tear_down();
}
END_TEST

/* ---- Runs ------------------------------------------------------------------------------------*/

struct ran {
    struct build build;
    struct numbers_result result;
    bool recalled;
};

static void run(struct ran *ret, const struct numbers *numbers, const char *source)
{
    struct error err = {0};
    const struct audit audit = {0};
    const struct numbers_options options = {
        .executor = EXECUTOR_EMULATOR, .arch = {.number = 75}, .threads = 1, .unconfined = true};
    worker_process_use(testing_binary(), NULL);
    build(&ret->build, source);
    struct recall_claim claim;
    ret->recalled =
        recall_run(&claim, &recall, numbers, &ret->build.targets[0], &options, "", &ret->result);
    if (ret->recalled)
        return;
    int status = numbers_run(&ret->result, numbers, &ret->build.targets[0], &audit, &options, &err);
    recall_keep_run(&claim, numbers, status == 0 ? &ret->result : NULL);
    ck_assert_msg(status == 0, "%s", err.text);
}

static void ran_release(struct ran *ran)
{
    numbers_result_release(&ran->result);
    build_release(&ran->build);
}

static void assert_same(const struct numbers_result *a, const struct numbers_result *b)
{
    ck_assert_str_eq(a->run.device, b->run.device);
    ck_assert_uint_eq(a->outcome_count, b->outcome_count);
    for (size_t i = 0; i < a->outcome_count; ++i) {
        const struct case_outcome *x = &a->outcomes[i], *y = &b->outcomes[i];
        ck_assert_int_eq(x->status, y->status);
        ck_assert_uint_eq(x->compared, y->compared);
        ck_assert_uint_eq(x->mismatches, y->mismatches);
        ck_assert_uint_eq(x->first_index, y->first_index);
        ck_assert_uint_eq(x->got_bits, y->got_bits);
        ck_assert_str_eq(x->problem, y->problem);
        ck_assert_uint_eq(x->launch->traffic.global.load.sectors,
                          y->launch->traffic.global.load.sectors);
        ck_assert(x->launch->traffic.global.known);
        ck_assert_uint_eq(x->launch->warps_launched, y->launch->warps_launched);
        ck_assert_int_eq(x->launch->device_registers, y->launch->device_registers);
        for (size_t k = 0; k < a->outcome_count; ++k)
            if (x->status == CASE_EQUAL && a->outcomes[k].status == CASE_EQUAL)
                ck_assert_int_eq(numbers_differ(a, i, k), numbers_differ(b, i, k));
    }
}

static struct numbers prepare(uint64_t seed)
{
    struct numbers numbers;
    struct error err = {0};
    ck_assert_msg(numbers_prepare(&numbers, &support_lab, seed, 0, &err) == 0, "%s", err.text);
    return numbers;
}

/* What the script makes of the tiny module, and whether its run may stand for others. */
static const struct {
    const char *nvcc;
    bool shared;
} kernels[] = {
    {FAKE_NVCC, true},
    /* A wrong answer names no line. */
    {"sed 's/add.f32/mul.f32/; s/add.rn.f32/mul.rn.f32/' \"$here/module.ptx\" > \"$out\"\n", true},
};

START_TEST(a_run_stands_for_its_near_copies)
{
    set_up(kernels[_i].nvcc, FAKE_PTXAS);
    struct numbers numbers = prepare(17), others = prepare(18);
    struct ran first, second, third;
    run(&first, &numbers, "int a;\n");
    ck_assert(!first.recalled);
    run(&second, &numbers, "int b;\n");
    ck_assert_int_eq(second.recalled, kernels[_i].shared);
    assert_same(&first.result, &second.result);
    run(&third, &others, "int a;\n");
    ck_assert(!third.recalled); /* other inputs */
    ran_release(&first);
    ran_release(&second);
    ran_release(&third);
    numbers_release(&numbers);
    numbers_release(&others);
    tear_down();
}
END_TEST

/* Before each load the line of the declaration, as this file's or another's; `change` is a script
 * of sed for what is wrong with the kernels. */
#define COMPILE_WITH_FAULT(file, change)                                                           \
    "line=$(grep -n 'int [ab]' \"$source\" | cut -d: -f1)\n"                                       \
    "column=$(wc -c < \"$source\")\n"                                                              \
    "{ sed \"" change "; s/^\tld.global/\t.loc\t" file " $line $column\\n&/\" "                    \
    "\"$here/module.ptx\"\n"                                                                       \
    "printf '\\t.file\\t1 \"/some/%s/tiny.cu\"\\n\\t.file\\t2 \"/lib/head.h\"\\n' \"$column\"; } " \
    "> \"$out\"\n"
/* Every load far outside its buffer. */
#define FAR_AWAY "s/\\(ld.global[a-z0-9.]*[^[]*\\[%rd[0-9]*\\)[^]]*]/\\1+1000000000]/"
#define BOUND_TOO_TIGHT "s/^.maxntid 64/.maxntid 32/"

/* A run that nothing was recalled for, of the same source: the truth. */
static void run_alone(struct ran *ret, const struct numbers *numbers, const char *source)
{
    struct cache *kept = recall.cache;
    struct error err = {0};
    support_new_folder(cache_folder_path);
    ck_assert_int_eq(chmod(cache_folder_path, 0700), 0);
    ck_assert_int_eq(cache_open(&recall.cache, cache_folder_path, &err), 0);
    run(ret, numbers, source);
    ck_assert(!ret->recalled);
    cache_close(recall.cache);
    recall.cache = kept;
}

static const struct {
    const char *what, *nvcc;
    bool shared;
} faults[] = {
    {"the line is the source's", COMPILE_WITH_FAULT("1", FAR_AWAY), true},
    {"the line is a header's", COMPILE_WITH_FAULT("2", FAR_AWAY), false},
    {"not launched", COMPILE_WITH_FAULT("1", BOUND_TOO_TIGHT), true},
};

START_TEST(a_fault_stands_for_the_same_code_on_other_lines)
{
    static const char *const sources[] = {"int a;\n", "\n\n\nint a;\n", "// b\nint b;\n",
                                          "int b;\n"};
    set_up(faults[_i].nvcc, FAKE_PTXAS);
    struct numbers numbers = prepare(17);
    for (size_t i = 0; i < COUNT_OF(sources); ++i) {
        struct ran one, alone;
        size_t wrong = 0;
        run(&one, &numbers, sources[i]);
        run_alone(&alone, &numbers, sources[i]);
        ck_assert_msg(one.recalled == (i > 0 && faults[_i].shared), "%s, %zu", faults[_i].what, i);
        for (size_t k = 0; k < one.result.outcome_count; ++k) {
            const struct case_outcome *x = &one.result.outcomes[k], *y = &alone.result.outcomes[k];
            wrong += x->status == CASE_WRONG;
            ck_assert_int_eq(x->status, y->status);
            ck_assert_str_eq(x->problem, y->problem);
            ck_assert_str_eq(x->remedy, y->remedy);
            ck_assert_uint_eq(x->compared, y->compared);
            ck_assert_int_eq(x->launch == NULL, y->launch == NULL);
            if (x->launch == NULL)
                continue;
            ck_assert_int_eq(x->launch->status, y->launch->status);
            ck_assert_uint_eq(x->launch->fault.line, y->launch->fault.line);
            ck_assert_uint_eq(x->launch->fault.count, y->launch->fault.count);
            ck_assert_str_eq(x->launch->fault.kind, y->launch->fault.kind);
            ck_assert_str_eq(x->launch->fault.text, y->launch->fault.text);
        }
        ck_assert_uint_ge(wrong, 3);
        ran_release(&one);
        ran_release(&alone);
    }
    numbers_release(&numbers);
    tear_down();
}
END_TEST

START_TEST(a_fault_without_a_source_line_is_met_by_each_for_itself)
{
    set_up("sed '" FAR_AWAY "' \"$here/module.ptx\" > \"$out\"\n", FAKE_PTXAS);
    struct numbers numbers = prepare(17);
    struct ran first, second;
    run(&first, &numbers, "int a;\n");
    ck_assert_int_eq(first.result.outcomes[0].launch->status, RUN_FAULTED);
    run(&second, &numbers, "int b;\n");
    ck_assert(!second.recalled);
    ck_assert_int_eq(second.result.outcomes[0].launch->status, RUN_FAULTED);
    ran_release(&first);
    ran_release(&second);
    numbers_release(&numbers);
    tear_down();
}
END_TEST

/* Sentences in which a number may be a line's without our knowing. */
static const struct {
    const char *text, *file;
    enum run_status status;
    unsigned line;
    enum numbers_packing packing;
} sentences[] = {
    {"k reads too far: thread 0 (tiny.cu:3) read", "/x/tiny.cu", RUN_FAULTED, 3,
     NUMBERS_NAME_LINES},
    {"k reads too far: thread 0 (tiny.cu:3)", "tiny.cu", RUN_FAULTED, 3, NUMBERS_NAME_LINES},
    {"k reads too far: thread 0 (tiny.cu:3) read", "/x/head.h", RUN_FAULTED, 3, NUMBERS_NOT_PACKED},
    {"k reads too far: thread 0 (tiny.cu:3) read", "/x/tiny.cu", RUN_FAULTED, 4,
     NUMBERS_NOT_PACKED},
    {"k reads too far: thread 0 (tiny.cu:5) read", "/x/tiny.cu", RUN_FAULTED, 5,
     NUMBERS_NOT_PACKED},
    {"k reads too far: thread 0 (tiny.cu:33) read", "/x/tiny.cu", RUN_FAULTED, 3,
     NUMBERS_NOT_PACKED},
    {"k races: (tiny.cu:3) with (tiny.cu:4)", "/x/tiny.cu", RUN_FAULTED, 3, NUMBERS_NOT_PACKED},
    {"k asserts: tiny.cu:3: k: false (tiny.cu:3)", "/x/tiny.cu", RUN_FAULTED, 3,
     NUMBERS_NOT_PACKED},
    {"k races: thread 0 (tiny.cu:3) with line 4", "/x/tiny.cu", RUN_FAULTED, 3, NUMBERS_NOT_PACKED},
    {"k waits: thread 0 (tiny.cu:3), others at lines 4 and 5", "/x/tiny.cu", RUN_FAULTED, 3,
     NUMBERS_NOT_PACKED},
    {"k reads too far: thread 0 (PTX line 3)", "", RUN_FAULTED, 0, NUMBERS_NOT_PACKED},
    {"k reads too far", "/x/tiny.cu", RUN_FAULTED, 3, NUMBERS_NOT_PACKED},
    {"", "", RUN_FAULTED, 0, NUMBERS_NOT_PACKED},
    {"k takes long: thread 0 (tiny.cu:3)", "/x/tiny.cu", RUN_TIMED_OUT, 3, NUMBERS_NOT_PACKED},
    {"k is lost: thread 0 (tiny.cu:3)", "/x/tiny.cu", RUN_LOST, 3, NUMBERS_NOT_PACKED},
};

START_TEST(a_sentence_is_packed_where_its_line_is_sure)
{
    struct numbers numbers = prepare(17);
    uint32_t lines[] = {9, 3, 4};
    const struct line_map map = {lines, COUNT_OF(lines)};
    struct run_launch_result launch = {.status = sentences[_i].status};
    struct case_outcome outcome = {.status = CASE_WRONG, .launch = &launch};
    struct numbers_result result = {
        .run.executor = EXECUTOR_EMULATOR, .outcomes = &outcome, .outcome_count = 1};
    (void)snprintf(launch.fault.text, sizeof launch.fault.text, "%s", sentences[_i].text);
    (void)snprintf(launch.fault.file, sizeof launch.fault.file, "%s", sentences[_i].file);
    launch.fault.line = sentences[_i].line;
    ck_assert_int_eq(numbers_can_pack(&result, &numbers, &map), sentences[_i].packing);
    ck_assert_int_eq(numbers_can_pack(&result, &numbers, NULL), NUMBERS_NOT_PACKED);
    result.run.executor = EXECUTOR_GPU;
    ck_assert_int_eq(numbers_can_pack(&result, &numbers, &map), NUMBERS_NOT_PACKED);
    numbers_release(&numbers);
}
END_TEST

START_TEST(damaged_results_are_not_taken)
{
    static const char *const scripts[] = {FAKE_NVCC, COMPILE_WITH_FAULT("1", FAR_AWAY),
                                          COMPILE_WITH_FAULT("1", BOUND_TOO_TIGHT)};
    set_up(scripts[_i], FAKE_PTXAS);
    struct numbers numbers = prepare(17);
    struct ran ran;
    struct line_map map;
    struct bytes text;
    run(&ran, &numbers, "\nint a;\n");
    const struct bytes *ptx = &ran.build.targets[0].ptx;
    const bool mapped = line_map_of_ptx(&map, &text, (struct slice){bytes_text(ptx), ptx->length},
                                        support_lab.source_name);
    ck_assert_int_eq(mapped, _i > 0);
    ck_assert_int_eq(numbers_can_pack(&ran.result, &numbers, &map),
                     _i == 0 ? NUMBERS_NAME_NONE : NUMBERS_NAME_LINES);
    struct bytes packed = bytes_with_limit(100000);
    numbers_pack(&packed, &ran.result, &numbers, &map);
    for (size_t length = 0; length <= packed.length; ++length) {
        struct numbers_result taken;
        struct unpack from = unpack_from(packed.data, length);
        ck_assert_int_eq(numbers_unpack(&taken, &numbers, &map, &from), length == packed.length);
        numbers_result_release(&taken);
    }
    if (_i == 1) { /* a line that these lines do not have */
        const struct line_map none = {map.lines, 0};
        struct numbers_result taken;
        struct unpack from = unpack_from(packed.data, packed.length);
        ck_assert(!numbers_unpack(&taken, &numbers, &none, &from));
        from = unpack_from(packed.data, packed.length);
        ck_assert(!numbers_unpack(&taken, &numbers, NULL, &from));
    }
    bytes_release(&packed);
    bytes_release(&text);
    line_map_release(&map);
    ran_release(&ran);
    numbers_release(&numbers);
    tear_down();
}
END_TEST

Suite *suite_recall(void)
{
    Suite *suite = suite_create("recall");
    TCase *tests = tcase_create("recall");
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, near_copies_are_compiled_once);
    tcase_add_test(tests, line_tables_do_not_count_for_machine_code);
    tcase_add_test(tests, the_same_code_on_other_lines_is_compiled_twice);
    tcase_add_test(tests, lines_that_stay_prove_nothing);
    tcase_add_test(tests, code_that_depends_on_its_lines_is_compiled_each_time);
    tcase_add_test(tests, words_of_the_compiler_are_shared_by_equal_files_alone);
    tcase_add_test(tests, a_warning_is_as_private_as_an_error);
    tcase_add_test(tests, what_a_limit_stopped_is_tried_again);
    tcase_add_test(tests, what_ptxas_refuses_is_not_kept);
    tcase_add_test(tests, another_compiler_compiles_anew);
    tcase_add_loop_test(tests, a_run_stands_for_its_near_copies, 0, (int)COUNT_OF(kernels));
    tcase_add_loop_test(tests, a_fault_stands_for_the_same_code_on_other_lines, 0,
                        (int)COUNT_OF(faults));
    tcase_add_test(tests, a_fault_without_a_source_line_is_met_by_each_for_itself);
    tcase_add_loop_test(tests, a_sentence_is_packed_where_its_line_is_sure, 0,
                        (int)COUNT_OF(sentences));
    tcase_add_loop_test(tests, damaged_results_are_not_taken, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}

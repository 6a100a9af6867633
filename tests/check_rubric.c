/* check_rubric.c - every kind of criterion on made-up facts: passed, failed, skipped, error. */
#include "testing.h"

#include "support_situation.h"
#include "text.h"

static struct situation s;

/* ---- The changes ----------------------------------------------------------------------------- */

static void nothing(void) {}
static void foreign_entry(void)
{
    s.more_ptx = ".visible .entry other() { ret; }\n";
}
static void inline_assembly(void)
{
    s.pick_body = "// begin inline asm\n // end inline asm\n";
}
static void does_not_compile(void)
{
    s.compiled = false;
}
static void ptxas_refuses(void)
{
    s.assembled = false;
}
static void outcome(size_t index, enum case_status status, const char *problem)
{
    s.outcomes[index].status = status;
    (void)snprintf(s.outcomes[index].problem, sizeof s.outcomes[index].problem, "%s", problem);
}
static void twice_wrong(void)
{
    outcome(TINY_CASE_TWICE, CASE_WRONG, "3 elements differ");
    s.launches[TINY_CASE_TWICE].fault.line = 12;
}
static void twice_skipped(void)
{
    outcome(TINY_CASE_TWICE, CASE_SKIPPED, "not run");
}
static void twice_lost(void)
{
    outcome(TINY_CASE_TWICE, CASE_ERROR, "the worker died");
}
static void pick_wrong_and_lost(void)
{
    outcome(TINY_CASE_PICK, CASE_ERROR, "the worker died");
    outcome(TINY_CASE_PICK_AGAIN, CASE_WRONG, "first wrong");
    outcome(TINY_CASE_DRAWN, CASE_SKIPPED, "not run");
}
static void pick_wrong_twice(void)
{
    outcome(TINY_CASE_PICK, CASE_WRONG, "first wrong");
    outcome(TINY_CASE_DRAWN, CASE_WRONG, "last wrong");
}
static void pick_endless(void)
{
    outcome(TINY_CASE_PICK_AGAIN, CASE_WRONG, "does not end");
    outcome(TINY_CASE_DRAWN, CASE_WRONG, "not launched");
    (void)snprintf(s.launches[TINY_CASE_DRAWN].fault.kind,
                   sizeof s.launches[TINY_CASE_DRAWN].fault.kind, "%s", RUN_NOT_LAUNCHED_AGAIN);
}
static void pick_skipped_and_lost(void)
{
    outcome(TINY_CASE_PICK, CASE_SKIPPED, "not run");
    outcome(TINY_CASE_DRAWN, CASE_ERROR, "the worker died");
}
static float outputs[2][10];
static void outputs_differ(void)
{
    for (size_t i = 0; i < 2; ++i) {
        s.launches[i].outputs[0] =
            (struct run_output){.data = outputs[i], .bytes = sizeof outputs[i]};
        s.launches[i].output_count = 1;
        for (size_t k = 0; k < 10; ++k)
            outputs[i][k] = k < 3 ? (float)i : 5.0f;
    }
}
static void outputs_differ_from_wrong(void)
{
    outputs_differ();
    outcome(TINY_CASE_TWICE, CASE_WRONG, "wrong");
}
static void both(struct said *ptxas, struct said *cubin, int64_t *(*member)(struct said *),
                 int64_t value)
{
    *member(ptxas) = *member(cubin) = value;
}
#define MEMBER(name)                                                                               \
    static int64_t *name##_of(struct said *said)                                                   \
    {                                                                                              \
        return &said->name;                                                                        \
    }
MEMBER(registers)
MEMBER(stack_bytes)
MEMBER(spill_store_bytes)
MEMBER(spill_load_bytes)
MEMBER(shared_bytes)
#define PICK_SAYS(what, value) both(&s.ptxas[TINY_PICK], &s.cubin[TINY_PICK], what##_of, value)

static void frame_60(void)
{
    PICK_SAYS(stack_bytes, 60);
}
static void frame_72(void)
{
    PICK_SAYS(stack_bytes, 72);
}
static void frame_72_and_spills(void)
{
    frame_72();
    PICK_SAYS(spill_store_bytes, 4);
    PICK_SAYS(spill_load_bytes, 4);
}
static void no_frame(void)
{
    PICK_SAYS(stack_bytes, 0);
}
static void spill_stores(void)
{
    PICK_SAYS(spill_store_bytes, 4);
}
static void spill_loads(void)
{
    PICK_SAYS(spill_load_bytes, 4);
}
static void registers_65(void)
{
    PICK_SAYS(registers, 65);
}
static void registers_63(void)
{
    PICK_SAYS(registers, 63);
}
static void shared_hidden(void)
{
    PICK_SAYS(shared_bytes, 1024);
}
static void shared_declared(void)
{
    PICK_SAYS(shared_bytes, 1024);
    s.pick_body = ".shared .align 4 .b8 tile[1024];";
}
static void unknown_arch(void)
{
    s.arch = 77; /* nvcc knows it, our table does not */
}
static void bounds_absent(void)
{
    s.pick_directives = "";
}
static void bounds_one(void)
{
    s.pick_directives = ".maxntid 64";
}
static void bounds_two_dimensions(void)
{
    s.pick_directives = ".maxntid 32, 2, 1 .minnctapersm 2";
}
static void bounds_other_blocks(void)
{
    s.pick_directives = ".maxntid 64, 1, 1 .minnctapersm 3";
}
static void bounds_required(void)
{
    s.pick_directives = ".reqntid 64, 1, 1 .minnctapersm 2";
}
static void bounds_register_cap(void)
{
    s.pick_directives = ".maxnreg 64";
}
static void registers_65_bounded(void)
{
    registers_65();
    s.pick_directives = ".maxntid 64, 1, 1 .minnctapersm 16";
}
#define ANSWERS(name, text)                                                                        \
    static void name(void)                                                                         \
    {                                                                                              \
        s.answers = text;                                                                          \
    }
ANSWERS(no_answers, NULL)
ANSWERS(empty_answers, "")
ANSWERS(blank, "[registers]\ntwice =\n[q]\nword = \n")
ANSWERS(given_twice, "[registers]\ntwice = 8\ntwice = 8\n[q]\nword = fits\nword = fits\n")
ANSWERS(no_number, "[registers]\ntwice = eight\n[q]\nnumber = 8.5\n")
ANSWERS(wrong, "[registers]\ntwice = 9\n[q]\nword = spills\nnumber = 9\nwhat_if = 9\n")
ANSWERS(misspelt, "[registers]\ntwice = 8\n\n[q]\nword = spils\n")
ANSWERS(other_case, "[REGISTERS]\nTWICE = 0x8\n[Q]\nWord = FITS\nNumber = 8.0\n")
ANSWERS(wrong_by_12_6, "[build]\nnvcc = 12.6\n[registers]\ntwice = 9\n[q]\nnumber = 9\n")
ANSWERS(wrong_by_V12_6_85, "[build]\nnvcc = V12.6.85\n[registers]\ntwice = 9\n")
ANSWERS(right_by_12_6, "[build]\nnvcc = 12.6\n[registers]\ntwice = 8\n")
ANSWERS(wrong_by_13_0, "[build]\nnvcc = 13.0\n[registers]\ntwice = 9\n")
ANSWERS(wrong_by_13_0_48, "[build]\nnvcc = 13.0.48\n[registers]\ntwice = 9\n")
ANSWERS(wrong_by_words, "[build]\nnvcc = the newest\n[registers]\ntwice = 9\n")
ANSWERS(wrong_by_number, "[build]\nnvcc = 12\n[registers]\ntwice = 9\n")
ANSWERS(wrong_by_many, "[build]\nnvcc = 12.6\nnvcc = 12.6\n[registers]\ntwice = 9\n")
static void arch_unknown_to_nvcc(void)
{
    s.nvcc_knows_arch = false;
}
static void no_what_if(void)
{
    s.has_what_if = false;
}
static void what_if_disagrees(void)
{
    s.what_if_cubin.registers = 9;
}
static void what_if_disagrees_blamed(void)
{
    what_if_disagrees();
    foreign_entry();
}

/* ---- Witnesses ------------------------------------------------------------------------------- */

#define DISAGREE(what)                                                                             \
    static void what##_disagree(void)                                                              \
    {                                                                                              \
        ++*what##_of(&s.cubin[TINY_PICK]);                                                         \
    }                                                                                              \
    static void what##_disagree_with_asm(void)                                                     \
    {                                                                                              \
        what##_disagree();                                                                         \
        inline_assembly();                                                                         \
    }
DISAGREE(registers)
DISAGREE(stack_bytes)
DISAGREE(spill_store_bytes)
DISAGREE(spill_load_bytes)
DISAGREE(shared_bytes)
static void disagree_with_foreign(void)
{
    registers_disagree();
    foreign_entry();
}
static void twice_disagrees(void)
{
    ++s.cubin[TINY_TWICE].registers;
}
static void unreadable_cubin(void)
{
    s.cubin_readable = false;
    s.cubin[TINY_PICK].registers = 1;
}
static void cubin_without_pick(void)
{
    s.cubin_has_pick = false;
}
static void report_without_pick(void)
{
    s.report = "ptxas info    : Compiling entry function '_Z5twicePKfPfm' for 'sm_75'\n"
               "ptxas info    : Function properties for _Z5twicePKfPfm\n"
               "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
               "ptxas info    : Used 8 registers, 376 bytes cmem[0]\n";
}
static void report_in_no_language(void)
{
    s.report = "ptxas: tutto bene\n";
}
static void report_in_no_language_with_asm(void)
{
    report_in_no_language();
    inline_assembly();
}
static void on_device(unsigned cc, int64_t registers, int64_t blocks)
{
    s.run.executor = EXECUTOR_GPU;
    s.run.device_cc = cc;
    for (size_t i = 0; i < TINY_CASES; ++i) {
        bool pick = i != TINY_CASE_TWICE;
        s.launches[i].device_registers = pick ? registers : 8;
        s.launches[i].device_local_bytes = pick ? 64 : 0;
        s.launches[i].device_shared_bytes = 0;
        s.launches[i].device_blocks_per_sm = pick ? blocks : 16;
    }
}
static void device_agrees(void)
{
    on_device(75, 64, 16);
}
static void device_disagrees(void)
{
    on_device(75, 63, 16);
}
static void device_blocks_disagree(void)
{
    on_device(75, 64, 15);
}
static void other_device(void)
{
    on_device(90, 40, 32);
}

#define PASSED MARK_PASSED
#define FAILED MARK_FAILED
#define SKIPPED MARK_SKIPPED
#define ERROR MARK_ERROR

/* clang-format off */
static const struct {
    void (*change)(void);
    unsigned criterion;
    enum mark_status status;
    const char *message; /* part of it */
} rows[] = {
    {nothing, TINY_UNJUDGED, SKIPPED, "\"x\" was not checked: nobody can tell"},
    /* build */
    {foreign_entry, TINY_BUILD, FAILED, "other: remove it"},
    {inline_assembly, TINY_BUILD, PASSED, ""},
    {does_not_compile, TINY_BUILD, FAILED, "tiny.cu: it does not compile"},
    {ptxas_refuses, TINY_BUILD, FAILED, "ptxas refuses it"},
    /* numbers */
    {twice_wrong, TINY_NUMBERS, FAILED, "3 elements differ"},
    {twice_skipped, TINY_NUMBERS, SKIPPED, "not run"},
    {twice_lost, TINY_NUMBERS, ERROR, "the worker died"},
    {twice_wrong, TINY_NUMBERS_PICK, PASSED, ""},
    {pick_wrong_and_lost, TINY_NUMBERS_PICK, FAILED, "first wrong"},
    {pick_wrong_twice, TINY_NUMBERS_PICK, FAILED, "first wrong\n(2 of 3 launches went wrong)"},
    {pick_endless, TINY_NUMBERS_PICK, FAILED, "does not end\n(1 of 3 launches went wrong; 1 was not run after that)\nThe kernel is right at which 0, and wrong at 7\nIt was not run after that at "},
    {pick_skipped_and_lost, TINY_NUMBERS_PICK, ERROR, "the worker died"},
    {outputs_differ, TINY_NUMBERS_PICK, FAILED, "pick and twice differ at 3 elements"},
    {outputs_differ_from_wrong, TINY_NUMBERS_PICK, PASSED, ""},
    /* frame and spills */
    {frame_60, TINY_FRAME, FAILED, "expected a stack frame of 64 bytes on sm_75, ptxas reports 60"},
    {frame_60, TINY_NO_SPILLS, PASSED, ""},
    {frame_60, TINY_FRAME, FAILED, "shorter than that by 1 floats"},
    {frame_72, TINY_FRAME, FAILED, "8 bytes more than the array, as 2 more floats take"},
    {frame_72_and_spills, TINY_FRAME, FAILED, "and spills of 8 bytes beside the array"},
    {no_frame, TINY_FRAME, FAILED, "reports 0: the compiler could tell which element"},
    {no_frame, TINY_NO_SPILLS, FAILED, "uses no local memory"},
    {spill_stores, TINY_NO_SPILLS, FAILED, "4 bytes of spill stores, 0 bytes of spill loads"},
    {spill_loads, TINY_NO_SPILLS, FAILED, "0 bytes of spill stores, 4 bytes of spill loads"},
    {does_not_compile, TINY_FRAME, FAILED, "it does not compile"},
    {ptxas_refuses, TINY_NO_SPILLS, FAILED, "ptxas refuses it"},
    /* bounds */
    {bounds_absent, TINY_LAUNCH_BOUNDS, FAILED, "the compiled kernel says nothing of either"},
    {bounds_one, TINY_LAUNCH_BOUNDS, FAILED, "at most 64 threads and no minimum of blocks"},
    {bounds_two_dimensions, TINY_LAUNCH_BOUNDS, FAILED, "at most 64 threads and at least 2 blocks"},
    {bounds_other_blocks, TINY_LAUNCH_BOUNDS, FAILED, "at least 3 blocks"},
    {bounds_required, TINY_LAUNCH_BOUNDS, FAILED, "no maximum of threads"},
    {bounds_register_cap, TINY_LAUNCH_BOUNDS, FAILED, "a register cap of 64, which is another tool"},
    {registers_65, TINY_BUDGET, FAILED, "at most 65,536 / (64 x 16) = 64 registers on sm_75, ptxas reports 65"},
    {registers_63, TINY_BUDGET, PASSED, ""},
    {shared_hidden, TINY_BUDGET, FAILED, "its spills were moved there"},
    {shared_declared, TINY_BUDGET, PASSED, ""},
    {unknown_arch, TINY_BUDGET, SKIPPED, "sm_77 is not in the table"},
    {registers_65, TINY_BLOCKS, FAILED, "65 registers are allocated as 72; 72 x 64 = 4,608; 65,536 / 4,608 = 14 blocks"},
    {unknown_arch, TINY_BLOCKS, SKIPPED, "sm_77"},
    {unknown_arch, TINY_FRAME, PASSED, ""},
    /* counts */
    {other_case, TINY_COUNT, PASSED, ""},
    {no_answers, TINY_COUNT, FAILED, "there is no answers.ini"},
    {empty_answers, TINY_COUNT, FAILED, "[registers] twice is not in answers.ini"},
    {blank, TINY_COUNT, FAILED, "not answered yet (answers.ini, line 2)"},
    {given_twice, TINY_COUNT, FAILED, "given more than once in answers.ini (first on line 2)"},
    {no_number, TINY_COUNT, FAILED, "should be a whole number; answers.ini says \"eight\" (line 2)"},
    {wrong, TINY_COUNT, FAILED, "you report 9 registers for twice; the rebuild of your file for sm_75 with nvcc 13.0.88 says \"Used 8 registers\" in its block (_Z5twicePKfPfm)"},
    {wrong_by_12_6, TINY_COUNT, SKIPPED, "you report 9 registers with nvcc 12.6; nvcc 13.0.88 says 8"},
    {wrong_by_V12_6_85, TINY_COUNT, SKIPPED, "nvcc V12.6.85"},
    {right_by_12_6, TINY_COUNT, PASSED, ""},
    {wrong_by_13_0, TINY_COUNT, FAILED, "says \"Used 8 registers\""},
    {wrong_by_13_0_48, TINY_COUNT, FAILED, "says \"Used 8 registers\""},
    {wrong_by_words, TINY_COUNT, FAILED, "says \"Used 8 registers\""},
    {wrong_by_number, TINY_COUNT, FAILED, "says \"Used 8 registers\""},
    {wrong_by_many, TINY_COUNT, FAILED, "says \"Used 8 registers\""},
    {arch_unknown_to_nvcc, TINY_COUNT, SKIPPED, "answers.ini names sm_52, which nvcc 13.0.88 does not compile for"},
    {does_not_compile, TINY_COUNT, FAILED, "it does not compile"},
    /* questions */
    {other_case, TINY_WORD, PASSED, ""},
    {other_case, TINY_NUMBER, PASSED, ""},
    {wrong, TINY_WORD, FAILED, "you answered \"spills\" (answers.ini, line 4); pick is what it is"},
    {wrong, TINY_NUMBER, FAILED, "you answered 9 (answers.ini, line 5); twice is what it is"},
    {wrong, TINY_WHAT_IF, FAILED, "you answered 9"},
    {wrong_by_12_6, TINY_NUMBER, FAILED, "you answered 9"},
    {misspelt, TINY_WORD, FAILED, "\"spils\" (answers.ini, line 5) is none of the answers: spills or fits"},
    {no_number, TINY_NUMBER, FAILED, "answers.ini says \"8.5\""},
    {blank, TINY_WORD, FAILED, "not answered yet"},
    {given_twice, TINY_WORD, FAILED, "given more than once"},
    {no_answers, TINY_WORD, FAILED, "there is no answers.ini"},
    {no_answers, TINY_UNJUDGED, FAILED, "there is no answers.ini"},
    {does_not_compile, TINY_WORD, FAILED, "pick is what it is"},
    {arch_unknown_to_nvcc, TINY_WORD, SKIPPED, "does not compile for the architecture"},
    {arch_unknown_to_nvcc, TINY_WHAT_IF, SKIPPED, "does not compile for the architecture"},
    {no_what_if, TINY_WHAT_IF, FAILED, "what if: it went away"},
    {what_if_disagrees, TINY_WHAT_IF, ERROR, "registers of twice: ptxas says 7, the cubin says 9"},
    {what_if_disagrees_blamed, TINY_WHAT_IF, FAILED, "what if"},
    {what_if_disagrees, TINY_NUMBER, PASSED, ""},
    /* witnesses that disagree */
    {registers_disagree, TINY_BUDGET, ERROR, "registers of pick: ptxas says 64, the cubin says 65"},
    {registers_disagree, TINY_FRAME, ERROR, "registers of pick"},
    {registers_disagree, TINY_WORD, ERROR, "registers of pick"},
    {registers_disagree, TINY_COUNT, PASSED, ""}, /* of twice */
    {registers_disagree, TINY_NUMBER, PASSED, ""},
    {twice_disagrees, TINY_COUNT, ERROR, "registers of twice: ptxas says 8, the cubin says 9"},
    {twice_disagrees, TINY_NUMBER, ERROR, "registers of twice"},
    {stack_bytes_disagree, TINY_FRAME, ERROR, "the stack frame of pick: ptxas says 64, the cubin says 65"},
    {spill_store_bytes_disagree, TINY_NO_SPILLS, ERROR, "spill stores of pick"},
    {spill_load_bytes_disagree, TINY_NO_SPILLS, ERROR, "spill loads of pick"},
    {shared_bytes_disagree, TINY_BUDGET, ERROR, "shared memory of pick"},
    {registers_disagree_with_asm, TINY_BUDGET, FAILED, "counts as its doing"},
    {registers_disagree_with_asm, TINY_WORD, FAILED, "pick is what it is"},
    {stack_bytes_disagree_with_asm, TINY_FRAME, FAILED, "counts as its doing"},
    {spill_store_bytes_disagree_with_asm, TINY_NO_SPILLS, FAILED, "counts as its doing"},
    {spill_load_bytes_disagree_with_asm, TINY_NO_SPILLS, FAILED, "counts as its doing"},
    {shared_bytes_disagree_with_asm, TINY_BUDGET, FAILED, "counts as its doing"},
    {disagree_with_foreign, TINY_BUDGET, FAILED, "counts as its doing"},
    {unreadable_cubin, TINY_BUDGET, PASSED, ""}, /* a silent witness contradicts nobody */
    {cubin_without_pick, TINY_FRAME, ERROR, "the cubin does not hold it"},
    {cubin_without_pick, TINY_COUNT, PASSED, ""},
    {report_without_pick, TINY_FRAME, ERROR, "does not speak plainly of pick"},
    {report_without_pick, TINY_COUNT, PASSED, ""},
    {report_in_no_language, TINY_COUNT, ERROR, "does not speak plainly of twice"},
    {report_in_no_language, TINY_BLOCKS, ERROR, "does not speak plainly of pick"},
    {report_in_no_language_with_asm, TINY_FRAME, FAILED, "does not speak plainly of pick"},
    {report_in_no_language_with_asm, TINY_COUNT, ERROR, "does not speak plainly of twice"},
    {device_agrees, TINY_BUDGET, PASSED, ""},
    {device_agrees, TINY_BLOCKS, PASSED, ""},
    {device_disagrees, TINY_BUDGET, ERROR, "registers of pick: ptxas says 64, the device says 63"},
    {device_blocks_disagree, TINY_BLOCKS, ERROR, "the arithmetic says 16, the device says 15"},
    {other_device, TINY_BUDGET, PASSED, ""},
};
/* clang-format on */

/* What to try depends on the way in which the mark was lost. */
/* clang-format off */
static const struct {
    void (*change)(void);
    unsigned criterion;
    const char *remedy; /* part of it */
} remedies[] = {
    {does_not_compile, TINY_FRAME, "Mend the build first (build.accepted)"},
    {does_not_compile, TINY_COUNT, "Mend the build first (build.accepted)"},
    {foreign_entry, TINY_BUILD, "or make it __device__"},
    {twice_wrong, TINY_NUMBERS, "Try again."},
    {no_frame, TINY_FRAME, "Let the argument reach the index"},
    {no_frame, TINY_NO_SPILLS, "Make the edit of pick first"},
    {frame_72, TINY_FRAME, "Look for a second array"},
    {frame_72_and_spills, TINY_FRAME, "Take launch bounds and register limits off"},
    {frame_60, TINY_FRAME, "Keep all levels in one array"},
    {spill_stores, TINY_NO_SPILLS, "Take __launch_bounds__ and __maxnreg__ off pick"}, /* it has some */
    {bounds_absent, TINY_LAUNCH_BOUNDS, "Try again."},
    {bounds_one, TINY_LAUNCH_BOUNDS, "Add the second number, 2: then a thread may have 65,536 / (64 x 2) = "},
    {bounds_other_blocks, TINY_LAUNCH_BOUNDS, "Write __launch_bounds__(64, 2)"},
    {bounds_register_cap, TINY_LAUNCH_BOUNDS, "Take __maxnreg__ away"},
    {registers_65, TINY_BUDGET, "Give pick its launch bounds, 64 threads and 16 blocks"},
    {registers_65, TINY_BLOCKS, "Give pick its launch bounds"},
    {registers_65_bounded, TINY_BUDGET, "Try again."},
    {registers_65_bounded, TINY_BLOCKS, "Bring the kernel down to 64 registers: then 16 blocks fit."},
    {shared_hidden, TINY_BUDGET, "let them show"},
    {blank, TINY_COUNT, "find the block of twice, and write the number after \"Used\""},
    {wrong, TINY_COUNT, "Save the source, build it once more for sm_75"},
    {blank, TINY_WORD, "Try again. Write spills or fits."},
    {misspelt, TINY_WORD, "Try again."},
    {does_not_compile, TINY_WORD, "Mend the marks of the code first"},
};
/* clang-format on */

START_TEST(remedy_row)
{
    situation_start(&s);
    remedies[_i].change();
    situation_judge(&s);
    const struct mark *mark = &s.grade.marks[remedies[_i].criterion];
    ck_assert_int_eq(mark->status, MARK_FAILED);
    ck_assert_msg(strstr(mark->remedy, remedies[_i].remedy) != NULL, "expected \"%s\" in: %s",
                  remedies[_i].remedy, mark->remedy);
    situation_release(&s);
}
END_TEST

static void assert_sums(void)
{
    int score = 0, pending = 0, lost = 0;
    ck_assert_uint_eq(s.grade.mark_count, TINY_CRITERIA);
    for (size_t i = 0; i < TINY_CRITERIA; ++i) {
        const struct mark *mark = &s.grade.marks[i];
        ck_assert_ptr_eq(mark->criterion, &support_lab.criteria[i]);
        ck_assert_int_eq(mark->points, mark->status == MARK_PASSED ? mark->criterion->points : 0);
        ck_assert_ptr_nonnull(mark->message);
        ck_assert_int_eq(mark->message[0] == '\0', mark->status == MARK_PASSED);
        ck_assert_int_eq(mark->remedy[0] != '\0', mark->status == MARK_FAILED);
        score += mark->points;
        if (mark->status == MARK_SKIPPED || mark->status == MARK_ERROR)
            pending += mark->criterion->points;
        else if (mark->status == MARK_FAILED)
            lost += mark->criterion->points;
    }
    ck_assert_int_eq(s.grade.score, score);
    ck_assert_int_eq(s.grade.pending, pending);
    ck_assert_int_eq(s.grade.max_score, (1 << TINY_CRITERIA) - 1);
    ck_assert_int_eq(score + pending + lost, s.grade.max_score);
}

START_TEST(row)
{
    situation_start(&s);
    rows[_i].change();
    situation_judge(&s);
    const struct mark *mark = &s.grade.marks[rows[_i].criterion];
    ck_assert_msg(mark->status == rows[_i].status, "%s: %s: %s", mark->criterion->id,
                  mark_status_word(mark->status), mark->message);
    ck_assert_msg(strstr(mark->message, rows[_i].message) != NULL, "expected \"%s\" in: %s",
                  rows[_i].message, mark->message);
    assert_sums();
    situation_release(&s);
}
END_TEST

START_TEST(all_is_well)
{
    situation_start(&s);
    situation_judge(&s);
    for (size_t i = 0; i < TINY_UNJUDGED; ++i)
        ck_assert_msg(s.grade.marks[i].status == MARK_PASSED, "%s: %s",
                      s.grade.marks[i].criterion->id, s.grade.marks[i].message);
    ck_assert_int_eq(s.grade.score, (1 << TINY_UNJUDGED) - 1);
    ck_assert_int_eq(s.grade.pending, 1 << TINY_UNJUDGED);
    assert_sums();
    situation_release(&s);
}
END_TEST

/* A criterion about the code holds on every graded architecture, or fails. */
START_TEST(every_graded_architecture)
{
    situation_start(&s);
    situation_judge(&s);
    struct situation first = s;
    situation_start(&s);
    frame_60();
    s.arch = 80;
    situation_judge(&s);
    struct rubric_target targets[2] = {first.input.targets[0], s.input.targets[0]};
    struct rubric_input input = first.input;
    struct verdict verdict = {.message = bytes_with_limit(4096)};
    input.targets = targets;
    input.target_count = 2;
    for (size_t graded = 1; graded <= 2; ++graded) {
        input.graded_count = graded;
        criteria_frame(&verdict, &support_lab.criteria[TINY_FRAME], &input);
        ck_assert_int_eq(verdict.status, graded == 1 ? MARK_PASSED : MARK_FAILED);
    }
    ck_assert_ptr_nonnull(strstr(bytes_text(&verdict.message), "on sm_80"));
    bytes_release(&verdict.message);
    situation_release(&s);
    s = first;
    situation_release(&s);
}
END_TEST

START_TEST(lines_of_failures)
{
    situation_start(&s);
    twice_wrong();
    frame_60();
    wrong();
    bounds_absent();
    situation_judge(&s);
    ck_assert_uint_eq(s.grade.marks[TINY_NUMBERS].line, 12);      /* of the fault */
    ck_assert_uint_eq(s.grade.marks[TINY_FRAME].line, 4);         /* of the definition of pick */
    ck_assert_uint_eq(s.grade.marks[TINY_LAUNCH_BOUNDS].line, 4); /* not of a remark or a string */
    ck_assert_uint_eq(s.grade.marks[TINY_COUNT].line, 0);         /* not about the code */
    ck_assert_uint_eq(s.grade.marks[TINY_BUDGET].line, 0);        /* passed */
    situation_release(&s);
    static const struct {
        const char *source;
        unsigned line;
    } sources[] = {
        {"", 0},
        {"pick", 0},
        {"pick(", 1},
        {"unpick(\nmypick()\npick2(\npick  \t(", 4},
        {"pick<<<1, 1>>>()\n", 0},
        {"// pick(\n", 0},
        {"/* pick(", 0},
        {"\"pick(", 0},
        {"\"\\\"pick(\"\npick(", 2},
        {"char c = '\"';\npick(", 2},
        {"/**/// x\n/*\n*//*\n*/pick(", 4},
        {"a / b; pick(", 1},
    };
    for (size_t i = 0; i < COUNT_OF(sources); ++i) {
        situation_start(&s);
        frame_60();
        s.source = sources[i].source;
        situation_judge(&s);
        ck_assert_msg(s.grade.marks[TINY_FRAME].line == sources[i].line, "row %zu: %u", i,
                      s.grade.marks[TINY_FRAME].line);
        situation_release(&s);
    }
}
END_TEST

/* ---- What goes into the grade is printable --------------------------------------------------- */

static void assert_printable(const char *text)
{
    if (text == NULL)
        return;
    ck_assert_msg(text_is_utf8(text, strlen(text)), "%s", text);
    for (const char *p = text; *p != '\0'; ++p)
        ck_assert_msg((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t', "%s", text);
}

START_TEST(hostile_words)
{
    static char printed[] = "\x1b]0;pwned\x07 100/100 \xff\xfe\nsecond line";
    situation_start(&s);
    outcome(TINY_CASE_TWICE, CASE_WRONG, "\x1b[2J bad \xc3");
    s.launches[TINY_CASE_PICK].status = RUN_FAULTED;
    (void)snprintf(s.launches[TINY_CASE_PICK].fault.text,
                   sizeof s.launches[TINY_CASE_PICK].fault.text, "fault in \xf0\x9f\x98 \r\n x");
    s.launches[TINY_CASE_PICK].printed = printed;
    (void)snprintf(s.run.device, sizeof s.run.device, "device\x1b");
    s.answers = "[q]\nword = \x1b[31m\nk\x1b = 1\n[build]\narch = \x1b\nnvcc = 1\xe2\x80\xae\n";
    situation_judge(&s);
    const struct grade *grade = &s.grade;
    for (size_t i = 0; i < grade->mark_count; ++i)
        assert_printable(grade->marks[i].message);
    for (size_t i = 0; i < grade->note_count; ++i)
        assert_printable(grade->notes[i]);
    for (size_t i = 0; i < grade->kernel_count; ++i) {
        assert_printable(grade->kernels[i].fault);
        assert_printable(grade->kernels[i].printed);
        assert_printable(grade->kernels[i].problem);
    }
    assert_printable(grade->device);
    ck_assert_str_eq(grade->kernels[TINY_PICK].printed, "?]0;pwned? 100/100 ??\nsecond line");
    ck_assert_uint_ge(grade->note_count, 2);
    situation_release(&s);
}
END_TEST

START_TEST(general_keys_are_noted)
{
    situation_start(&s);
    s.answers = "lab = day17-registers\n[build]\narch = sm_75\nnvcc = the newest\n"
                "[a]\nb = 1\nc = 1\nd = 1\ne = 1\nf = 1\ng = 1\nh = 1\n";
    situation_judge(&s);
    ck_assert_uint_eq(s.grade.note_count, 8);
    ck_assert_ptr_nonnull(strstr(s.grade.notes[4], "[a] f"));
    ck_assert_str_eq(s.grade.notes[5], "answers.ini: nothing asks for 2 other keys either");
    ck_assert_str_eq(s.grade.notes[6], "answers.ini, line 1: these are the answers to "
                                       "\"day17-registers\", graded as tiny");
    ck_assert_str_eq(s.grade.notes[7], "answers.ini, line 4: \"the newest\" is no version like "
                                       "12.6; the counts are taken for those of nvcc 13.0.88");
    situation_release(&s);
}
END_TEST

START_TEST(notes_cost_nothing)
{
    situation_start(&s);
    s.answers = "lab =\nmistake\n[registers]\ntwice = 8\nthrice = 1\n[q]\nword = fits\n"
                "number = 8\nwhat_if = 7\nunjudged = x\n[build]\narch = turing\nnvcc = 13.0\n";
    situation_judge(&s);
    ck_assert_int_eq(s.grade.score, (1 << TINY_UNJUDGED) - 1);
    ck_assert_uint_eq(s.grade.note_count, 3);
    ck_assert_str_eq(s.grade.notes[0],
                     "answers.ini: line 2: neither [section], key = value nor a comment");
    ck_assert_str_eq(s.grade.notes[1], "answers.ini, line 5: nothing asks for [registers] thrice; "
                                       "is it misspelt?");
    ck_assert_ptr_nonnull(strstr(s.grade.notes[2], "line 12: \"turing\" is no architecture"));
    situation_release(&s);
}
END_TEST

Suite *suite_rubric(void)
{
    Suite *suite = suite_create("rubric");
    TCase *tests = tcase_create("rubric");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, row, 0, COUNT_OF(rows));
    tcase_add_loop_test(tests, remedy_row, 0, COUNT_OF(remedies));
    tcase_add_test(tests, all_is_well);
    tcase_add_test(tests, every_graded_architecture);
    tcase_add_test(tests, lines_of_failures);
    tcase_add_test(tests, hostile_words);
    tcase_add_test(tests, general_keys_are_noted);
    tcase_add_test(tests, notes_cost_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}

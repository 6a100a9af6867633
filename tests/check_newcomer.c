/* check_newcomer.c - typical wrong attempts of somebody who is new to a lab: each leads to the
 * sentence that mends it. Graded as the student grades: in a released repository, as text. */
#include "testing.h"

#include <sys/stat.h>

#include "files.h"
#include "toolchain.h"

#define SOURCE "registers.cu"
#define ANSWERS "answers.ini"
#define INDEXED "void decayWideIndexed"
#define BOUNDED "// decayWide under a register budget"

/* One change of a file: the first `from` behind `mark` becomes `to`. */
struct edit {
    const char *file, *mark, *from, *to;
};

#define SHIFT_RIGHT                                                                                \
    {                                                                                              \
        SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shift) & (WIDE_TAPS - 1)]"              \
    }
#define BOUNDS_RIGHT                                                                               \
    {                                                                                              \
        SOURCE, BOUNDED, "__global__ void",                                                        \
            "__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)"                      \
    }
#define ANSWER(section, key, value)                                                                \
    {                                                                                              \
        ANSWERS, "[" section "]", key " =", key " = " value                                        \
    }

/* clang-format off */
static const struct {
    const char *attempt;
    struct edit edits[3];
    const char *mend[2]; /* sentences, or parts of them, in what is printed */
    bool runs;           /* the kernels have to run for that */
    const char *hint;    /* in what `hint next` says then; NULL: not asked */
} attempts[] = {
    {"grades before any edit",
     {{0}},
     {"the compiler could tell which element each step reads", "try: Let the argument reach the index"}, false, NULL},
    {"forgets a semicolon",
     {{SOURCE, INDEXED, "float sum = 0.0f;", "float sum = 0.0f"}},
     {"the first error is registers.cu(", "try: Mend that line, or the one above it"}, false, NULL},
    {"misspells the argument",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shfit) % WIDE_TAPS]"}},
     {"identifier \"shfit\" is undefined", "where: registers.cu:91"}, false, NULL},
    {"shifts where the way forward stores",
     {{SOURCE, INDEXED, "levels[tap] = level", "levels[(tap + shift) % WIDE_TAPS] = level"}},
     {"moves where the way forward stores", "try: Read levels[(tap + shift) modulo the taps] on the way back"}, true, NULL},
    {"does not wrap round",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[tap + shift]"}},
     {"its local memory", "try: An index left the array that the kernel itself declares: take it modulo"}, true, NULL},
    {"takes the modulo of 63",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shift) % (WIDE_TAPS - 1)]"}},
     {"the index is taken modulo 63", "WIDE_TAPS behind `%`"}, true, NULL},
    {"keeps the levels in double",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "float levels[", "double levels["}},
     {"ptxas reports 512: 256 bytes more than the array, as 64 more floats take", "try: Look for a second array"}, false, NULL},
    {"swaps the two numbers of the bound",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __launch_bounds__(BLOCKS_PER_SM, BLOCK_THREADS)"}},
     {"the two numbers are swapped", "try: Threads first: __launch_bounds__(256, 4)."}, false, NULL},
    {"gives the bound one number",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __launch_bounds__(BLOCK_THREADS)"}},
     {"65,536 / 256 = 256 registers a thread, and 255 is the most there is", "try: Add the second number, 4: then a thread may have 65,536 / (256 x 4) = 64 registers."}, false, NULL},
    {"bounds the wrong kernel",
     {{SOURCE, "// decayWide with one argument", "__global__ void", "__global__ void __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)"}},
     {"these very bounds stand on decayWideIndexed", "try: Move them from decayWideIndexed"}, false, NULL},
    {"caps the registers instead",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __maxnreg__(64)"}},
     {"a register cap of 64, which is another tool", "try: Take __maxnreg__ away"}, false, NULL},
    {"leaves the edit of question 3 in",
     {{SOURCE, "// 64 taps: after", "__global__ void", "__global__ void __launch_bounds__(1024)"}, ANSWER("registers", "decayWide", "72")},
     {"decayWide carries launch bounds that were not given", "try: Undo the launch bounds on decayWide"}, false, NULL},
    {"leaves a printf in",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "out[i] = sum;", "out[i] = sum; if (i == 0) printf(\"%f\\n\", sum);"}},
     {"decayWideIndexed prints from the device (printf)", "try: Print from kernels while you try things"}, false, NULL},
    {"copies the count of another kernel",
     {SHIFT_RIGHT, ANSWER("registers", "decayWideIndexed", "72"), ANSWER("build", "arch", "sm_75")},
     {"72 is what decayWide uses", "exactly decayWideIndexed: 16decayWideIndexed."}, false, NULL},
    {"does not say what was built for",
     {ANSWER("registers", "decayNarrow", "99")},
     {"you report 99 registers for decayNarrow", "try: Write into [build] arch what you built for, a name like sm_75: since it is blank"}, false, NULL},
    {"answers with a unit",
     {ANSWER("question2", "threads_lost", "256 threads")},
     {"threads_lost should be a whole number; answers.ini says \"256 threads\" (line 23)", "try: "}, false, NULL},
    {"takes frame for spill",
     {SHIFT_RIGHT, BOUNDS_RIGHT, ANSWER("question1", "lost_argument", "decayWideIndexed")},
     {"decayWideIndexed has a frame of 256 bytes and spills nothing", "try: Look for the kernel whose report has non-zero spill stores"}, false, NULL},
    {"makes up a word",
     {ANSWER("question3", "speed", "same speed")},
     {"\"same speed\" (answers.ini, line 29) is none of the answers: faster, slower, same or undetermined", "try: Ask whether the division"}, false, NULL},
    {"forgets to round registers up",
     {ANSWER("question2", "blocks_at_65", "4")},
     {"65 registers are handed out as 72 (steps of 8): 72 x 256 = 18,432 a block, so 3 blocks", "try: Registers of one block first"}, false, NULL},
    {"reads the level at the shift alone",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[shift]"}},
     {"each step of the way back reads one and the same level", "the index has to move with the tap"}, true,
     "is the tap left out of it?"},
    {"masks with the number of taps",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shift) & WIDE_TAPS]"}},
     {"each step of the way back reads one and the same level", "or & (WIDE_TAPS - 1)"}, true,
     "the index has to come round into 0 to 63"},
    {"takes the modulo of the shift alone",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[tap + shift % WIDE_TAPS]"}},
     {"reads past the end of its local memory", "all of it, as in (a + b) % LENGTH"}, true,
     "the index has to come round"},
    {"wraps round once",
     {{SOURCE, INDEXED, "= levels[tap]", "= levels[tap + shift >= WIDE_TAPS ? tap + shift - WIDE_TAPS : tap + shift]"}},
     {"The kernel is right at shift 0, 1, 7, 63, and wrong at", "take it modulo the array's length"}, true,
     "a shift may be larger than 64 itself"},
    {"shifts the window of the input",
     {{SOURCE, INDEXED, "in[i + tap]", "in[i + tap + shift]"}},
     {"reads past the end of `in`", "try: In the backward pass, read the level at (tap + shift) modulo"}, true,
     "Does it go into another index, of the input or the output"},
    {"puts the levels into shared memory",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "float levels[", "__shared__ float levels["}},
     {"the kernel has 256 bytes of shared memory instead", "try: Declare the array without __shared__"}, true,
     "is the array declared __shared__"},
    {"gives each thread of a block its own shared levels",
     {{SOURCE, INDEXED, "float levels[WIDE_TAPS];", "__shared__ float all[BLOCK_THREADS][WIDE_TAPS]; float *levels = all[threadIdx.x];"}, {SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shift) % WIDE_TAPS]"}},
     {"uses too much shared data (0x10000 bytes, 0xc000 max)", "try: Declare an array of which each thread needs its own without __shared__"}, false, NULL},
    {"writes the bounds behind the parameters",
     {{SOURCE, BOUNDED, "const float *in, float *out, size_t n)", "const float *in, float *out, size_t n) __launch_bounds__(BLOCK_THREADS, BLOCKS_PER_SM)"}},
     {"registers.cu(99): error: attributes are not permitted", "try: Put __launch_bounds__(…) between `void` and the kernel's name"}, false, NULL},
    {"misspells the bounds",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __launch_bound__(BLOCK_THREADS, BLOCKS_PER_SM)"}},
     {"the first error is registers.cu(98)", "try: Compare the word behind `void` with __launch_bounds__, letter by letter"}, false, NULL},
    {"takes the budget for the bound",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __launch_bounds__(64)"}},
     {"a budget of 65,536 / (64 x 1) = 1,024, of which a thread can have 255 registers, where the lab wants 65,536 / (256 x 4) = 64", "at least 256 threads"}, true,
     "Which of the two numbers of a launch bound is the threads?"},
    {"leaves room for three blocks",
     {{SOURCE, BOUNDED, "__global__ void", "__global__ void __launch_bounds__(BLOCK_THREADS, 3)"}},
     {"a budget of 65,536 / (256 x 3) = 85, rounded down to 80 registers, where the lab wants 65,536 / (256 x 4) = 64", "try: Write __launch_bounds__(256, 4)"}, false, NULL},
    {"lets one thread too many in",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "if (i < n)", "if (i <= n)"}},
     {"reads past the end of `in`", "try: Keep `if (i < n)` around all that reads and writes"}, true,
     "nothing about those, nor the guard, is yours to change"},
    {"adds to the output",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "out[i] = sum", "out[i] += sum"}},
     {"byte 0 of `out`", "store with `=`, not with `+=`"}, true, NULL},
    {"clears the input",
     {SHIFT_RIGHT, {SOURCE, INDEXED, "out[i] = sum;", "out[i] = sum; const_cast<float *>(in)[i] = 0;"}},
     {"writes into its input `in`", "try: Store to the output only"}, true, NULL},
    {"edits the kernel above it",
     {{SOURCE, "void decayWide(", "= levels[tap]", "= levels[(tap + 7) % WIDE_TAPS]"}},
     {"try: Compare your decayWide with the starter's", "decayWide: 4,099 of 4,099 elements differ"}, true,
     "decayWide is right as it was given"},
    {"declares a shift of the own",
     {{SOURCE, INDEXED, "float levels[", "const int shift = 7; float levels["}, {SOURCE, INDEXED, "= levels[tap]", "= levels[(tap + shift) % WIDE_TAPS]"}},
     {"The kernel is right at shift 7, and wrong at 0, 1, 63", "is 7 written into it, in the place of shift?"}, true, NULL},
    {"leaves a kernel out",
     {{SOURCE, "// 4 taps", "void decayNarrow(", "void decayFew("}, {SOURCE, "kernels[] = {", "(decayNarrow)", "(decayFew)"}},
     {"there is no kernel called decayNarrow", "0/5 numbers.decayNarrow, waits for the build OK"}, true,
     "found no kernel decayNarrow in the build"},
    {"writes the words in quotation marks",
     {SHIFT_RIGHT, BOUNDS_RIGHT, ANSWER("question1", "lost_argument", "\"decayWideBounded\"")},
     {"is none of the answers: decayNarrow, decayWide", "try: Write the word without quotation marks"}, false, NULL},
    {"writes the loss as a fraction",
     {ANSWER("question2", "percent_lost", "0.25")},
     {"percent_lost should be a whole number; answers.ini says \"0.25\"", "try: Write a whole number, and nothing else."}, false, NULL},
    {"names the architecture in another way",
     {ANSWER("build", "arch", "T4"), ANSWER("registers", "decayNarrow", "99")},
     {"\"T4\" is no architecture like sm_75", "since it is \"T4\", the count was compared with sm_75"}, false, NULL},
};
/* clang-format on */

static char *text_of(const char *path)
{
    struct bytes text;
    ck_assert_int_eq(file_read(&text, path, (size_t)1 << 20, false), FILE_READ);
    return bytes_take(&text);
}

static void apply(const char *folder, const struct edit *edit)
{
    AUTO_FREE char *path = path_join(folder, edit->file), *made = NULL;
    AUTO_FREE char *text = text_of(path);
    const char *at = strstr(text, edit->mark);
    ck_assert_msg(at != NULL, "%s has no \"%s\"", edit->file, edit->mark);
    at = strstr(at, edit->from);
    ck_assert_msg(at != NULL, "%s has no \"%s\" there", edit->file, edit->from);
    ck_assert_int_gt(
        asprintf(&made, "%.*s%s%s", (int)(at - text), text, edit->to, at + strlen(edit->from)), 0);
    testing_write(path, made, strlen(made));
}

/* What was printed, with each run of blanks and newlines as one blank. */
static char *in_one_line(const char *text)
{
    struct bytes line = bytes_with_limit((size_t)1 << 20);
    for (; *text != '\0'; ++text)
        if (*text != ' ' && *text != '\n')
            bytes_append(&line, text, 1);
        else if (line.length > 0 && line.data[line.length - 1] != ' ')
            bytes_append(&line, " ", 1);
    return bytes_take(&line);
}

static void expect_words(const char *folder, const char *attempt, const char *text,
                         const char *words)
{
    AUTO_FREE char *said = in_one_line(text);
    if (words == NULL || strstr(said, words) != NULL)
        return;
    AUTO_FREE char *log = path_join(folder, "said.txt");
    testing_write(log, said, strlen(said));
    ck_abort_msg("somebody who %s is not told \"%s\"; see %s", attempt, words, log);
}

/* __maxnreg__ came with CUDA 12.4. */
static bool toolkit_has_maxnreg(void)
{
    struct toolchain toolchain;
    struct error err = {0};
    AUTO_FREE char *nvcc = path_join(testing_cuda_home(), "bin/nvcc");
    ck_assert_msg(toolchain_find(&toolchain, nvcc, &err) == 0 &&
                      toolchain_ask(&toolchain, &err) == 0,
                  "%s", err.text);
    bool has = toolchain.major > 12 || (toolchain.major == 12 && toolchain.minor >= 4);
    toolchain_release(&toolchain);
    return has;
}

START_TEST(attempt_leads_to_its_mend)
{
    if (!testing_have_toolkit())
        TEST_SKIP("no CUDA toolkit");
    const char *edit = attempts[_i].edits[0].to;
    if (edit != NULL && strstr(edit, "__maxnreg__") != NULL && !toolkit_has_maxnreg())
        TEST_SKIP("this toolkit has no __maxnreg__");
    char name[32];
    (void)snprintf(name, sizeof name, "newcomer-%d", _i);
    AUTO_FREE char *folder = path_join(testing_temporary_folder(), name);
    const char *const release[] = {"release", "day17-registers", folder, NULL};
    struct process_result result = testing_spillway(release, NULL);
    ck_assert_int_eq(result.exit_code, 0);
    process_result_release(&result);
    for (size_t i = 0; i < COUNT_OF(attempts[0].edits) && attempts[_i].edits[i].file != NULL; ++i)
        apply(folder, &attempts[_i].edits[i]);
    const char *const grade[] = {
        "grade",      folder, "--executor", attempts[_i].runs ? "emulator" : "none",
        "--elements", "4099", "--seed",     "17",
        NULL};
    char cache[4200];
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s/cache", folder);
    const char *const environment[] = {cache, NULL};
    result = testing_spillway(grade, environment);
    ck_assert_int_eq(result.exit_code, 0);
    for (size_t i = 0; i < COUNT_OF(attempts[0].mend); ++i)
        expect_words(folder, attempts[_i].attempt, bytes_text(&result.output),
                     attempts[_i].mend[i]);
    process_result_release(&result);
    if (attempts[_i].hint == NULL)
        return;
    static const char *const hint[] = {"hint", "day17-registers", "next", NULL};
    result = testing_spillway(hint, environment);
    ck_assert_int_eq(result.exit_code, 0);
    expect_words(folder, attempts[_i].attempt, bytes_text(&result.output), attempts[_i].hint);
    process_result_release(&result);
}
END_TEST

/* ---- In the wrong place ---- */

static const struct {
    const char *attempt, *file, *arguments[3], *said;
} places[] = {
    {"grades an empty folder", NULL, {"--lab", "day17-registers"}, "no registers.cu in "},
    {"says nothing of the lab",
     NULL,
     {NULL},
     "name it with --lab ID; the labs are: day17-registers"},
    {"misspells the lab", NULL, {"--lab", "day17"}, "there is no lab \"day17\"; the labs are: "},
    {"has a file with another name",
     "registers(1).cu",
     {"--lab", "day17-registers"},
     "registers(1).cu is there: call it registers.cu"},
    {"grades a file", "Makefile", {"Makefile"}, "is not a folder: name the folder"},
    {"asks for a mark that is not there", NULL, {"--only", "shfit"}, ""},
};

START_TEST(wrong_place_is_told)
{
    char name[32];
    (void)snprintf(name, sizeof name, "misplaced-%d", _i);
    AUTO_FREE char *folder = path_join(testing_temporary_folder(), name), *file = NULL;
    ck_assert_int_eq(mkdir(folder, 0755), 0);
    if (places[_i].file != NULL) {
        file = path_join(folder, places[_i].file);
        testing_write(file, "x", 1);
    }
    bool is_file = places[_i].arguments[0] != NULL && places[_i].arguments[0][0] != '-';
    const char *const grade[] = {"grade", is_file ? file : folder,
                                 is_file ? NULL : places[_i].arguments[0],
                                 is_file ? NULL : places[_i].arguments[1], NULL};
    struct process_result result = testing_spillway(grade, NULL);
    ck_assert_int_eq(result.exit_code, 2);
    ck_assert_msg(strstr(bytes_text(&result.error), places[_i].said) != NULL,
                  "somebody who %s is told: %s", places[_i].attempt, bytes_text(&result.error));
    process_result_release(&result);
}
END_TEST

Suite *suite_newcomer(void)
{
    Suite *suite = suite_create("newcomer");
    TCase *tests = tcase_create("newcomer");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, attempt_leads_to_its_mend, 0, COUNT_OF(attempts));
    tcase_add_loop_test(tests, wrong_place_is_told, 0, COUNT_OF(places));
    suite_add_tcase(suite, tests);
    return suite;
}

/* check_cubin.c - the cubin reader: against ptxas's own words where a toolkit is, on recorded files
 * everywhere, and on damaged files. */
#include "testing.h"

#include "cubin.h"
#include "files.h"
#include "report.h"
#include "sass.h"
#include "toolchain.h"

static struct cubin read_cubin(const void *data, size_t length)
{
    struct cubin cubin;
    struct error err = {0};
    ck_assert_msg(cubin_parse(&cubin, data, length, &err) == 0, "%s", err.text);
    return cubin;
}

/* A copy in a block of exactly that size, so that the address sanitizer sees each byte too many. */
static unsigned char *exact_copy(const void *data, size_t length)
{
    unsigned char *copy = malloc(length);
    ck_assert(copy != NULL || length == 0);
    if (length > 0)
        memcpy(copy, data, length);
    return copy;
}

/* ---- Recorded files: tests/fixtures/cubin/{small,division}.cu -------------------------------- */

/* clang-format off */
static const struct recorded {
    const char *file, *kernel;
    unsigned sm, toolkit;
    int registers, frame, max_frame, shared, barriers, threads, params, callees;
    int store_instructions, load_instructions; /* all STL, LDL */
    int spill_store_bytes, spill_load_bytes, spill_store_requests; /* -1: not known */
    enum cubin_answer straight;
} recorded[] = {
    /* file                        kernel           sm  kit  reg  fr maxfr  sh bar thr par call  ST  LD   spill bytes  req */
    {"small_sm_75.cubin",          "smallSpills",    75, 130, 24, 48, 48,   0,  0, -1, 20, 0,  11, 11,  48, 48, 12, CUBIN_YES},
    {"small_sm_75.cubin",          "smallArray",     75, 130, 24, 16, 16, 128,  1, 96, 20, 0,   2,  1,   0,  0,  0, CUBIN_YES},
    {"small_sm_75.cubin",          "smallRecursion", 75, 130, 24,  0, 32,   0,  0, -1, 20, 1,   7,  7,  28, 28,  7, CUBIN_NO},
    {"small_sm_86.cubin",          "smallSpills",    86, 130, 24, 48, 48,   0,  0, -1, 20, 0,  11, 11,  44, 44, 11, CUBIN_YES},
    {"small_sm_86.cubin",          "smallArray",     86, 130, 23, 16, 16, 128,  1, 96, 20, 0,   2,  1,   0,  0,  0, CUBIN_YES},
    {"small_sm_86.cubin",          "smallRecursion", 86, 130, 24,  0, 32,   0,  0, -1, 20, 1,   7,  7,  28, 28,  7, CUBIN_NO},
    {"small_sm_90.cubin",          "smallSpills",    90, 130, 24, 48, 48,   0,  0, -1, 20, 0,  11, 11,  44, 44, 11, CUBIN_YES},
    {"small_sm_90.cubin",          "smallArray",     90, 130, 24, 16, 16, 128,  1, 96, 20, 0,   2,  1,   0,  0,  0, CUBIN_YES},
    {"small_sm_90.cubin",          "smallRecursion", 90, 130, 24,  0,  0,   0,  0, -1, 20, 1,   7,  7,  28, 28,  7, CUBIN_NO},
    {"small_sm_120.cubin",         "smallSpills",   120, 130, 24, 48, 48,   0,  0, -1, 20, 0,  11, 11,  44, 44, 11, CUBIN_YES},
    {"small_sm_120.cubin",         "smallArray",    120, 130, 26, 16, 16, 128,  1, 96, 20, 0,   2,  1,   0,  0,  0, CUBIN_YES},
    {"small_sm_120.cubin",         "smallRecursion",120, 130, 24,  0,  0,   0,  0, -1, 20, 1,   7,  7,  28, 28,  7, CUBIN_NO},
    {"division_sm_75.cubin",       "division",       75, 130, 14,  0,  0,   0,  0, -1, 16, 1,   0,  0,   0,  0,  0, CUBIN_YES},
    {"small_sm_75_cuda_12.4.cubin","smallSpills",    75, 124, 24, 48, 48,   0, -1, -1, 20, 0,  11, 11,  -1, -1, -1, CUBIN_YES},
    {"small_sm_75_cuda_12.4.cubin","smallArray",     75, 124, 24, 16, 16, 128, -1, 96, 20, 0,   2,  1,  -1, -1, -1, CUBIN_YES},
    {"small_sm_75_cuda_12.4.cubin","smallRecursion", 75, 124, 24,  0, 32,   0, -1, -1, 20, 1,   7,  7,  -1, -1, -1, CUBIN_NO},
    {"small_sm_90_cuda_12.4.cubin","smallSpills",    90, 124, 24, 48, 48,   0, -1, -1, 20, 0,  11, 11,  -1, -1, -1, CUBIN_YES},
    {"small_sm_90_cuda_12.4.cubin","smallArray",     90, 124, 23, 16, 16, 128, -1, 96, 20, 0,   2,  1,  -1, -1, -1, CUBIN_YES},
    {"small_sm_90_cuda_12.4.cubin","smallRecursion", 90, 124, 24,  0,  0,   0, -1, -1, 20, 1,   7,  7,  -1, -1, -1, CUBIN_NO},
    {"small_sm_75_cuda_11.8.cubin","smallSpills",    75, 118, 24, 48, 48,   0, -1, -1, 20, 0,  11, 11,  -1, -1, -1, CUBIN_YES},
    {"small_sm_75_cuda_11.8.cubin","smallArray",     75, 118, 24, 16, 16, 128, -1, 96, 20, 0,   2,  1,  -1, -1, -1, CUBIN_YES},
    {"small_sm_75_cuda_11.8.cubin","smallRecursion", 75, 118, 24,  0, 32,   0, -1, -1, 20, 1,   7,  7,  -1, -1, -1, CUBIN_NO},
    {"small_sm_90_cuda_11.8.cubin","smallSpills",    90, 118, 24, 48, 48,   0, -1, -1, 20, 0,  11, 11,  -1, -1, -1, CUBIN_YES},
    {"small_sm_90_cuda_11.8.cubin","smallArray",     90, 118, 23, 16, 16, 128, -1, 96, 20, 0,   2,  1,  -1, -1, -1, CUBIN_YES},
    {"small_sm_90_cuda_11.8.cubin","smallRecursion", 90, 118, 24,  0,  0,   0, -1, -1, 20, 1,   7,  7,  -1, -1, -1, CUBIN_NO},
};
static const char *const files[] = {
    "small_sm_75.cubin", "small_sm_86.cubin", "small_sm_90.cubin", "small_sm_120.cubin",
    "small_sm_75_cuda_12.4.cubin", "small_sm_90_cuda_12.4.cubin",
    "small_sm_75_cuda_11.8.cubin", "small_sm_90_cuda_11.8.cubin", "division_sm_75.cubin",
};
/* clang-format on */

static struct bytes cubin_fixture(const char *file)
{
    char name[128];
    (void)snprintf(name, sizeof name, "cubin/%s", file);
    return testing_fixture(name);
}

START_TEST(test_recorded)
{
    const struct recorded *row = &recorded[_i];
    struct bytes file = cubin_fixture(row->file);
    struct cubin cubin = read_cubin(file.data, file.length);
    ck_assert_uint_eq(cubin.sm, row->sm);
    ck_assert_uint_eq(cubin.toolkit, row->toolkit);
    ck_assert_uint_eq(cubin.kernel_count, strcmp(row->kernel, "division") == 0 ? 1 : 3);
    const struct cubin_kernel *k = cubin_find(&cubin, row->kernel);
    ck_assert_ptr_nonnull(k);
    ck_assert_int_eq(k->registers, row->registers);
    ck_assert_int_eq(k->frame_bytes, row->frame);
    ck_assert_int_eq(k->max_frame_bytes, row->max_frame);
    ck_assert_int_eq(k->shared_bytes, row->shared);
    ck_assert_int_eq(k->barriers, row->barriers);
    ck_assert_int_eq(k->max_threads[0], row->threads);
    ck_assert_int_eq(k->max_threads[2], row->threads < 0 ? -1 : 1);
    ck_assert_int_eq(k->param_bytes, row->params);
    ck_assert_uint_eq(k->callee_count, (size_t)row->callees);
    ck_assert_int_eq(k->local_store_instructions, row->store_instructions);
    ck_assert_int_eq(k->local_load_instructions, row->load_instructions);
    ck_assert_int_eq(k->spills_known, row->spill_store_bytes >= 0);
    ck_assert_int_eq(k->spill_store_bytes, row->spill_store_bytes);
    ck_assert_int_eq(k->spill_load_bytes, row->spill_load_bytes);
    ck_assert_int_eq(k->spill_store_requests, row->spill_store_requests);
    ck_assert_int_eq(k->straight_line, row->straight);
    ck_assert_ptr_null(cubin_find(&cubin, "small"));
    cubin_release(&cubin);
    bytes_release(&file);
}
END_TEST

/* Toolkits that do not mark spills: what the PTX declares settles it, or nothing does. */
/* clang-format off */
static const struct settled {
    const char *file, *kernel;
    uint64_t declared;
    bool known;
    int store_bytes, load_bytes; /* as that ptxas printed them, entry and callee together */
} settled[] = {
    {"small_sm_75_cuda_12.4.cubin", "smallSpills",     0, true,  48, 48},
    {"small_sm_75_cuda_12.4.cubin", "smallRecursion",  0, true,  28, 28},
    {"small_sm_75_cuda_12.4.cubin", "smallArray",     16, true,   0,  0},
    {"small_sm_75_cuda_12.4.cubin", "smallArray",     12, false, -1, -1}, /* room for one word more */
    {"small_sm_75_cuda_12.4.cubin", "smallSpills",    64, false, -1, -1}, /* the array is not there */
    {"small_sm_75_cuda_12.4.cubin", "smallRecursion", 16, false, -1, -1},
    {"small_sm_90_cuda_12.4.cubin", "smallSpills",     0, true,  44, 44},
    {"small_sm_90_cuda_11.8.cubin", "smallSpills",     0, true,  44, 44},
    {"small_sm_90_cuda_11.8.cubin", "smallRecursion",  0, true,  28, 28},
    {"small_sm_90.cubin",           "smallSpills",   999, true,  44, 44}, /* marked: nothing to settle */
};
/* clang-format on */

START_TEST(test_settled)
{
    const struct settled *row = &settled[_i];
    struct bytes file = cubin_fixture(row->file);
    struct cubin cubin = read_cubin(file.data, file.length);
    for (size_t i = 0; i < cubin.kernel_count; ++i) {
        struct cubin_kernel *k = &cubin.kernels[i];
        if (strcmp(k->symbol, row->kernel) != 0)
            continue;
        ck_assert_int_eq(cubin_settle_spills(k, row->declared), row->known);
        ck_assert_int_eq(k->spills_known, row->known);
        ck_assert_int_eq(k->spill_store_bytes, row->store_bytes);
        ck_assert_int_eq(k->spill_load_bytes, row->load_bytes);
    }
    cubin_release(&cubin);
    bytes_release(&file);
}
END_TEST

/* ---- Damaged files --------------------------------------------------------------------------- */

/* Parses and checks only that an answer is one of the two there are. */
static bool try_parse(const unsigned char *data, size_t length)
{
    struct cubin cubin;
    struct error err = {0};
    int status = cubin_parse(&cubin, data, length, &err);
    ck_assert_int_eq(status != 0, err.kind != ERROR_NONE);
    ck_assert_int_eq(status != 0, err.text[0] != '\0');
    if (status != 0)
        ck_assert(cubin.kernels == NULL && cubin.kernel_count == 0);
    cubin_release(&cubin);
    return status == 0;
}

START_TEST(test_truncated)
{
    struct bytes file = cubin_fixture(files[_i]);
    for (size_t length = 0; length < file.length; ++length) {
        unsigned char *copy = exact_copy(file.data, length);
        bool parsed = try_parse(copy, length);
        /* The program headers stand last; all else is needed. */
        ck_assert_msg(!parsed || length + 1024 > file.length, "%zu of %zu bytes were enough",
                      length, file.length);
        free(copy);
    }
    bytes_release(&file);
}
END_TEST

/* Every byte of the file, in turn, to values that make counts and offsets large, negative, zero, or
 * a little off. */
START_TEST(test_flipped)
{
    static const unsigned char flips[] = {0xff, 0x80, 0x01, 0x10};
    struct bytes file = cubin_fixture(files[_i]);
    unsigned char *copy = exact_copy(file.data, file.length);
    size_t refused = 0;
    for (size_t i = 0; i < file.length; ++i) {
        for (size_t f = 0; f < COUNT_OF(flips); ++f) {
            copy[i] ^= flips[f];
            refused += !try_parse(copy, file.length);
            copy[i] ^= flips[f];
        }
        copy[i] = 0;
        refused += !try_parse(copy, file.length);
        copy[i] = (unsigned char)file.data[i];
    }
    ck_assert_uint_gt(refused, 100);
    ck_assert(try_parse(copy, file.length));
    free(copy);
    bytes_release(&file);
}
END_TEST

/* Pairs of 32-bit words in the section headers, whose product with the rest may overflow. */
START_TEST(test_large_numbers)
{
    static const uint64_t values[] = {UINT64_MAX, INT64_MAX,  UINT32_MAX,
                                      0x80000000, 0x7fffffff, UINT64_MAX - 63};
    struct bytes file = cubin_fixture(files[_i]);
    unsigned char *copy = exact_copy(file.data, file.length);
    size_t table = 0;
    memcpy(&table, copy + 40, sizeof table);
    for (size_t at = table & ~(size_t)7; at + 8 <= file.length; at += 8)
        for (size_t v = 0; v < COUNT_OF(values); ++v) {
            memcpy(copy + at, &values[v], 8);
            (void)try_parse(copy, file.length);
            memcpy(copy + at, file.data + at, 8);
        }
    ck_assert(try_parse(copy, file.length));
    free(copy);
    bytes_release(&file);
}
END_TEST

/* clang-format off */
static const struct refused {
    size_t at;
    unsigned char value;
    const char *words; /* part of the message */
} refusals[] = {
    {0, 'M', "no ELF file"},
    {4, 1, "not a 64-bit"},
    {5, 2, "not a 64-bit"},
    {18, 62, "another machine"},
    {45, 0xff, "is cut"}, /* e_shoff */
    {60, 0, "no section table"},
    {60, 0xff, "is cut"},
    {62, 0xff, "holds names"},
};
/* clang-format on */

START_TEST(test_refused)
{
    const struct refused *row = &refusals[_i];
    struct bytes file = cubin_fixture(files[0]);
    file.data[row->at] = (char)row->value;
    struct cubin cubin;
    struct error err = {0};
    ck_assert_int_eq(cubin_parse(&cubin, file.data, file.length, &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, row->words) != NULL, "%s", err.text);
    bytes_release(&file);
}
END_TEST

/* An architecture that we cannot decode: attributes stay, machine code is not known. */
START_TEST(test_unknown_architecture)
{
    struct bytes file = cubin_fixture("small_sm_75.cubin");
    file.data[49] = 61; /* sm_61: eight-byte instructions */
    struct cubin cubin = read_cubin(file.data, file.length);
    const struct cubin_kernel *k = cubin_find(&cubin, "smallSpills");
    ck_assert_uint_eq(cubin.sm, 61);
    ck_assert_int_eq(k->registers, 24);
    ck_assert(!k->spills_known);
    ck_assert_int_eq(k->spill_store_bytes, CUBIN_ABSENT);
    ck_assert_int_eq(k->local_store_instructions, CUBIN_ABSENT);
    ck_assert_int_eq(k->straight_line, CUBIN_UNKNOWN);
    cubin_release(&cubin);
    bytes_release(&file);
}
END_TEST

/* ---- Instructions: words from ptxas 13.0 with what nvdisasm 12.4 says of them ---------------- */

/* clang-format off */
static const struct decoded {
    unsigned sm;
    uint64_t address, low, high;
    struct sass_instruction in;
} decoded[] = {
    {75, 0x390, 0x0000081101007387, 0x0045e80000100800, {.kind = SASS_LOCAL_STORE, .bytes = 4, .reg = 17, .base = 1, .offset = 8}},
    {75, 0x660, 0x0000100c01007387, 0x0001e40000100a00, {.kind = SASS_LOCAL_STORE, .bytes = 8, .reg = 12, .base = 1, .offset = 16}},
    {90, 0x280, 0x0000000801007387, 0x0041e80000100c00, {.kind = SASS_LOCAL_STORE, .bytes = 16, .reg = 8, .base = 1}},
    {75, 0x680, 0x00000800010c7983, 0x000ea60000300800, {.kind = SASS_LOCAL_LOAD, .bytes = 4, .reg = 12, .base = 1, .offset = 8}},
    {90, 0x3e0, 0xfffffc0010079983, 0x000ee20000100800, {.kind = SASS_LOCAL_LOAD, .guarded = true, .bytes = 4, .reg = 7, .base = 16, .offset = -4}},
    {75, 0x0d0, 0x0000012000007944, 0x021fea0003c00000, {.kind = SASS_CALL}},
    {75, 0x1f0, 0x000000000000794d, 0x000fea0003800000, {.kind = SASS_EXIT}},
    {75, 0x460, 0x0000388000008947, 0x000fea0003800000, {.kind = SASS_BRANCH, .guarded = true, .target = 0x3cf0}},
    {75, 0x24a0, 0xffffe02000009947, 0x000fea000383ffff, {.kind = SASS_BRANCH, .guarded = true, .target = 0x4d0}},
    {75, 0x4280, 0xfffffff000007947, 0x000fc0000383ffff, {.kind = SASS_BRANCH, .target = 0x4280}},
    {90, 0x490, 0x0000003800a08947, 0x000fea0003800000, {.kind = SASS_BRANCH, .guarded = true, .target = 0x3f20}},
    {90, 0x2520, 0xffffffdc00fc9947, 0x000fea000383ffff, {.kind = SASS_BRANCH, .guarded = true, .target = 0x520}},
    {90, 0x43b0, 0xfffffffc00fc7947, 0x000fc0000383ffff, {.kind = SASS_BRANCH, .target = 0x43b0}},
    {100, 0x2670, 0xfffffffc00fc7947, 0x000fc0000383ffff, {.kind = SASS_BRANCH, .target = 0x2670}},
    {75, 0x15d0, 0xffffea2014007950, 0x020fee0003c3ffff, {.kind = SASS_JUMP}},
    {90, 0x1f0, 0xfffffffc02807949, 0, {.kind = SASS_JUMP}},
    {90, 0x12c0, 0x000000000f087348, 0, {.kind = SASS_UNKNOWN}}, /* WARPSYNC.COLLECTIVE */
    {90, 0x10, 0x000000040000795c, 0, {.kind = SASS_OTHER}},     /* BPT.TRAP */
    {90, 0x20, 0x0000000000007918, 0, {.kind = SASS_OTHER}},     /* NOP */
};
/* clang-format on */

START_TEST(test_decoded)
{
    const struct decoded *row = &decoded[_i];
    unsigned char code[SASS_INSTRUCTION_BYTES];
    memcpy(code, &row->low, 8);
    memcpy(code + 8, &row->high, 8);
    ck_assert(sass_understands(row->sm));
    struct sass_instruction in = sass_decode(row->sm, code, row->address);
    ck_assert_int_eq(in.kind, row->in.kind);
    ck_assert_int_eq(in.guarded, row->in.guarded);
    ck_assert_uint_eq(in.bytes, row->in.bytes);
    ck_assert_uint_eq(in.reg, row->in.reg);
    ck_assert_uint_eq(in.base, row->in.base);
    ck_assert_int_eq(in.offset, row->in.offset);
    ck_assert_uint_eq(in.target, row->in.target);
}
END_TEST

/* ---- Against ptxas --------------------------------------------------------------------------- */

#define KERNELS 11 /* of tests/fixtures/cubin/kernels.cu */
static const unsigned caps[] = {24, 32, 40, 64, 128, 0 /* none */};

static char work_folder[4096];

static struct process_result run_tool(const char *const *argv)
{
    struct toolchain_environment storage;
    struct process_result result;
    struct error err = {0};
    const struct process_spec spec = {.argv = argv,
                                      .environment = toolchain_environment(&storage, work_folder),
                                      .directory = work_folder,
                                      .wall_ns = INT64_C(120000000000),
                                      .output_limit = (size_t)4 << 20,
                                      .merge_error = true};
    ck_assert_msg(process_run(&result, &spec, &err) == 0, "%s", err.text);
    ck_assert_msg(!result.timed_out && !result.signalled && result.exit_code == 0, "%s: %s",
                  argv[0], bytes_text(&result.output));
    return result;
}

/* Finds the toolkit; false (and a counted skip by the caller) when there is none. */
static bool find_toolkit(struct toolchain *kit)
{
    struct error err = {0};
    if (!testing_have_toolkit() || toolchain_find(kit, NULL, &err) != 0)
        return false;
    ck_assert_msg(toolchain_ask(kit, &err) == 0, "%s", err.text);
    (void)snprintf(work_folder, sizeof work_folder, "%s", testing_temporary_folder());
    return true;
}

static void compile_ptx(const struct toolchain *kit, const char *source, const char *arch,
                        const char *ptx)
{
    char here[2048], path[4096], option[64];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    (void)snprintf(path, sizeof path, "%s/%s", here, source);
    (void)snprintf(option, sizeof option, "-arch=%s", arch);
    const char *argv[] = {kit->nvcc, "-std=c++17", "-O3", option, "-lineinfo",
                          "-ptx",    path,         "-o",  ptx,    NULL};
    struct process_result result = run_tool(argv);
    process_result_release(&result);
}

/* Assembles; returns ptxas's words (release the result) and the cubin. */
static struct process_result assemble(const struct toolchain *kit, const char *ptx,
                                      const char *arch, unsigned cap, struct cubin *cubin)
{
    char arch_option[64], cap_option[64], path[4200];
    (void)snprintf(arch_option, sizeof arch_option, "-arch=%s", arch);
    (void)snprintf(cap_option, sizeof cap_option, "-maxrregcount=%u", cap);
    const char *argv[] = {kit->ptxas, "-w",          "-v", arch_option, ptx,
                          "-o",       "check.cubin", NULL, NULL};
    if (cap != 0)
        argv[COUNT_OF(argv) - 2] = cap_option;
    struct process_result result = run_tool(argv);
    struct bytes file;
    (void)snprintf(path, sizeof path, "%s/check.cubin", work_folder);
    ck_assert_int_eq(file_read(&file, path, (size_t)64 << 20, true), FILE_READ);
    unsigned char *copy = exact_copy(file.data, file.length);
    *cubin = read_cubin(copy, file.length);
    free(copy);
    bytes_release(&file);
    return result;
}

static void compare_one(int64_t ours, int64_t said, const char *what, const char *where)
{
    ck_assert_msg(ours == said, "%s: %s %lld, ptxas says %lld", where, what, (long long)ours,
                  (long long)said);
}

static void compare(const struct cubin_kernel *k, const struct report_kernel *said,
                    const char *where)
{
    ck_assert_msg(said->complete && !said->ambiguous, "%s: not read whole", where);
    compare_one(k->registers, said->registers, "registers", where);
    compare_one(k->frame_bytes,
                said->cumulative_stack_bytes != REPORT_ABSENT ? said->cumulative_stack_bytes
                                                              : said->stack_bytes,
                "frame", where);
    compare_one((int64_t)k->callee_count, (int64_t)said->function_count, "callees", where);
    if (k->callee_count == 0) {
        compare_one(k->frame_bytes, said->stack_bytes, "frame", where);
        compare_one(k->max_frame_bytes, said->max_stack_bytes, "largest frame", where);
    }
    compare_one(k->shared_bytes, said->shared_bytes == REPORT_ABSENT ? 0 : said->shared_bytes,
                "shared memory", where);
    if (k->barriers != CUBIN_ABSENT)
        compare_one(k->barriers, said->barriers, "barriers", where);
    if (k->spills_known) { /* else an older toolkit: see test_settled */
        compare_one(k->spill_store_bytes, said->total_spill_store_bytes, "spill stores", where);
        compare_one(k->spill_load_bytes, said->total_spill_load_bytes, "spill loads", where);
    }
}

/* Which kernels of kernels.cu run their spills once in each warp, where they have any. */
static enum cubin_answer expected_flow(const struct cubin_kernel *k)
{
    static const char *const tangled[] = {"loopSpills", "callsSpiller", "callsChain", "recursion",
                                          "callsTable"};
    if (k->spill_store_instructions + k->spill_load_instructions == 0)
        return CUBIN_YES;
    for (size_t i = 0; i < COUNT_OF(tangled); ++i)
        if (strcmp(k->symbol, tangled[i]) == 0)
            return CUBIN_NO;
    return CUBIN_YES;
}

#define TOOLKIT_ARCHS 24 /* loop tests: one run an architecture of this nvcc */

START_TEST(test_against_ptxas)
{
    struct toolchain kit;
    if (!find_toolkit(&kit))
        TEST_SKIP("no CUDA toolkit");
    if ((size_t)_i >= kit.arch_count) {
        toolchain_release(&kit);
        return;
    }
    char arch[ARCH_NAME_BYTES];
    (void)arch_name(kit.archs[_i], "sm_", arch);
    compile_ptx(&kit, "tests/fixtures/cubin/kernels.cu", arch, "check.ptx");
    size_t spilling = 0;
    for (size_t c = 0; c < COUNT_OF(caps); ++c) {
        struct cubin cubin;
        struct process_result words = assemble(&kit, "check.ptx", arch, caps[c], &cubin);
        struct report report;
        struct error err = {0};
        ck_assert_int_eq(report_parse(&report, words.output.data, words.output.length, &err), 0);
        ck_assert_uint_eq(report.kernel_count, KERNELS);
        ck_assert_uint_eq(cubin.kernel_count, KERNELS);
        ck_assert_uint_eq(cubin.sm, kit.archs[_i].number);
        for (size_t i = 0; i < report.kernel_count; ++i) {
            const struct report_kernel *said = &report.kernels[i];
            char where[200];
            (void)snprintf(where, sizeof where, "%s, %s, at most %u registers", said->symbol, arch,
                           caps[c]);
            const struct cubin_kernel *k = cubin_find(&cubin, said->symbol);
            ck_assert_msg(k != NULL, "%s is not in the cubin", where);
            compare(k, said, where);
            ck_assert_msg(k->spills_known || kit.major < 13, "%s: spills unknown", where);
            if (k->spills_known)
                ck_assert_msg(k->straight_line == expected_flow(k), "%s: straight line %d", where,
                              k->straight_line);
            spilling += said->total_spill_store_bytes > 0;
        }
        report_release(&report);
        cubin_release(&cubin);
        process_result_release(&words);
    }
    ck_assert_uint_ge(spilling, 20); /* or the caps test nothing */
    toolchain_release(&kit);
}
END_TEST

START_TEST(test_every_architecture_is_tested)
{
    struct toolchain kit;
    if (!find_toolkit(&kit))
        TEST_SKIP("no CUDA toolkit");
    ck_assert_uint_gt(kit.arch_count, 0);
    ck_assert_uint_le(kit.arch_count, TOOLKIT_ARCHS);
    ck_assert_uint_ge(kit.arch_count * COUNT_OF(caps) * KERNELS, 100); /* combinations */
    toolchain_release(&kit);
}
END_TEST

/* The Day 17 reference against what Nsight Compute counted on an H200 for n = 1,049,187: 32,788
 * warps pass the guard. Measured with CUDA 13.0; another ptxas may make other code. */
START_TEST(test_measured)
{
    struct toolchain kit;
    if (!find_toolkit(&kit))
        TEST_SKIP("no CUDA toolkit");
    if (kit.major != 13 || kit.minor != 0) {
        toolchain_release(&kit);
        TEST_SKIP("the counts are for CUDA 13.0");
    }
    compile_ptx(&kit, "reference/day17-registers/registers.cu", "sm_90", "day17.ptx");
    struct cubin cubin;
    struct process_result words = assemble(&kit, "day17.ptx", "sm_90", 0, &cubin);
    const struct cubin_kernel *indexed = NULL, *bounded = NULL;
    for (size_t i = 0; i < cubin.kernel_count; ++i)
        if (strstr(cubin.kernels[i].symbol, "decayWideIndexed") != NULL)
            indexed = &cubin.kernels[i];
        else if (strstr(cubin.kernels[i].symbol, "decayWideBounded") != NULL)
            bounded = &cubin.kernels[i];
    ck_assert(indexed != NULL && bounded != NULL);
    const int64_t warps = 32788;
    ck_assert_int_eq(indexed->local_load_instructions * warps, 2098432); /* 64 LDL */
    ck_assert_int_eq(indexed->local_load_requests * warps, 2098432);
    ck_assert_int_eq(indexed->local_store_instructions * warps, 524608); /* 16 STL.128 */
    ck_assert_int_eq(indexed->local_store_requests * warps, 2098432);
    ck_assert_int_eq(indexed->frame_bytes, 256);
    ck_assert_int_eq(indexed->spill_store_bytes + indexed->spill_load_bytes, 0);
    ck_assert_int_eq(bounded->spill_store_requests * warps, 327880); /* 10 STL */
    ck_assert_int_eq(bounded->spill_load_requests * warps, 327880);
    /* The last warp has three threads, whose words share one sector instead of four. */
    ck_assert_int_eq(bounded->spill_store_bytes * warps - 10 * 3, 1311490);
    ck_assert_int_eq(bounded->registers, 64);
    ck_assert_int_eq(bounded->max_threads[0], 256);
    ck_assert_int_eq(bounded->straight_line, CUBIN_YES);
    process_result_release(&words);
    cubin_release(&cubin);

    /* Other widths, 32 full warps of kernels.cu with at most 32 registers. */
    /* clang-format off */
    static const struct {
        const char *kernel;
        int64_t load_instructions, load_requests, store_instructions, store_requests;
    } counted[] = {
        {"plainSpills",  192,  224, 160,  192}, /* one of each is 64 bits wide */
        {"doubleSpills", 128,  256, 128,  256}, /* all are */
        {"indexedArray", 1024, 1024, 256, 1024}, /* stores of 128 bits */
    };
    /* clang-format on */
    compile_ptx(&kit, "tests/fixtures/cubin/kernels.cu", "sm_90", "check.ptx");
    words = assemble(&kit, "check.ptx", "sm_90", 32, &cubin);
    for (size_t i = 0; i < COUNT_OF(counted); ++i) {
        const struct cubin_kernel *k = cubin_find(&cubin, counted[i].kernel);
        ck_assert_ptr_nonnull(k);
        ck_assert_int_eq(k->local_load_instructions * 32, counted[i].load_instructions);
        ck_assert_int_eq(k->local_load_requests * 32, counted[i].load_requests);
        ck_assert_int_eq(k->local_store_instructions * 32, counted[i].store_instructions);
        ck_assert_int_eq(k->local_store_requests * 32, counted[i].store_requests);
    }
    process_result_release(&words);
    cubin_release(&cubin);
    toolchain_release(&kit);
}
END_TEST

Suite *suite_cubin(void)
{
    Suite *suite = suite_create("cubin");
    TCase *reading = tcase_create("reading");
    tcase_set_timeout(reading, 60);
    tcase_add_loop_test(reading, test_recorded, 0, COUNT_OF(recorded));
    tcase_add_loop_test(reading, test_settled, 0, COUNT_OF(settled));
    tcase_add_loop_test(reading, test_refused, 0, COUNT_OF(refusals));
    tcase_add_loop_test(reading, test_decoded, 0, COUNT_OF(decoded));
    tcase_add_test(reading, test_unknown_architecture);
    suite_add_tcase(suite, reading);
    TCase *damaged = tcase_create("damaged");
    tcase_set_timeout(damaged, 300);
    tcase_add_loop_test(damaged, test_truncated, 0, COUNT_OF(files));
    tcase_add_loop_test(damaged, test_flipped, 0, COUNT_OF(files));
    tcase_add_loop_test(damaged, test_large_numbers, 0, COUNT_OF(files));
    suite_add_tcase(suite, damaged);
    TCase *toolkit = tcase_create("toolkit");
    tcase_set_timeout(toolkit, 300);
    tcase_add_test(toolkit, test_every_architecture_is_tested);
    tcase_add_loop_test(toolkit, test_against_ptxas, 0, TOOLKIT_ARCHS);
    tcase_add_test(toolkit, test_measured);
    suite_add_tcase(suite, toolkit);
    return suite;
}

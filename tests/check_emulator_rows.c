/* check_emulator_rows.c - every instruction of the table, one kernel each, against what an H200
 * made of the same 2048 operands: edges, any bits, plain numbers. Exact instructions must give the
 * same bits; approximations may be as far off as the PTX manual says. */
#include "support_emulator.h"

#include <math.h>

#include "truth/golden.h"
#include "truth/rows_ptx.h"
#include "truth/truth.h"

#define VALUES ((size_t)2048)
#define KEPT ((size_t)512) /* results of an approximation in the golden data */
#define PART ((size_t)121)
#define NEWER 8 /* of a part's instructions may have come after the recording */

static void run_row(struct emulator *emulator, const struct rows_case *row,
                    uint64_t operands[4][VALUES], uint64_t results[VALUES])
{
    uint64_t addresses[5];
    const unsigned n = VALUES;
    struct support_argument arguments[6];
    for (unsigned k = 0; k < 4; ++k) {
        memset(operands[k], 0, sizeof operands[k]);
        if (row->types[k][0] != '\0')
            rows_inputs(row->types[k], k, operands[k], VALUES);
        addresses[k] = support_buffer(emulator, "operand", operands[k], sizeof operands[k]);
    }
    addresses[4] = support_buffer(emulator, "results", NULL, VALUES * 8);
    for (unsigned k = 0; k < 5; ++k)
        arguments[k] = (struct support_argument){&addresses[k], 8};
    arguments[5] = (struct support_argument){&n, 4};
    const struct emulator_options options = {.threads = 1};
    struct emulator_result result =
        support_launch(emulator, row->kernel, VALUES / 128, 128, arguments, 6, &options);
    support_finished(&result);
    emulator_result_release(&result);
    ck_assert_int_eq(emulator_copy_out(emulator, addresses[4], results, VALUES * 8), 0);
}

/* ---- Approximations ---------------------------------------------------------------------------
 */

/* How far the manual lets the hardware be from the true value; the emulator, which rounds it once,
 * gets one unit in the last place more. `bits` of the result: 16 (f16, bf16), 32 or 64. */
static const struct bound {
    const char *prefix;
    double relative, absolute;
} bounds[] = {
    {"div.approx", 0x1p-22, 0}, /* 2 ulps */
    {"div.full", 0x1p-22, 0},   /* 2 ulps */
    {"rcp.approx.ftz.f64", 0x1p-20, 0}, {"rsqrt.approx.ftz.f64", 0x1p-20, 0},
    {"rsqrt.approx.f64", 0, 0},         {"rcp.approx", 0x1p-23, 0},     /* 1 ulp */
    {"sqrt.approx", 0x1p-23, 0},        {"rsqrt.approx", 0x1.1p-23, 0}, /* 2^-22.9 */
    {"sin.approx", 0, 0x1.6bp-21}, /* 2^-20.5 within 2 pi; what is further off: see below */
    {"cos.approx", 0, 0x1.6bp-21},      {"ex2.approx.f16", 0x1.12p-10, 0}, /* 2^-9.9 */
    {"ex2.approx.ftz.bf16", 0x1p-7, 0}, {"ex2.approx.bf16", 0x1p-7, 0},
    {"ex2.approx", 0x1p-22, 0},                                             /* 2 ulps */
    {"lg2.approx", 0x1p-22, 0x1p-22},   {"tanh.approx.f16", 0, 0x1.03p-11}, /* 2^-10.987 */
    {"tanh.approx.bf16", 0, 0x1p-8},    {"tanh.approx", 0x1p-11, 0},
};

static const struct bound *bound_of(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(bounds); ++i)
        if (strncmp(text, bounds[i].prefix, strlen(bounds[i].prefix)) == 0)
            return &bounds[i];
    ck_abort_msg("%s: no bound", text);
    return NULL;
}

/* A binary format's bits as a number. */
static double decode(uint64_t bits, unsigned width, unsigned fraction_bits)
{
    const unsigned exponent_bits = width - 1 - fraction_bits;
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    const int exponent = (int)(bits >> fraction_bits & ((1u << exponent_bits) - 1));
    double value = 0;
    if (exponent == (1 << exponent_bits) - 1)
        value = fraction != 0 ? (double)NAN : HUGE_VAL;
    else if (exponent == 0)
        value = ldexp((double)fraction, 1 - bias - (int)fraction_bits);
    else
        value = ldexp((double)(fraction | UINT64_C(1) << fraction_bits),
                      exponent - bias - (int)fraction_bits);
    return (bits >> (width - 1) & 1) != 0 ? -value : value;
}

struct format {
    unsigned width, fraction_bits, parts;
};

static struct format format_of(const char *text)
{
    const bool pair = text[strlen(text) - 2] == 'x';
    if (strstr(text, ".bf16") != NULL)
        return (struct format){16, 7, pair ? 2 : 1};
    if (strstr(text, ".f16") != NULL)
        return (struct format){16, 10, pair ? 2 : 1};
    return strstr(text, ".f64") != NULL ? (struct format){64, 52, 1} : (struct format){32, 23, 1};
}

static bool is_near(const char *text, const struct format *format, uint64_t got, uint64_t wanted,
                    double operand)
{
    if (got == wanted)
        return true;
    const struct bound *bound = bound_of(text);
    const double a = decode(got, format->width, format->fraction_bits);
    const double b = decode(wanted, format->width, format->fraction_bits);
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return false; /* what is special must be equal */
    double absolute = bound->absolute;
    if (strncmp(text, "sin", 3) == 0 || strncmp(text, "cos", 3) == 0)
        absolute = fabs(operand) <= 6.2831853 ? absolute : 0x1.3ap-15; /* 2^-14.7 within 100 pi */
    const double least = ldexp(1, 2 - (1 << (format->width - 2 - format->fraction_bits)));
    const double unit =
        ldexp(fmax(fabs(b), least), -(int)format->fraction_bits); /* an ulp, or two */
    const double flushed = strstr(text, ".ftz") != NULL || format->width == 32 ? least : 0;
    return fabs(a - b) <= fmax(bound->relative * fabs(b), absolute) + unit ||
           (fabs(a) <= flushed && fabs(b) <= flushed);
}

struct tally {
    uint64_t exact, approximate, same, newer;
    struct bytes failures;
};

static void compare_approximation(struct tally *tally, const struct rows_case *row,
                                  uint64_t operands[4][VALUES], const uint64_t results[VALUES],
                                  const unsigned char *raw)
{
    const struct format format = format_of(row->text);
    const uint64_t mask = format.width == 64 ? UINT64_MAX : (UINT64_C(1) << format.width) - 1;
    for (size_t v = 0; v < KEPT; ++v) {
        uint64_t wanted;
        memcpy(&wanted, raw + 8 * v, sizeof wanted);
        for (unsigned part = 0; part < format.parts; ++part) {
            const unsigned shift = 16 * part;
            ++tally->approximate;
            tally->same += (results[v] >> shift & mask) == (wanted >> shift & mask) ? 1 : 0;
            if (!is_near(
                    row->text, &format, results[v] >> shift & mask, wanted >> shift & mask,
                    decode(operands[0][v] >> shift & mask, format.width, format.fraction_bits)))
                (void)bytes_printf(
                    &tally->failures, "%s of %llx, %llx: %llx, the hardware gave %llx\n", row->text,
                    (unsigned long long)operands[0][v], (unsigned long long)operands[1][v],
                    (unsigned long long)results[v], (unsigned long long)wanted);
        }
    }
}

START_TEST(rows_are_true)
{
    struct bytes ptx = bytes_with_limit((size_t)64 << 20);
    struct golden golden;
    struct tally tally = {.failures = bytes_with_limit((size_t)1 << 20)};
    const size_t first = (size_t)_i * PART;
    static uint64_t operands[4][VALUES], results[VALUES];
    golden_read(&golden);
    rows_ptx(&ptx, first, first + PART);
    struct emulator *emulator = support_emulator(ptx.data, ptx.length);
    for (size_t i = first; i < first + PART && i < rows_case_count(); ++i) {
        struct rows_case row;
        struct golden_output wanted;
        char key[160];
        rows_case_at(i, &row);
        rows_key(&row, key, sizeof key);
        run_row(emulator, &row, operands, results);
        if (!golden_row(&golden, key, &wanted)) {
            printf("%s: newer than the recording\n", key);
            ck_assert_msg(++tally.newer <= NEWER, "record anew: tests/truth/record.sh");
        } else if (wanted.raw != NULL) {
            compare_approximation(&tally, &row, operands, results, wanted.raw);
        } else {
            tally.exact += VALUES;
            if (truth_hash(results, sizeof results) != wanted.hash)
                (void)bytes_printf(&tally.failures, "%s: some result differs\n", key);
        }
    }
    printf("rows %zu to %zu: %llu results with equal bits; %llu of %llu approximations, too, the "
           "others within the manual's bounds\n",
           first, first + PART - 1, (unsigned long long)tally.exact, (unsigned long long)tally.same,
           (unsigned long long)tally.approximate);
    ck_assert_msg(tally.failures.length == 0, "%s", bytes_text(&tally.failures));
    bytes_release(&tally.failures);
    golden_release(&golden);
    emulator_free(emulator);
    bytes_release(&ptx);
}
END_TEST

Suite *suite_emulator_rows(void);
Suite *suite_emulator_rows(void)
{
    Suite *suite = suite_create("emulator_rows");
    TCase *tcase = tcase_create("rows");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, rows_are_true, 0, (int)((rows_case_count() + PART - 1) / PART));
    suite_add_tcase(suite, tcase);
    return suite;
}

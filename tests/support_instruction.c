#include "support_instruction.h"

#include <fenv.h>

#define LANES_RUN 1024

/* ---- Types ---------------------------------------------------------------------------------- */

static const struct type {
    const char *name;
    unsigned bits; /* of the register */
    unsigned used; /* of the value */
    bool is_signed;
    unsigned fraction; /* floating point: its bits; 0: an integer */
    unsigned parts;    /* x2: 2 */
} types[] = {
    {"pred", 1, 1, false, 0, 1},     {"u8", 16, 8, false, 0, 1},    {"s8", 16, 8, true, 0, 1},
    {"u16", 16, 16, false, 0, 1},    {"s16", 16, 16, true, 0, 1},   {"u32", 32, 32, false, 0, 1},
    {"s32", 32, 32, true, 0, 1},     {"u64", 64, 64, false, 0, 1},  {"s64", 64, 64, true, 0, 1},
    {"f16", 16, 16, false, 10, 1},   {"bf16", 16, 16, false, 7, 1}, {"f16x2", 32, 32, false, 10, 2},
    {"bf16x2", 32, 32, false, 7, 2}, {"f32", 32, 32, false, 23, 1}, {"f64", 64, 64, false, 52, 1}};

static const struct type *find_type(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(types); ++i)
        if (strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0)
            return &types[i];
    ck_abort_msg("no type %.*s", (int)length, name);
    return NULL;
}

float bits_f32(uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    float value;
    memcpy(&value, &narrow, sizeof value);
    return value;
}

double bits_f64(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint64_t f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

uint64_t f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double bits_small(uint64_t bits, struct format format)
{
    const unsigned all = (1u << format.exponent) - 1, bias = all / 2;
    const unsigned exponent = (unsigned)(bits >> format.fraction) & all;
    const double sign = (bits >> (format.exponent + format.fraction) & 1) != 0 ? -1 : 1;
    const double fraction = (double)(bits & ((UINT64_C(1) << format.fraction) - 1));
    const double unit =
        ldexp(1, (int)(exponent == 0 ? 1 : exponent) - (int)bias - (int)format.fraction);
    if (exponent == all)
        return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
    return sign * unit * (fraction + (exponent == 0 ? 0 : ldexp(1, (int)format.fraction)));
}

/* By the definition: a multiple of the unit in the last place, chosen by the mode. */
uint64_t small_bits(long double value, struct format format, int mode)
{
    const unsigned all = (1u << format.exponent) - 1, bias = all / 2;
    const uint64_t sign = (signbit(value) ? UINT64_C(1) : 0) << (format.exponent + format.fraction);
    const uint64_t infinity = (uint64_t)all << format.fraction;
    if (isnan(value))
        return 0x7FFF;
    if (isinf(value))
        return sign | infinity;
    if (value == 0)
        return sign;
    int exponent = 0;
    (void)frexpl(fabsl(value), &exponent);
    --exponent;
    if (exponent < 1 - (int)bias)
        exponent = 1 - (int)bias;
    const int kept = fegetround();
    (void)fesetround(mode);
    volatile long double scaled = ldexpl(value, (int)format.fraction - exponent);
    volatile long double units = nearbyintl(scaled);
    (void)fesetround(kept);
    /* A carry into the next binade just adds up. */
    const uint64_t magnitude =
        (uint64_t)fabsl(units) + ((uint64_t)(exponent + (int)bias - 1) << format.fraction);
    if (magnitude < infinity)
        return sign | magnitude;
    const bool to_infinity = mode == FE_TONEAREST || (mode == FE_UPWARD && sign == 0) ||
                             (mode == FE_DOWNWARD && sign != 0);
    return sign | (to_infinity ? infinity : infinity - 1);
}

/* ---- Operands ------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static uint64_t float_operand(unsigned bits, unsigned fraction, uint64_t *state)
{
    const uint64_t random = next_random(state), one_bit = UINT64_C(1) << fraction;
    const uint64_t all_exponents = (UINT64_C(1) << (bits - 1 - fraction)) - 1;
    const uint64_t sign = (random >> 3 & 1) << (bits - 1);
    const uint64_t middle = all_exponents / 2;
    uint64_t exponent = middle - 8 + (random >> 8) % 16; /* around one */
    switch (random % 8) {
    case 0: { /* the ends of the format */
        const uint64_t ends[] = {0,
                                 1,
                                 one_bit - 1,
                                 one_bit,
                                 one_bit + 1,
                                 all_exponents * one_bit,
                                 all_exponents * one_bit - 1,
                                 all_exponents * one_bit + one_bit / 2,
                                 middle * one_bit};
        return sign | ends[(random >> 16) % COUNT_OF(ends)];
    }
    case 1: /* any bits */
        return next_random(state) & (sign | ((UINT64_C(1) << (bits - 1)) - 1));
    case 2: /* halves and integers: ties */
        return sign | exponent << fraction | (next_random(state) & ~(one_bit - 1) & (one_bit - 1)) |
               (next_random(state) % 4) * (one_bit / 4);
    case 3: /* around the limits of the integers */
        exponent = middle + (random >> 8) % 66;
        if (exponent > all_exponents)
            exponent = all_exponents;
        break;
    default:
        break;
    }
    return sign | exponent << fraction | (next_random(state) & (one_bit - 1));
}

static uint64_t integer_operand(unsigned bits, uint64_t *state)
{
    const uint64_t random = next_random(state), top = UINT64_C(1) << (bits - 1);
    const uint64_t all = top | (top - 1);
    switch (random % 4) {
    case 0: {
        const uint64_t edges[] = {0, 1, 2, all, all - 1, top, top - 1, top + 1, bits, bits - 1};
        return edges[(random >> 8) % COUNT_OF(edges)] & all;
    }
    case 1: /* small, of either sign */
        return (random >> 8) % 70 * ((random >> 7 & 1) != 0 ? UINT64_C(1) : all) & all;
    case 2: /* of any length */
        return next_random(state) >> (64 - bits) >> (random >> 8) % bits;
    default:
        return next_random(state) & all;
    }
}

static uint64_t operand_value(const struct type *type, uint64_t *state)
{
    if (type->bits == 1)
        return next_random(state) >> 9 & 1;
    if (type->fraction == 0) {
        uint64_t value = integer_operand(type->used, state);
        /* What is above the value in a wider register is noise. */
        return type->used < type->bits ? value | (next_random(state) << type->used & 0xFF00)
                                       : value;
    }
    const unsigned part = type->bits / type->parts;
    uint64_t value = float_operand(part, type->fraction, state);
    if (type->parts == 2)
        value |= float_operand(part, type->fraction, state) << part;
    return value;
}

/* ---- The kernel ----------------------------------------------------------------------------- */

static unsigned storage_bits(const struct type *type)
{
    return type->bits == 1 ? 32 : type->bits;
}

static void write_kernel(struct bytes *ptx, const struct instruction_row *row,
                         const struct type *const *list, unsigned count)
{
    (void)bytes_printf(ptx,
                       ".version 8.7\n.target sm_90\n.address_size 64\n.entry k(.param .u64 p0");
    for (unsigned i = 1; i < count; ++i)
        (void)bytes_printf(ptx, ", .param .u64 p%u", i);
    (void)bytes_printf(ptx, ") {\n.reg .b64 %%at<8>, %%offset; .reg .b32 %%i<3>;\n");
    for (unsigned i = 0; i < count; ++i)
        if (list[i]->bits == 1)
            (void)bytes_printf(ptx, ".reg .pred %%v%u; .reg .b32 %%w%u;\n", i, i);
        else
            (void)bytes_printf(ptx, ".reg .b%u %%v%u;\n", list[i]->bits, i);
    (void)bytes_printf(ptx, "mov.u32 %%i0, %%ctaid.x; mov.u32 %%i1, %%tid.x;\n"
                            "mad.lo.u32 %%i0, %%i0, 128, %%i1; mul.wide.u32 %%offset, %%i0, 8;\n");
    for (unsigned i = 0; i < count; ++i)
        (void)bytes_printf(ptx, "ld.param.u64 %%at%u, [p%u]; add.u64 %%at%u, %%at%u, %%offset;\n",
                           i, i, i, i);
    for (unsigned i = 1; i < count; ++i)
        if (list[i]->bits == 1)
            (void)bytes_printf(ptx, "ld.global.u32 %%w%u, [%%at%u]; setp.ne.u32 %%v%u, %%w%u, 0;\n",
                               i, i, i, i);
        else
            (void)bytes_printf(ptx, "ld.global.b%u %%v%u, [%%at%u];\n", list[i]->bits, i, i);
    if (strchr(row->text, '$') == NULL) {
        (void)bytes_printf(ptx, "%s ", row->text);
        for (unsigned i = 0; i < count; ++i)
            (void)bytes_printf(ptx, "%s%%v%u", i == 0 ? "" : ", ", i);
    } else {
        for (const char *at = row->text; *at != '\0'; ++at)
            if (*at == '$')
                (void)bytes_append_text(ptx, "%v");
            else
                (void)bytes_append(ptx, at, 1);
    }
    (void)bytes_append_text(ptx, ";\n");
    if (list[0]->bits == 1)
        (void)bytes_append_text(ptx, "selp.u32 %w0, 1, 0, %v0; st.global.u32 [%at0], %w0;\n");
    else
        (void)bytes_printf(ptx, "st.global.b%u [%%at0], %%v0;\n", list[0]->bits);
    (void)bytes_append_text(ptx, "ret; }\n");
}

struct instruction_run {
    unsigned count; /* of types */
    const struct type *types[5];
    uint64_t in[4][LANES_RUN], out[LANES_RUN];
};

static void run_instruction(struct instruction_run *run, const struct instruction_row *row)
{
    memset(run, 0, sizeof *run);
    for (const char *at = row->types; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        ck_assert_uint_lt(run->count, COUNT_OF(run->types));
        run->types[run->count++] = find_type(at, length);
        at += length + strspn(at + length, " ");
    }
    struct bytes ptx = bytes_with_limit((size_t)1 << 20);
    write_kernel(&ptx, row, run->types, run->count);
    struct error err = {0};
    struct emulator *emulator = emulator_create(ptx.data, ptx.length, &err);
    ck_assert_msg(emulator != NULL, "%s: %s in %s", row->text, err.text, bytes_text(&ptx));
    uint64_t addresses[5];
    struct support_argument arguments[5];
    uint64_t state = UINT64_C(88172645463325252);
    memset(run->out, 0, sizeof run->out);
    for (unsigned i = 0; i < run->count; ++i) {
        for (unsigned k = 0; i > 0 && k < LANES_RUN; ++k)
            run->in[i - 1][k] = operand_value(run->types[i], &state);
        addresses[i] =
            support_buffer(emulator, "values", i == 0 ? run->out : run->in[i - 1], sizeof run->out);
        arguments[i] = (struct support_argument){&addresses[i], 8};
    }
    struct emulator_result result =
        support_launch(emulator, "k", LANES_RUN / 128, 128, arguments, run->count, NULL);
    ck_assert_msg(result.status == EMULATOR_FINISHED && result.fault_count == 0, "%s: %s%s",
                  row->text, result.refusal, result.fault_count > 0 ? result.faults[0].text : "");
    ck_assert_int_eq(emulator_copy_out(emulator, addresses[0], run->out, sizeof run->out), 0);
    emulator_result_release(&result);
    emulator_free(emulator);
    bytes_release(&ptx);
}

static bool is_nan(uint64_t bits, const struct type *type, unsigned part)
{
    const unsigned width = type->bits / type->parts;
    const uint64_t magnitude = bits >> part * width & ((UINT64_C(1) << (width - 1)) - 1);
    const uint64_t infinity = ((UINT64_C(1) << (width - 1 - type->fraction)) - 1) << type->fraction;
    return magnitude > infinity;
}

/* Any NaN is as good as another: which one it is, the golden data of a GPU says. */
static bool is_equal(uint64_t got, uint64_t wanted, const struct type *type)
{
    const unsigned width = storage_bits(type) / type->parts;
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    for (unsigned part = 0; part < type->parts; ++part) {
        const bool same = ((got ^ wanted) >> part * width & mask) == 0;
        const bool nans =
            type->fraction != 0 && is_nan(got, type, part) && is_nan(wanted, type, part);
        if (!same && !nans)
            return false;
    }
    return true;
}

void support_instruction(const struct instruction_row *row)
{
    static struct instruction_run run;
    run_instruction(&run, row);
    for (unsigned k = 0; k < LANES_RUN; ++k) {
        const uint64_t wanted =
            row->expected(run.in[0][k], run.in[1][k], run.in[2][k], run.in[3][k]);
        ck_assert_msg(is_equal(run.out[k], wanted, run.types[0]),
                      "%s of %llx, %llx, %llx, %llx is %llx, not %llx", row->text,
                      (unsigned long long)run.in[0][k], (unsigned long long)run.in[1][k],
                      (unsigned long long)run.in[2][k], (unsigned long long)run.in[3][k],
                      (unsigned long long)run.out[k], (unsigned long long)wanted);
    }
}

void support_approximation(const struct instruction_row *row,
                           bool (*accept)(const char *text, uint64_t got, uint64_t a, uint64_t b))
{
    static struct instruction_run run;
    run_instruction(&run, row);
    for (unsigned k = 0; k < LANES_RUN; ++k)
        ck_assert_msg(accept(row->text, run.out[k], run.in[0][k], run.in[1][k]),
                      "%s of %llx, %llx is %llx", row->text, (unsigned long long)run.in[0][k],
                      (unsigned long long)run.in[1][k], (unsigned long long)run.out[k]);
}

/* check_emulator_integer.c - integers and bits: each instruction against the host. */
#include "support_instruction.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

/* The low `bits` of a value, as a number. */
static wide signed_value(uint64_t value, uint64_t bits)
{
    const unsigned shift = 64 - (unsigned)bits;
    return (int64_t)(value << shift) >> shift;
}

static unsigned_wide unsigned_value(uint64_t value, uint64_t bits)
{
    const unsigned shift = 64 - (unsigned)bits;
    return value << shift >> shift;
}
#define S(value, bits) signed_value(value, bits)
#define U(value, bits) unsigned_value(value, bits)
#define SHIFTED(value, by, bits) (uint64_t)((value) >> ((by) > (bits) ? (bits) : (by)))

static uint64_t saturated(wide value)
{
    value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
    return (uint64_t)value;
}
#define SATURATED(value) saturated(value)

static uint64_t count_ones(uint64_t value, unsigned bits)
{
    uint64_t ones = 0;
    for (unsigned i = 0; i < bits; ++i)
        ones += value >> i & 1;
    return ones;
}

/* The highest bit that differs from the sign (or from zero); all ones: none does. */
static uint64_t leading(uint64_t value, unsigned bits, bool is_signed)
{
    const uint64_t sign = is_signed ? value >> (bits - 1) & 1 : 0;
    for (unsigned i = bits; i-- > 0;)
        if ((value >> i & 1) != sign)
            return i;
    return UINT64_MAX;
}

static uint64_t reversed(uint64_t value, unsigned bits)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; ++i)
        result |= (value >> i & 1) << (bits - 1 - i);
    return result;
}

/* PTX ISA, "bfe": bit by bit. */
/* Positions and lengths: eight bits of them, but all bits in the 64-bit forms (the manual leaves
 * that open; the hardware does so). */
static unsigned field(uint64_t value, unsigned bits)
{
    return bits == 32 ? value & 0xFF : value < 1000 ? (unsigned)value : 1000;
}

static uint64_t extracted(uint64_t a, uint64_t b, uint64_t c, unsigned bits, bool is_signed)
{
    const unsigned position = field(b, bits), length = field(c, bits), last = bits - 1;
    const unsigned top = position + length - 1 < last ? position + length - 1 : last;
    const uint64_t sign = !is_signed || length == 0 ? 0 : a >> top & 1;
    uint64_t result = 0;
    for (unsigned i = 0; i <= last; ++i)
        result |= (i < length && position + i <= last ? a >> (position + i) & 1 : sign) << i;
    return result;
}

static uint64_t inserted(uint64_t a, uint64_t b, uint64_t c, uint64_t d, unsigned bits)
{
    const unsigned position = field(c, bits), length = field(d, bits);
    for (unsigned i = 0; i < length && position + i < bits; ++i) {
        b &= ~(UINT64_C(1) << (position + i));
        b |= (a >> i & 1) << (position + i);
    }
    return b;
}

static uint64_t masked(uint64_t position, uint64_t length)
{
    uint64_t mask = 0;
    for (uint64_t i = 0; i < 32; ++i)
        mask |= i >= position && i - position < length ? UINT64_C(1) << i : 0;
    return mask;
}

/* PTX ISA, "fns"; for the least offset of all the hardware gives 0 */
static uint64_t nth_one(uint64_t mask, unsigned base, int32_t offset)
{
    if (offset == INT32_MIN)
        return 0;
    unsigned position = base, count = 0;
    const int step = offset < 0 ? -1 : 1;
    const unsigned wanted = offset < 0 ? 0u - (unsigned)offset : (unsigned)offset;
    if (offset == 0)
        return (mask >> base & 1) != 0 ? base : UINT32_MAX;
    for (; position < 32; position += (unsigned)step)
        if ((mask >> position & 1) != 0 && ++count == wanted)
            return position;
    return UINT32_MAX;
}

static uint64_t permuted(uint64_t a, uint64_t b, uint64_t selectors)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned selector = (unsigned)(selectors >> 4 * i) & 15;
        const unsigned byte = selector & 7;
        uint64_t value = (byte < 4 ? a >> 8 * byte : b >> 8 * (byte - 4)) & 0xFF;
        if (selector >= 8)
            value = value >= 0x80 ? 0xFF : 0;
        result |= value << 8 * i;
    }
    return result;
}

static uint64_t looked_up(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t result = 0;
    for (unsigned i = 0; i < 32; ++i) {
        const unsigned index = (unsigned)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
        result |= (uint64_t)(table >> index & 1) << i;
    }
    return result;
}

#define ROW(id, text, types, expression)                                                           \
    static uint64_t expect_##id(uint64_t a, uint64_t b, uint64_t c, uint64_t d)                    \
    {                                                                                              \
        (void)a, (void)b, (void)c, (void)d;                                                        \
        return (uint64_t)(expression);                                                             \
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "instructions/integer.inc"
#pragma GCC diagnostic pop
#undef ROW

static const struct instruction_row rows[] = {
#define ROW(id, text, types, expression) {text, types, expect_##id},
#include "instructions/integer.inc"
#undef ROW
};

#define AT_ONCE 16 /* instructions a test: processes cost more than these */

START_TEST(instructions_compute_what_the_manual_says)
{
    for (size_t i = (size_t)_i * AT_ONCE; i < (size_t)(_i + 1) * AT_ONCE && i < COUNT_OF(rows); ++i)
        support_instruction(&rows[i]);
}
END_TEST

Suite *suite_emulator_integer(void);
Suite *suite_emulator_integer(void)
{
    Suite *suite = suite_create("emulator_integer");
    TCase *tcase = tcase_create("instructions");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, instructions_compute_what_the_manual_says, 0,
                        (COUNT_OF(rows) + AT_ONCE - 1) / AT_ONCE);
    suite_add_tcase(suite, tcase);
    return suite;
}

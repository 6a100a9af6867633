/* check_emulator_video.c - video instructions, against a model written from the manual's text
 * ("Video Instructions"): every operation with all types, and parts of every kind. Where ptxas
 * makes something else of them the model says so; the golden data of a GPU has the last word. */
#include "support_instruction.h"

__extension__ typedef __int128 wide;

/* What the instruction under test says; the model reads it. */
static struct {
    char opcode[12];
    char types[3]; /* 'u' or 's': of the result, a, b */
    bool saturates;
    char second[4], compare[3], mode[6]; /* "add", "lt", "wrap"; "" none */
    char d[8], a[8], b[8];               /* parts; "" none */
    int sign_a, sign_b, sign_c;          /* vmad: -1 where there is a minus */
    bool plus_one;
    unsigned shift;
} now;

/* ---- The model ------------------------------------------------------------------------------ */

static wide extend(uint64_t value, unsigned bits, bool is_signed)
{
    const wide low = (wide)(value & ((UINT64_C(1) << bits) - 1));
    return is_signed && low >= (wide)1 << (bits - 1) ? low - ((wide)1 << bits) : low;
}

static wide part_select(uint64_t value, const char *part, char type)
{
    if (part[0] == 'b')
        return extend(value >> 8 * (part[1] - '0'), 8, type == 's');
    if (part[0] == 'h')
        return extend(value >> 16 * (part[1] - '0'), 16, type == 's');
    return extend(value, 32, type == 's');
}

static wide clamp(wide value, unsigned bits, char type)
{
    const wide least = type == 's' ? -((wide)1 << (bits - 1)) : 0;
    const wide most = type == 's' ? ((wide)1 << (bits - 1)) - 1 : ((wide)1 << bits) - 1;
    return value < least ? least : value > most ? most : value;
}

static bool compare(wide a, wide b)
{
    const bool is_less = a < b, is_equal = a == b;
    switch (now.compare[0] * 256 + now.compare[1]) {
    case 'e' * 256 + 'q':
        return is_equal;
    case 'n' * 256 + 'e':
        return !is_equal;
    case 'l' * 256 + 't':
        return is_less;
    case 'l' * 256 + 'e':
        return is_less || is_equal;
    case 'g' * 256 + 't':
        return !is_less && !is_equal;
    default:
        return !is_less;
    }
}

/* The operation proper; the opcode is told by its first letters. */
static wide operate(wide a, wide b)
{
    const char *name = now.opcode + 1;
    if (strncmp(name, "add", 3) == 0)
        return a + b;
    if (strncmp(name, "sub", 3) == 0)
        return a - b;
    if (strncmp(name, "absdiff", 7) == 0)
        return a - b < 0 ? b - a : a - b;
    if (strncmp(name, "avrg", 4) == 0)
        return a + b >= 0 ? (a + b + 1) / 2 : -((-(a + b) + 1) / 2);
    if (strncmp(name, "min", 3) == 0)
        return a <= b ? a : b;
    if (strncmp(name, "max", 3) == 0)
        return a >= b ? a : b;
    if (strncmp(name, "set", 3) == 0)
        return compare(a, b) ? 1 : 0;
    unsigned distance = b > 32 ? 32 : (unsigned)b;
    if (strcmp(now.mode, "wrap") == 0)
        distance = (unsigned)(b % 32);
    if (strncmp(name, "shl", 3) == 0)
        return a * ((wide)1 << distance);
    wide quotient = a / ((wide)1 << distance); /* rounded down */
    return a < 0 && quotient * ((wide)1 << distance) != a ? quotient - 1 : quotient;
}

static uint64_t merge(wide value, const char *part, uint64_t c)
{
    const unsigned bits = part[0] == 'b' ? 8 : 16, at = bits * (unsigned)(part[1] - '0');
    const uint64_t mask = ((UINT64_C(1) << bits) - 1) << at;
    if (strcmp(part, "h1") == 0) /* ptxas: the upper half, not the lower one */
        return ((uint64_t)value & mask) | (c & ~mask);
    return ((uint64_t)value << at & mask) | (c & ~mask);
}

/* "optSaturate", as ptxas has it. */
static wide saturate(wide value)
{
    const char type = now.types[0];
    if (strncmp(now.opcode, "vsh", 3) == 0) /* .s34; the part does not count */
        return clamp(extend((uint64_t)value, 34, true), 32, type);
    if (now.d[0] == '\0' && type == 'u') /* no upper end */
        return value < 0 ? 0 : value;
    if (now.d[0] == '\0')
        return clamp(value, 32, type);
    const wide most = clamp((wide)1 << 40, now.d[0] == 'b' ? 8 : 16, type);
    return value < 0 || value > most ? most : value; /* without a sign */
}

static uint64_t scalar_model(uint64_t a, uint64_t b, uint64_t c, uint64_t unused)
{
    (void)unused;
    const bool is_set = strncmp(now.opcode, "vset", 4) == 0;
    const bool is_signed = now.types[is_set ? 1 : 0] == 's'; /* of vset: the first type there is */
    const bool is_sum = strcmp(now.opcode, "vadd") == 0 || strcmp(now.opcode, "vsub") == 0;
    wide value = operate(part_select(a, now.a, now.types[1]), part_select(b, now.b, now.types[2]));
    wide third = extend(c, 32, is_signed);
    if (now.saturates)
        value = saturate(value);
    if (now.d[0] != '\0')
        return merge(value, now.d, c) & UINT32_MAX;
    if (strcmp(now.second, "add") == 0)
        return (uint64_t)(value + third) & UINT32_MAX;
    if (now.second[0] == '\0')
        return (uint64_t)value & UINT32_MAX;
    /* "optSecOp": ptxas compares 64 bits; of some operations only 32 are left to be extended. */
    if (is_sum || (strncmp(now.opcode, "vsh", 3) == 0 && now.saturates))
        value = extend((uint64_t)value, 32, true);
    value = is_signed ? (wide)(int64_t)value : (wide)(uint64_t)value;
    const bool is_less = value < third;
    return (uint64_t)((strcmp(now.second, "min") == 0) == is_less ? value : third) & UINT32_MAX;
}

/* Whole operands of vmad and c have a sign to ptxas, whatever their types say. */
static char product_type(const char *part, char type)
{
    return part[0] == '\0' ? 's' : type;
}

static uint64_t product_model(uint64_t a, uint64_t b, uint64_t c, uint64_t unused)
{
    (void)unused;
    const bool negated = now.sign_a * now.sign_b < 0;
    const bool is_signed = now.types[1] == 's' || now.types[2] == 's' || negated || now.sign_c < 0;
    wide value = part_select(a, now.a, product_type(now.a, now.types[1])) *
                 part_select(b, now.b, product_type(now.b, now.types[2]));
    unsigned one = now.plus_one ? 1 : 0;
    if (negated) {
        value = -1 - value;
        one = 1;
    } else if (now.sign_c < 0) {
        c = ~c;
        one = 1;
    }
    value += extend(c, 32, true) + one;
    value = is_signed ? (wide)((int64_t)value >> now.shift) : (wide)((uint64_t)value >> now.shift);
    if (!is_signed && now.shift == 0)
        value = (int64_t)value;
    return (uint64_t)(now.saturates ? clamp(value, 32, is_signed ? 's' : 'u') : value) & UINT32_MAX;
}

/* The part of a or b that goes to part i of the result: the digits stand from the highest down. */
static wide pick(uint64_t a, uint64_t b, const char *picks, unsigned first, unsigned i,
                 unsigned parts, char type)
{
    const unsigned from = picks[0] == '\0' ? first + i : (unsigned)(picks[parts - i] - '0');
    const unsigned bits = 32 / parts;
    return extend((from < parts ? a : b) >> bits * (from % parts), bits, type == 's');
}

static uint64_t parts_model(uint64_t a, uint64_t b, uint64_t c, uint64_t unused)
{
    (void)unused;
    const unsigned parts = (unsigned)(now.opcode[strlen(now.opcode) - 1] - '0'), bits = 32 / parts;
    const bool adds = now.second[0] != '\0';
    uint64_t result = adds ? c : 0;
    for (unsigned i = 0; i < parts; ++i) {
        wide value = operate(pick(a, b, now.a, 0, i, parts, now.types[1]),
                             pick(a, b, now.b, parts, i, parts, now.types[2]));
        const bool wanted = now.d[0] == '\0' || strchr(now.d, (char)('0' + i)) != NULL;
        const uint64_t mask = (UINT64_C(1) << bits) - 1;
        if (now.saturates)
            value = clamp(value, bits, now.types[0]);
        if (adds)
            result += wanted ? (uint64_t)value : 0;
        else
            result |= (wanted ? (uint64_t)value & mask : c >> bits * i & mask) << bits * i;
    }
    return result & UINT32_MAX;
}

/* ---- One instruction after another ------------------------------------------------------------
 */

static void write_operand(struct bytes *out, unsigned number, const char *part, int sign)
{
    (void)bytes_printf(out, ", %s$%u%s%s", sign < 0 ? "-" : "", number, part[0] != '\0' ? "." : "",
                       part);
}

static void run(uint64_t (*model)(uint64_t, uint64_t, uint64_t, uint64_t), bool has_third)
{
    struct bytes text = bytes_with_limit(256);
    const bool is_set = strncmp(now.opcode, "vset", 4) == 0;
    (void)bytes_printf(&text, "%s", now.opcode);
    for (unsigned i = is_set ? 1 : 0; i < 3; ++i)
        (void)bytes_printf(&text, ".%c32", now.types[i]);
    if (now.plus_one)
        (void)bytes_append_text(&text, ".po");
    if (now.saturates)
        (void)bytes_append_text(&text, ".sat");
    if (now.shift != 0)
        (void)bytes_printf(&text, ".shr%u", now.shift);
    const char *const rest[] = {now.mode, now.compare, now.second};
    for (size_t i = 0; i < COUNT_OF(rest); ++i)
        (void)bytes_printf(&text, "%s%s", rest[i][0] != '\0' ? "." : "", rest[i]);
    (void)bytes_printf(&text, " $0%s%s", now.d[0] != '\0' ? "." : "", now.d);
    write_operand(&text, 1, now.a, now.sign_a);
    write_operand(&text, 2, now.b, now.sign_b);
    if (has_third)
        write_operand(&text, 3, "", now.sign_c);
    const struct instruction_row row = {bytes_text(&text),
                                        has_third ? "u32 u32 u32 u32" : "u32 u32 u32", model};
    support_instruction(&row);
    bytes_release(&text);
}

static unsigned dice;

/* Parts change from one instruction to the next, in no order that fits the other loops. */
static void choose(char *to, size_t room, const char *const *from, size_t count)
{
    dice = dice * 1103515245 + 12345;
    (void)snprintf(to, room, "%s", from[(dice >> 16) % count]);
}

static void begin(const char *opcode, unsigned types)
{
    memset(&now, 0, sizeof now);
    now.sign_a = now.sign_b = now.sign_c = 1;
    (void)snprintf(now.opcode, sizeof now.opcode, "%s", opcode);
    for (unsigned i = 0; i < 3; ++i)
        now.types[i] = (types >> i & 1) != 0 ? 's' : 'u';
}

static const char *const one_part[] = {"", "b0", "b1", "b2", "b3", "h0", "h1"};
static const char *const seconds[] = {"", "add", "min", "max"};
static const char *const orders[] = {"eq", "ne", "lt", "le", "gt", "ge"};

static void run_scalar(const char *second, const char *d_part)
{
    (void)snprintf(now.second, sizeof now.second, "%s", second);
    (void)snprintf(now.d, sizeof now.d, "%s", d_part);
    choose(now.a, sizeof now.a, one_part, COUNT_OF(one_part));
    choose(now.b, sizeof now.b, one_part, COUNT_OF(one_part));
    run(scalar_model, second[0] != '\0' || d_part[0] != '\0');
}

/* Each way to end: with nothing, a second operation, or merged into a part. */
static void run_endings(void)
{
    char part[8];
    for (size_t i = 0; i < COUNT_OF(seconds); ++i)
        run_scalar(seconds[i], "");
    choose(part, sizeof part, one_part + 1, COUNT_OF(one_part) - 1);
    run_scalar("", part);
}

static const char *const scalar_opcodes[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};

START_TEST(scalars_are_computed)
{
    for (unsigned form = 0; form < 16; ++form) {
        dice = (unsigned)_i * 16 + form;
        begin(scalar_opcodes[_i], form & 7);
        now.saturates = form >= 8;
        run_endings();
    }
}
END_TEST

START_TEST(shifts_are_computed)
{
    for (unsigned form = 0; form < 16; ++form) {
        dice = form;
        begin(_i == 0 ? "vshl" : "vshr", form & 3); /* b is unsigned */
        now.saturates = (form & 4) != 0;
        (void)snprintf(now.mode, sizeof now.mode, "%s", form >= 8 ? "wrap" : "clamp");
        run_endings();
    }
}
END_TEST

START_TEST(comparisons_are_computed)
{
    for (unsigned types = 0; types < 8; types += 2) { /* the result is unsigned */
        dice = (unsigned)_i + types;
        begin("vset", types);
        (void)snprintf(now.compare, sizeof now.compare, "%s", orders[_i]);
        run_endings();
        for (unsigned parts = 2; parts <= 4; parts += 2) {
            begin(parts == 2 ? "vset2" : "vset4", types);
            (void)snprintf(now.compare, sizeof now.compare, "%s", orders[_i]);
            run(parts_model, true);
            (void)snprintf(now.second, sizeof now.second, "add");
            run(parts_model, true);
        }
    }
}
END_TEST

/* A minus before a, b or c; or .po; shifted or not; clamped or not. */
START_TEST(products_are_computed)
{
    for (unsigned form = 0; form < 5 * 3; ++form) {
        static const unsigned shifts[] = {0, 7, 15};
        dice = (unsigned)_i * 15 + form;
        begin("vmad", (unsigned)_i);
        now.sign_a = form % 5 == 1 ? -1 : 1;
        now.sign_b = form % 5 == 2 ? -1 : 1;
        now.sign_c = form % 5 == 3 ? -1 : 1;
        now.plus_one = form % 5 == 4;
        now.shift = shifts[form / 5 % 3];
        now.saturates = ((unsigned)_i + form) % 2 == 1;
        run(product_model, true);
        choose(now.a, sizeof now.a, one_part, COUNT_OF(one_part));
        choose(now.b, sizeof now.b, one_part, COUNT_OF(one_part));
        if (now.sign_a > 0 && now.sign_b > 0)
            run(product_model, true);
    }
}
END_TEST

static const char *const part_opcodes[] = {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"};

START_TEST(parts_are_computed)
{
    static const char *const halves[] = {"", "h00", "h01", "h32", "h23", "h13", "h20"};
    static const char *const bytes[] = {"", "b0000", "b7654", "b1357", "b0246", "b4567", "b3071"};
    static const char *const half_masks[] = {"", "h0", "h1", "h10"};
    static const char *const byte_masks[] = {"", "b0", "b10", "b20", "b310", "b321", "b3210"};
    const bool is_half = _i % 2 == 0;
    for (unsigned form = 0; form < 8 * 3; ++form) {
        char opcode[12];
        dice = (unsigned)_i * 24 + form;
        (void)snprintf(opcode, sizeof opcode, "%s%c", part_opcodes[_i / 2], is_half ? '2' : '4');
        begin(opcode, form & 7);
        now.saturates = form / 8 % 3 == 1;
        (void)snprintf(now.second, sizeof now.second, "%s", form / 8 % 3 == 2 ? "add" : "");
        if ((form / 8 + form) % 2 == 1) {
            choose(now.d, sizeof now.d, is_half ? half_masks : byte_masks, is_half ? 4 : 7);
            choose(now.a, sizeof now.a, is_half ? halves : bytes, COUNT_OF(halves));
            choose(now.b, sizeof now.b, is_half ? halves : bytes, COUNT_OF(halves));
        }
        run(parts_model, true);
    }
}
END_TEST

/* ---- What is no instruction -------------------------------------------------------------------
 */

START_TEST(nonsense_is_refused)
{
    static const char *const bad[] = {
        "vadd.u32.u32 %r1, %r1, %r2",         /* a type is missing */
        "vadd.u32.u32.u32.u32 %r1, %r1, %r2", /* or one too many */
        "vadd.u32.u32.u32 %r1, %r1.b4, %r2",  /* no such part */
        "vadd.u32.u32.u32 %r1, %r1.h32, %r2", /* a part of vadd2 */
        "vadd.u32.u32.u32 %r1.h0, %r1, %r2",  /* merged into nothing */
        "vadd.u32.u32.u32.add %r1.h0, %r1, %r2, %r3",
        "vadd.u32.u32.u32 %r1, -%r1, %r2", /* only vmad negates */
        "vadd.u32.u32.u32.lt %r1, %r1, %r2",
        "vadd2.u32.u32.u32 %r1, %r1, %r2", /* c is missing */
        "vadd2.u32.u32.u32.sat.add %r1, %r1, %r2, %r3",
        "vadd2.u32.u32.u32.min %r1, %r1, %r2, %r3",
        "vadd2.u32.u32.u32 %r1, %r1.h44, %r2, %r3",
        "vadd4.u32.u32.u32 %r1.b02, %r1, %r2, %r3", /* a mask falls */
        "vadd4.u32.u32.u32 %r1, %r1.b012, %r2, %r3",
        "vshl.u32.u32.s32.clamp %r1, %r1, %r2", /* a distance is unsigned */
        "vset.u32.u32.sat.lt %r1, %r1, %r2",
        "vmad.u32.u32.u32.po %r1, -%r1, %r2, %r3",
        "vmad.u32.u32.u32 %r1, -%r1, %r2, -%r3",
        "vmad.u32.u32.u32 %r1.h0, %r1, %r2, %r3",
        "add.u32 %r1, %r1.h0, %r2", /* others take no parts */
        "add.u32 %r1.h0, %r1, %r2",
        "add.s32 %r1, -%r1, %r2",
    };
    struct bytes ptx = bytes_with_limit(4096);
    (void)bytes_printf(&ptx,
                       ".version 8.7\n.target sm_90\n.address_size 64\n.entry k() {\n"
                       ".reg .b32 %%r<4>;\nmov.u32 %%r1, 1; mov.u32 %%r2, 2; mov.u32 %%r3, 3;\n"
                       "%s;\nret; }\n",
                       bad[_i]);
    struct emulator *emulator = support_emulator(ptx.data, ptx.length);
    struct emulator_result result = support_launch(emulator, "k", 1, 1, NULL, 0, NULL);
    ck_assert_msg(result.status == EMULATOR_REFUSED, "%s is run", bad[_i]);
    ck_assert_msg(strstr(result.refusal, "line 7") != NULL, "%s", result.refusal);
    emulator_result_release(&result);
    emulator_free(emulator);
    bytes_release(&ptx);
}
END_TEST

#define NONSENSE 22

Suite *suite_emulator_video(void);
Suite *suite_emulator_video(void)
{
    Suite *suite = suite_create("emulator_video");
    TCase *tcase = tcase_create("instructions");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, scalars_are_computed, 0, (int)COUNT_OF(scalar_opcodes));
    tcase_add_loop_test(tcase, shifts_are_computed, 0, 2);
    tcase_add_loop_test(tcase, comparisons_are_computed, 0, (int)COUNT_OF(orders));
    tcase_add_loop_test(tcase, products_are_computed, 0, 8);
    tcase_add_loop_test(tcase, parts_are_computed, 0, 2 * (int)COUNT_OF(part_opcodes));
    tcase_add_loop_test(tcase, nonsense_is_refused, 0, NONSENSE);
    suite_add_tcase(suite, tcase);
    return suite;
}

/* values.c - see values.h. */
#include "emulator/values.h"

#include <errno.h>
#include <math.h>

#include "emulator/scalar.h"
#include "number.h"

bool value_has_text(enum ptx_type type)
{
    return ptx_type_bytes(type) > 0 && type < PTX_TEXREF;
}

static bool is_real(enum ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64 ||
           type == PTX_TF32;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* Decimal text of a floating-point number, and nothing else. */
static bool parse_real(const char *text, double *ret, bool single, float *single_ret)
{
    const char *digits = text[0] == '-' || text[0] == '+' ? text + 1 : text;
    /* strtod also takes hex floats, blanks and nan(…): PTX values have none of these. */
    bool word = strcmp(digits, "inf") == 0 || strcmp(digits, "nan") == 0;
    if (!word && (digits[0] == '\0' || strspn(digits, "0123456789.eE+-") != strlen(digits)))
        return false;
    char *end = NULL;
    errno = 0;
    if (single)
        *single_ret = strtof(text, &end);
    else
        *ret = strtod(text, &end);
    return end != text && *end == '\0';
}

/* 0f3F800000 and 0d3FF0000000000000: the bits of an f32 or f64. */
static bool parse_pattern(const char *text, double *ret)
{
    if (text[0] != '0' || (text[1] != 'f' && text[1] != 'F' && text[1] != 'd' && text[1] != 'D'))
        return false;
    const bool single = text[1] == 'f' || text[1] == 'F';
    char hex[24] = "0x";
    uint64_t bits = 0;
    if (strlen(text + 2) != (single ? 8u : 16u))
        return false;
    memcpy(hex + 2, text + 2, strlen(text + 2) + 1);
    if (!number_parse_u64(hex, UINT64_MAX, &bits))
        return false;
    if (single) {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        *ret = (double)value;
    } else {
        memcpy(ret, &bits, sizeof *ret);
    }
    return true;
}

static void store_real(enum ptx_type type, double value, void *ret)
{
    float single = (float)value;
    uint16_t half = type == PTX_BF16 ? bfloat_from_f64(value, ROUND_NEAREST)
                                     : half_from_f64(value, ROUND_NEAREST);
    if (type == PTX_F64)
        memcpy(ret, &value, sizeof value);
    else if (type == PTX_F16 || type == PTX_BF16)
        memcpy(ret, &half, sizeof half);
    else
        memcpy(ret, &single, sizeof single);
}

/* 0x… with more digits than 64 bits take, as a b128 is printed. */
static bool parse_wide_bits(const char *text, void *ret)
{
    uint64_t halves[2] = {0};
    size_t length = strlen(text);
    if (length <= 18 || length > 34)
        return false;
    char low[20] = "0x";
    memcpy(low + 2, text + length - 16, 17);
    if (!number_parse_u64_bytes(text, length - 16, UINT64_MAX, &halves[1]) ||
        !number_parse_u64(low, UINT64_MAX, &halves[0]))
        return false;
    memcpy(ret, halves, sizeof halves);
    return true;
}

bool value_parse(enum ptx_type type, const char *text, size_t length, void *ret)
{
    char copy[130];
    const unsigned bytes = ptx_type_bytes(type);
    const unsigned bits = bytes >= 8 ? 64 : 8 * bytes;
    const uint64_t most = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    if (length == 0 || length >= sizeof copy || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    memset(ret, 0, bytes);
    uint64_t magnitude = 0;
    if (copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X')) { /* the bits, of any type */
        if (!number_parse_u64(copy, most, &magnitude))
            return bytes == 16 && parse_wide_bits(copy, ret);
        memcpy(ret, &magnitude, bytes < 8 ? bytes : 8);
        return true;
    }
    if (is_real(type)) {
        double value = 0;
        float single = 0;
        if (parse_pattern(copy, &value)) {
            if (type == PTX_F32 && (copy[1] == 'f' || copy[1] == 'F')) { /* NaN bits as they are */
                char hex[24] = "0x";
                memcpy(hex + 2, copy + 2, 9);
                return number_parse_u64(hex, most, &magnitude) &&
                       memcpy(ret, &magnitude, 4) != NULL;
            }
            store_real(type, value, ret);
            return true;
        }
        if (!parse_real(copy, &value, type == PTX_F32, &single))
            return false;
        if (type == PTX_F32)
            memcpy(ret, &single, sizeof single);
        else
            store_real(type, value, ret);
        return true;
    }
    const bool negative = copy[0] == '-';
    const bool may_be_negative = ptx_type_is_signed(type) || (type >= PTX_B8 && type <= PTX_B128);
    const uint64_t limit = negative                   ? UINT64_C(1) << (bits - 1)
                           : ptx_type_is_signed(type) ? most / 2
                                                      : most;
    if ((negative && !may_be_negative) ||
        !number_parse_u64(copy + (negative ? 1 : 0), limit, &magnitude))
        return false;
    uint64_t wide[2] = {negative ? 0 - magnitude : magnitude,
                        negative && magnitude != 0 ? UINT64_MAX : 0};
    memcpy(ret, wide, bytes);
    return true;
}

/* ---- Printing ------------------------------------------------------------------------------- */

static double load_real(enum ptx_type type, const void *value)
{
    double wide = 0;
    float single = 0;
    uint16_t half = 0;
    if (type == PTX_F64) {
        memcpy(&wide, value, sizeof wide);
    } else if (type == PTX_F16 || type == PTX_BF16) {
        memcpy(&half, value, sizeof half);
        wide = type == PTX_F16 ? half_to_f64(half) : bfloat_to_f64(half);
    } else {
        memcpy(&single, value, sizeof single);
        wide = (double)single;
    }
    return wide;
}

static void print_real(struct bytes *out, enum ptx_type type, const void *value)
{
    const unsigned bytes = ptx_type_bytes(type);
    const double real = load_real(type, value);
    uint64_t bits = 0;
    memcpy(&bits, value, bytes);
    if (real != real) {
        (void)bytes_printf(out, "nan(0x%0*llx)", (int)(2 * bytes), (unsigned long long)bits);
        return;
    }
    if (isinf(real)) {
        (void)bytes_append_text(out, real < 0 ? "-inf" : "inf");
        return;
    }
    for (int digits = 1; digits <= 17; ++digits) {
        char text[40];
        uint64_t again = 0;
        (void)snprintf(text, sizeof text, "%.*g", digits, real);
        if (digits == 17 ||
            (value_parse(type, text, strlen(text), &again) && memcmp(&again, value, bytes) == 0)) {
            (void)bytes_append_text(out, text);
            return;
        }
    }
}

void value_print(struct bytes *out, enum ptx_type type, const void *value)
{
    const unsigned bytes = ptx_type_bytes(type);
    uint64_t bits[2] = {0, 0};
    memcpy(bits, value, bytes < sizeof bits ? bytes : sizeof bits);
    if (is_real(type)) {
        print_real(out, type, value);
    } else if (bytes > 8) {
        (void)bytes_printf(out, "0x%016llx%016llx", (unsigned long long)bits[1],
                           (unsigned long long)bits[0]);
    } else if (ptx_type_is_float(type)) { /* packed: no one number */
        (void)bytes_printf(out, "0x%0*llx", (int)(2 * bytes), (unsigned long long)bits[0]);
    } else if (ptx_type_is_signed(type)) {
        const unsigned shift = 64 - 8 * bytes;
        (void)bytes_printf(out, "%lld", (long long)((int64_t)(bits[0] << shift) >> shift));
    } else {
        (void)bytes_printf(out, "%llu", (unsigned long long)bits[0]);
    }
}

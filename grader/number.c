#include "number.h"

static int digit_value(char c, unsigned base)
{
    int value = -1;
    if (c >= '0' && c <= '9')
        value = c - '0';
    else if (c >= 'a' && c <= 'f')
        value = c - 'a' + 10;
    else if (c >= 'A' && c <= 'F')
        value = c - 'A' + 10;
    return value >= 0 && (unsigned)value < base ? value : -1;
}

bool number_parse_u64_bytes(const char *text, size_t length, uint64_t max, uint64_t *ret)
{
    unsigned base = 10;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        length -= 2;
    }
    if (length == 0)
        return false;
    uint64_t value = 0;
    for (size_t i = 0; i < length; ++i) {
        int digit = digit_value(text[i], base);
        if (digit < 0 || value > (UINT64_MAX - (uint64_t)digit) / base)
            return false;
        value = value * base + (uint64_t)digit;
    }
    if (value > max)
        return false;
    *ret = value;
    return true;
}

bool number_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
    return number_parse_u64_bytes(text, strlen(text), max, ret);
}

bool number_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    bool negative = text[0] == '-';
    uint64_t magnitude = 0;
    uint64_t most = negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    if (!number_parse_u64(text + (negative ? 1 : 0), most, &magnitude))
        return false;
    int64_t value = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (value < min || value > max)
        return false;
    *ret = value;
    return true;
}

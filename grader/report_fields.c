#include "report_fields.h"

#include <ctype.h>

#include "number.h"

/* ptxas prints registers, frames and spills as int, the rest as long long; a value beyond 2^53
 * would not survive a JSON reader, and no memory is that large. */
#define MAX_INT ((uint64_t)INT32_MAX)
#define MAX_BYTES ((uint64_t)1 << 52)

static const struct {
    const char *words;
    size_t offset; /* of the number; SIZE_MAX: known, but nothing we keep */
    uint64_t max;
} units[] = {
    /* clang-format off */
    {"registers",                   offsetof(struct report_numbers, registers),              MAX_INT},
    {"barriers",                    offsetof(struct report_numbers, barriers),               MAX_INT},
    {"bytes stack frame",           offsetof(struct report_numbers, stack_bytes),            MAX_INT},
    {"stack",                       offsetof(struct report_numbers, stack_bytes),            MAX_INT},
    {"bytes cumulative stack size", offsetof(struct report_numbers, cumulative_stack_bytes), MAX_INT},
    {"bytes spill stores",          offsetof(struct report_numbers, spill_store_bytes),      MAX_INT},
    {"bytes spill loads",           offsetof(struct report_numbers, spill_load_bytes),       MAX_INT},
    {"bytes smem",                  offsetof(struct report_numbers, shared_bytes),           MAX_BYTES},
    {"bytes lmem",                  offsetof(struct report_numbers, local_bytes),            MAX_BYTES},
    {"textures",                    SIZE_MAX,                                                MAX_INT},
    {"surfaces",                    SIZE_MAX,                                                MAX_INT},
    {"samplers",                    SIZE_MAX,                                                MAX_INT},
    /* clang-format on */
};

void report_numbers_init(struct report_numbers *numbers)
{
    *numbers = (struct report_numbers){
        .registers = REPORT_ABSENT,
        .barriers = REPORT_ABSENT,
        .stack_bytes = REPORT_ABSENT,
        .cumulative_stack_bytes = REPORT_ABSENT,
        .spill_store_bytes = REPORT_ABSENT,
        .spill_load_bytes = REPORT_ABSENT,
        .shared_bytes = REPORT_ABSENT,
        .local_bytes = REPORT_ABSENT,
    };
}

/* "28" or "28+16" (own and system, on compute capability 1.x) at the front of *s, which moves past
 * it. */
static bool take_number(struct slice *s, uint64_t max, int64_t *ret)
{
    uint64_t sum = 0;
    for (bool more = true; more;) {
        size_t count = slice_digits(*s);
        uint64_t value = 0;
        if (!number_parse_u64_bytes(s->text, count, max - sum, &value))
            return false;
        sum += value;
        *s = slice_from(*s, count);
        more = slice_is_char_at(*s, 0, '+');
        if (more)
            *s = slice_from(*s, 1);
    }
    *ret = (int64_t)sum;
    return true;
}

static bool store(struct report_numbers *numbers, size_t offset, int64_t value)
{
    if (offset == SIZE_MAX)
        return true;
    int64_t *slot = (int64_t *)(void *)((char *)numbers + offset);
    if (*slot != REPORT_ABSENT && *slot != value)
        return false;
    *slot = value;
    return true;
}

static bool store_bank(struct report_banks *banks, unsigned number, int64_t value)
{
    size_t at = 0;
    while (at < banks->count && banks->banks[at].number < number)
        ++at;
    if (at < banks->count && banks->banks[at].number == number)
        return banks->banks[at].bytes == value;
    if (banks->count == REPORT_BANKS_MAX)
        return false;
    memmove(&banks->banks[at + 1], &banks->banks[at], (banks->count - at) * sizeof banks->banks[0]);
    banks->banks[at] = (struct report_bank){.number = number, .bytes = value};
    ++banks->count;
    return true;
}

static const char bank_words[] = "bytes cmem[";

/* "bytes cmem[K]" behind the number. */
static bool read_bank(struct slice words, int64_t value, struct report_banks *banks)
{
    struct slice index = slice_from(words, sizeof bank_words - 1);
    size_t count = slice_digits(index);
    uint64_t number = 0;
    return index.length == count + 1 && index.text[count] == ']' &&
           number_parse_u64_bytes(index.text, count, 255, &number) &&
           store_bank(banks, (unsigned)number, value);
}

/* False for what may be the beginning of a known word: the rest was cut off. */
static bool is_new_word(struct slice words)
{
    for (size_t i = 0; i < COUNT_OF(units); ++i)
        if (slice_begins(words, units[i].words))
            return false;
    if (slice_begins(words, bank_words))
        return false;
    for (size_t i = 0; i < words.length; ++i)
        if (!isalpha((unsigned char)words.text[i]) && words.text[i] != ' ')
            return false;
    return true;
}

static bool read_item(struct slice item, struct report_numbers *numbers, struct report_banks *banks)
{
    item = slice_trim(item);
    if (slice_starts_with(item, "Used ") || slice_starts_with(item, "used "))
        item = slice_trim(slice_from(item, 5));
    /* The unit decides how large the number may be, and stands behind it. */
    struct slice behind = item, words;
    int64_t value = 0;
    if (slice_digits(item) == 0 || !take_number(&behind, MAX_BYTES, &value) ||
        !slice_is_blank_at(behind, 0))
        return false;
    words = slice_trim(behind);
    if (slice_starts_with(words, bank_words))
        return read_bank(words, value, banks);
    for (size_t i = 0; i < COUNT_OF(units); ++i)
        if (slice_is(words, units[i].words))
            return (uint64_t)value <= units[i].max && store(numbers, units[i].offset, value);
    return is_new_word(words);
}

bool report_fields_read(struct slice list, struct report_numbers *numbers,
                        struct report_banks *banks)
{
    bool whole = true;
    for (;;) {
        const char *comma = slice_find_char(list, ',');
        whole = read_item(comma != NULL ? slice_to(list, comma) : list, numbers, banks) && whole;
        if (comma == NULL)
            return whole;
        list = slice_from(list, (size_t)(comma - list.text) + 1);
    }
}

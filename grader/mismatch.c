#include "mismatch.h"

#include <math.h>
#include <stdarg.h>

#include "text.h"

#define SAMPLE 32      /* elements of each of the three samples that a known mistake must explain */
#define SHIFT_LEAST 16 /* fewer elements prove no shift */

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_nan(uint32_t bits)
{
    return (bits & 0x7FFFFFFF) > 0x7F800000;
}

static bool equal(uint32_t a, uint32_t b)
{
    return a == b || (is_nan(a) && is_nan(b));
}

static float from_bits(uint32_t bits)
{
    float value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t expected_at(const struct mismatch_output *output, size_t i)
{
    return bits_of(output->expected[i]);
}

static uint32_t got_at(const struct mismatch_output *output, size_t i)
{
    uint32_t bits = 0;
    memcpy(&bits, output->got + i * sizeof bits, sizeof bits);
    return bits;
}

static bool wrong_at(const struct mismatch_output *output, size_t i)
{
    return !equal(expected_at(output, i), got_at(output, i));
}

/* Floats in ascending order as integers in ascending order. */
static int64_t rank(uint32_t bits)
{
    int64_t magnitude = bits & 0x7FFFFFFF;
    return (bits >> 31) != 0 ? -1 - magnitude : magnitude;
}

uint64_t mismatch_ulps(uint32_t a_bits, uint32_t b_bits)
{
    if (is_nan(a_bits) || is_nan(b_bits))
        return UINT64_MAX;
    int64_t distance = rank(a_bits) - rank(b_bits);
    return (uint64_t)(distance < 0 ? -distance : distance);
}

void mismatch_values(char *out, size_t size, uint32_t expected_bits, uint32_t got_bits)
{
    uint64_t ulps = mismatch_ulps(expected_bits, got_bits);
    char number[TEXT_NUMBER_BYTES], apart[64] = "";
    if (ulps != UINT64_MAX)
        (void)snprintf(apart, sizeof apart, ", %s ULP%s apart", text_number(ulps, number),
                       ulps == 1 ? "" : "s");
    (void)snprintf(out, size, "expected %.9g (0x%08x), got %.9g (0x%08x)%s",
                   (double)from_bits(expected_bits), expected_bits, (double)from_bits(got_bits),
                   got_bits, apart);
}

/* ---- Where ----------------------------------------------------------------------------------- */

static void say(struct mismatch *out, const char *remedy, const char *format, ...)
    PRINTF_LIKE(3, 4);

static void say(struct mismatch *out, const char *remedy, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(out->pattern, sizeof out->pattern, format, arguments);
    va_end(arguments);
    (void)snprintf(out->remedy, sizeof out->remedy, "%s", remedy);
}

/* The wrong elements are all of [first, last]. */
static bool without_gap(const struct mismatch *m)
{
    return m->last - m->first + 1 == m->count;
}

/* They are the end of the output, and nothing before the last block. */
static bool only_tail(const struct mismatch *m, const struct mismatch_output *output)
{
    size_t n = output->call.n, block = output->lab->kernels[output->kernel].block_threads;
    return m->last == n - 1 && without_gap(m) && m->first > 0 &&
           m->first >= (n - 1) / block * block;
}

/* "the last 3, elements 4,096 to 4,098" */
static const char *tail_words(const struct mismatch *m, char *out, size_t size)
{
    char count[TEXT_NUMBER_BYTES], first[TEXT_NUMBER_BYTES], last[TEXT_NUMBER_BYTES];
    (void)snprintf(out, size, "the last %s, elements %s to %s", text_number(m->count, count),
                   text_number(m->first, first), text_number(m->last, last));
    return out;
}

static const char tail_remedy[] =
    "Look at the guard: `if (i < n)` must let through every element, also those of the last block, "
    "which is not full.";

/* Wrong elements of one thread number only, in more than one block. */
static bool one_thread_only(const struct mismatch *m, const struct mismatch_output *output)
{
    size_t block = output->lab->kernels[output->kernel].block_threads;
    if (m->count < 3)
        return false;
    for (size_t i = m->first; i <= m->last; ++i)
        if (wrong_at(output, i) && i % block != m->first % block)
            return false;
    return true;
}

/* ---- What ------------------------------------------------------------------------------------ */

static bool guess_unwritten(struct mismatch *m, const struct mismatch_output *output)
{
    char words[120];
    for (size_t i = m->first; i <= m->last; ++i)
        if (wrong_at(output, i) && got_at(output, i) != output->poison)
            return false;
    if (m->count == output->call.n)
        say(m, "See that every thread stores its result in the output.",
            "nothing was written: each element still holds what lay there before the launch");
    else if (only_tail(m, output))
        say(m, tail_remedy,
            "only the tail is missing: %s, were never written; the others are right",
            tail_words(m, words, sizeof words));
    else
        say(m, "Find the condition under which a thread ends without storing its result.",
            "the wrong elements were never written; those that were are right");
    return true;
}

/* Elements [begin, begin + SAMPLE) as the mistake would give them, against what was got. */
static bool sample_fits(const struct mismatch_output *output, size_t mistake, size_t begin)
{
    float values[SAMPLE];
    size_t end = begin + SAMPLE < output->call.n ? begin + SAMPLE : output->call.n;
    struct reference_call call = output->call;
    call.output = values;
    call.begin = begin;
    call.end = end;
    output->lab->mistaken(output->kernel, mistake, &call);
    for (size_t i = begin; i < end; ++i)
        if (!equal(bits_of(values[i - begin]), got_at(output, i)))
            return false;
    return true;
}

static bool guess_mistake(struct mismatch *m, const struct mismatch_output *output)
{
    const struct lab *lab = output->lab;
    size_t n = output->call.n;
    for (size_t k = 0; k < lab->mistake_count; ++k) {
        const struct lab_mistake *mistake = &lab->mistakes[k];
        if ((mistake->kernels >> output->kernel & 1) == 0 || !sample_fits(output, k, m->first) ||
            !sample_fits(output, k, n > SAMPLE ? n - SAMPLE : 0) ||
            !sample_fits(output, k, m->last > SAMPLE ? m->last - SAMPLE : 0))
            continue;
        say(m, mistake->try_next, "these are the values of a kernel in which %s", mistake->says);
        return true;
    }
    return false;
}

static bool guess_constant(struct mismatch *m, const struct mismatch_output *output)
{
    uint32_t value = got_at(output, 0);
    size_t n = output->call.n;
    if (n < 2)
        return false;
    for (size_t i = 1; i < n; ++i)
        if (got_at(output, i) != value)
            return false;
    if ((value & 0x7FFFFFFF) == 0)
        say(m,
            "Follow the result back from where it is stored: a sum that nothing is added to, or "
            "a variable that is set anew, stays 0.",
            "every element is 0");
    else
        say(m, "Follow the result back from where it is stored: it depends on no input.",
            "every element is the same, %.9g", (double)from_bits(value));
    return true;
}

static bool shifted_by(const struct mismatch_output *output, size_t n, bool later)
{
    for (size_t i = 0; i + 1 < n; ++i)
        if (!equal(got_at(output, later ? i : i + 1), expected_at(output, later ? i + 1 : i)))
            return false;
    return true;
}

static bool guess_shifted(struct mismatch *m, const struct mismatch_output *output)
{
    size_t n = output->call.n;
    bool later = n >= SHIFT_LEAST && shifted_by(output, n, true);
    if (!later && !(n >= SHIFT_LEAST && shifted_by(output, n, false)))
        return false;
    say(m,
        "Thread i reads its window from element i on and stores to element i: look for a + 1 or "
        "- 1 too many.",
        "the output is shifted by one: element i holds what belongs to element i %c 1",
        later ? '+' : '-');
    return true;
}

static bool guess_nan(struct mismatch *m, const struct mismatch_output *output)
{
    char count[TEXT_NUMBER_BYTES];
    for (size_t i = m->first; i <= m->last; ++i)
        if (wrong_at(output, i) && !is_nan(got_at(output, i)))
            return false;
    say(m,
        "Look for what makes a NaN: 0 / 0, infinity - infinity, the root of a negative number, or "
        "a value that was never set.",
        "what is wrong is a NaN, at %s element%s, and was computed, not left over from before the "
        "launch",
        text_number(m->count, count), m->count == 1 ? "" : "s");
    return true;
}

/* Largest difference of the wrong elements, as a part of the largest expected value; infinite when
 * one is no number. */
static double relative_error(const struct mismatch *m, const struct mismatch_output *output)
{
    double scale = 0, error = 0;
    for (size_t i = 0; i < output->call.n; ++i)
        scale = fmax(scale, fabs((double)output->expected[i]));
    for (size_t i = m->first; i <= m->last; ++i) {
        double difference =
            fabs((double)output->expected[i] - (double)from_bits(got_at(output, i)));
        if (wrong_at(output, i) && !(difference <= error))
            error = isfinite(difference) ? difference : HUGE_VAL;
    }
    return scale > 0 ? error / scale : HUGE_VAL;
}

static bool guess_precision(struct mismatch *m, const struct mismatch_output *output)
{
    double error = relative_error(m, output);
    if (error < 0x1p-19)
        say(m,
            "Keep the arithmetic as it was given: the same operations on float, in the same "
            "order. A multiplication and an addition that are not fused, double, an approximate "
            "division or another order of a sum each round otherwise.",
            "all are wrong in the last digits only (by at most %.1g of the largest value): the "
            "formula is right, the rounding is another",
            error);
    else if (error < 0x1p-7 && m->count >= output->call.n / 4)
        say(m,
            "Compare each constant and each type with the starter's: a constant that is slightly "
            "off, or a value that is kept in half for a moment (11 bits), looks like this.",
            "all are nearly right (off by at most %.1g of the largest value)", error);
    return m->pattern[0] != '\0';
}

static bool guess_place(struct mismatch *m, const struct mismatch_output *output)
{
    char words[120];
    size_t block = output->lab->kernels[output->kernel].block_threads;
    if (only_tail(m, output))
        say(m, tail_remedy, "only the tail is wrong: %s; the others are right",
            tail_words(m, words, sizeof words));
    else if (one_thread_only(m, output))
        say(m, "Look for what treats one thread of a block in another way than the rest.",
            "in each block, only thread %zu is wrong", m->first % block);
    return m->pattern[0] != '\0';
}

void mismatch_find(struct mismatch *out, const struct mismatch_output *output)
{
    *out = (struct mismatch){0};
    if (memcmp(output->got, output->expected, output->call.n * sizeof(float)) == 0)
        return;
    for (size_t i = 0; i < output->call.n; ++i) {
        if (!wrong_at(output, i))
            continue;
        if (out->count++ == 0) {
            out->first = i;
            out->expected_bits = expected_at(output, i);
            out->got_bits = got_at(output, i);
        }
        out->last = i;
    }
    if (out->count == 0)
        return;
    (void)(guess_unwritten(out, output) || guess_mistake(out, output) ||
           guess_constant(out, output) || guess_shifted(out, output) || guess_nan(out, output) ||
           guess_place(out, output) || guess_precision(out, output));
}

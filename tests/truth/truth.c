/* truth.c - see truth.h. Plain C that also compiles as C++. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define LAUNCH(file, entry, name, gx, gy, gz, bx, by, bz, shared, tolerance, arguments)
#define GROUP(file, variant, ptx) {#file, #variant, #ptx, #file "_" #variant},
const struct truth_group truth_groups[] = {
#include "launches.inc"
};
#undef GROUP
#undef LAUNCH
#define EXACT {0, 0}
#define ULPS(n) {n, 0}
#define NEAR(n, absolute) {n, absolute}
#define ANY_NAN {0, -1}
#define GROUP(file, variant, ptx)
#define LAUNCH(file, entry, name, gx, gy, gz, bx, by, bz, shared, tolerance, arguments)            \
    {#file, #entry, #name, {gx, gy, gz}, {bx, by, bz}, shared, tolerance, arguments},
const struct truth_launch truth_launches[] = {
#include "launches.inc"
};
/* clang-format on */
const size_t truth_group_count = sizeof truth_groups / sizeof truth_groups[0];
const size_t truth_launch_count = sizeof truth_launches / sizeof truth_launches[0];

int truth_is_exact(const struct truth_launch *launch)
{
    return launch->tolerance.ulps == 0 && launch->tolerance.absolute == 0;
}

uint64_t truth_hash(const void *data, size_t bytes)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes; ++i)
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static const uint32_t special_f32[] = {0x00000000, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                       0x7FFFFFFF, 0xFFC00001, 0x00000001, 0x807FFFFF, 0x00800000,
                                       0x3F800000, 0xBF800000, 0x7F7FFFFF, 0x33800000, 0x4B800000};
static const uint64_t special_f64[] = {0,
                                       UINT64_C(0x8000000000000000),
                                       UINT64_C(0x7FF0000000000000),
                                       UINT64_C(0xFFF0000000000000),
                                       UINT64_C(0x7FF8000000000000),
                                       UINT64_C(0xFFFFFFFFFFFFFFFF),
                                       1,
                                       UINT64_C(0x800FFFFFFFFFFFFF),
                                       UINT64_C(0x3FF0000000000000),
                                       UINT64_C(0x7FEFFFFFFFFFFFFF)};
static const uint16_t special_f16[] = {0x0000, 0x8000, 0x7C00, 0xFC00, 0x7E00, 0x7FFF, 0x0001,
                                       0x83FF, 0x0400, 0x3C00, 0xBC00, 0x7BFF, 0x1400};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A number in [-4, 4), or (special) any kind of number, exponents spread wide. */
static void random_float(unsigned char *to, unsigned bytes, int special, uint64_t *state)
{
    const uint64_t bits = next_random(state);
    const int odd = special && bits % 8 == 0;
    if (bytes == 4) {
        float value = (float)((int64_t)(bits >> 40) - (1 << 23)) / (float)(1 << 21);
        uint32_t pattern;
        memcpy(&pattern, &value, 4);
        if (special && bits % 8 < 4)
            pattern = (uint32_t)(bits >> 32);
        if (odd)
            pattern = special_f32[(bits >> 8) % COUNT(special_f32)];
        memcpy(to, &pattern, 4);
    } else if (bytes == 8) {
        double value =
            (double)((int64_t)(bits >> 11) - (INT64_C(1) << 52)) / (double)(INT64_C(1) << 50);
        uint64_t pattern;
        memcpy(&pattern, &value, 8);
        if (special && bits % 8 < 4)
            pattern = next_random(state);
        if (odd)
            pattern = special_f64[(bits >> 8) % COUNT(special_f64)];
        memcpy(to, &pattern, 8);
    } else {
        uint16_t pattern = (uint16_t)(0x2C00 + (bits >> 16) % 0x1800); /* 0.06 to 8 */
        pattern = (uint16_t)(pattern | ((bits >> 40 & 1) != 0 ? 0x8000 : 0));
        if (special && bits % 8 < 4)
            pattern = (uint16_t)(bits >> 16);
        if (odd)
            pattern = special_f16[(bits >> 8) % COUNT(special_f16)];
        memcpy(to, &pattern, 2);
    }
}

static unsigned type_bytes(const char *type)
{
    unsigned bits = (unsigned)strtoul(type + 1, NULL, 10);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? bits / 8 : 0;
}

static int fill_buffer(struct truth_argument *argument, const char *type, size_t count,
                       const char *how, uint64_t state)
{
    const unsigned bytes = type_bytes(type);
    if (bytes == 0)
        return -1;
    argument->type = type[0] == 'f' ? 'f' : 'i';
    argument->element_bytes = bytes;
    argument->bytes = count * bytes;
    argument->data = (unsigned char *)calloc(count + 1, bytes);
    if (argument->data == NULL)
        return -1;
    uint64_t below = 0, rand_below = 0;
    if (how != NULL && strncmp(how, "below:", 6) == 0)
        below = strtoull(how + 6, NULL, 10);
    else if (how != NULL && strncmp(how, "rand:", 5) == 0)
        rand_below = strtoull(how + 5, NULL, 10);
    else if (how != NULL && strcmp(how, "special") != 0)
        return -1;
    if (rand_below != 0)
        srand(5);
    for (size_t i = 0; i < count; ++i) {
        if (type[0] == 'f') {
            random_float(argument->data + i * bytes, bytes, how != NULL && below == 0, &state);
        } else {
            uint64_t value = next_random(&state);
            value = below != 0 ? (value >> 20) % below : value >> 3;
            if (rand_below != 0)
                value = (uint64_t)rand() % rand_below;
            memcpy(argument->data + i * bytes, &value, bytes);
        }
    }
    return 0;
}

static int fill_value(struct truth_argument *argument, const char *type, const char *text)
{
    const unsigned bytes = type_bytes(type);
    argument->data = (unsigned char *)calloc(1, 8);
    if (argument->data == NULL || bytes < 4)
        return -1;
    argument->bytes = bytes;
    if (type[0] == 'f' && bytes == 4) {
        float value = strtof(text, NULL);
        memcpy(argument->data, &value, 4);
    } else if (type[0] == 'f') {
        double value = strtod(text, NULL);
        memcpy(argument->data, &value, 8);
    } else {
        int64_t value = strtoll(text, NULL, 10);
        memcpy(argument->data, &value, bytes);
    }
    return 0;
}

static int fill_hex(struct truth_argument *argument, const char *text)
{
    argument->bytes = strlen(text) / 2;
    argument->data = (unsigned char *)calloc(1, argument->bytes + 1);
    if (argument->data == NULL)
        return -1;
    for (size_t i = 0; i < argument->bytes; ++i) {
        char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};
        argument->data[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return 0;
}

/* word is writable: "in:f32:1000:special" */
static int parse_word(struct truth_argument *argument, char *word, uint64_t seed)
{
    char *parts[4] = {word, NULL, NULL, NULL}; /* the fourth with its own colon */
    for (int i = 1; i < 4 && parts[i - 1] != NULL; ++i) {
        parts[i] = strchr(parts[i - 1], ':');
        if (parts[i] != NULL)
            *parts[i]++ = '\0';
    }
    if (parts[1] == NULL)
        return -1;
    if (strcmp(parts[0], "hex") == 0)
        return fill_hex(argument, parts[1]);
    if (parts[2] == NULL)
        return fill_value(argument, parts[0], parts[1]);
    const size_t count = strtoull(parts[2], NULL, 10);
    const int scratch = strcmp(parts[0], "scratch") == 0, out = strcmp(parts[0], "out") == 0;
    const int zero = strcmp(parts[0], "zero") == 0 || scratch;
    argument->is_buffer = 1;
    argument->is_compared = strcmp(parts[0], "in") != 0 && !scratch;
    argument->is_output = out;
    if (fill_buffer(argument, parts[1], count, parts[3], seed) != 0)
        return -1;
    if (zero || out)
        memset(argument->data, out ? 0xFF : 0, argument->bytes);
    return 0;
}

int truth_arguments(const struct truth_launch *launch, struct truth_argument *arguments,
                    const char **bad)
{
    static char word[128];
    int count = 0;
    for (const char *at = launch->arguments; *at != '\0';) {
        size_t length = strcspn(at, " ");
        *bad = word;
        if (length >= sizeof word || count == TRUTH_ARGUMENTS_MAX) {
            truth_release(arguments, count);
            return -1;
        }
        memcpy(word, at, length);
        word[length] = '\0';
        memset(&arguments[count], 0, sizeof arguments[count]);
        const uint64_t seed = truth_hash(launch->entry, strlen(launch->entry)) + (uint64_t)count;
        if (parse_word(&arguments[count++], word, seed) != 0) {
            truth_release(arguments, count);
            return -1;
        }
        at += length + strspn(at + length, " ");
    }
    return count;
}

void truth_release(struct truth_argument *arguments, int count)
{
    for (int i = 0; i < count; ++i)
        free(arguments[i].data);
}

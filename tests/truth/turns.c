/* turns.c - see turns.h. Atomics: random words first; then pairs of words in one sector, which show
 * whether both are taken at once while other lanes lie in other lines. Shared memory: words of 64
 * and 128 bits that several lanes share. */
#include "turns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SHARED_WORDS 256 /* of a kernel's box */

enum kind {
    ANY,          /* words of some lines, the same one more than once */
    APART,        /* all of them different */
    FAR,          /* different words, and lines anywhere in 64 KiB */
    FARTHER,      /* … in 2 MiB */
    THIRDS,       /* different words, and every third lane takes none */
    PAIR_SAME,    /* two words of a sector; the lanes between them at the second one's column */
    PAIR_FIRST,   /* … at the first one's column */
    PAIR_SLOT,    /* … at another column of the same sector of a line */
    PAIR_BESIDE,  /* … all at one column of another sector */
    PAIR_MIXED,   /* … at columns of other sectors, by turns */
    PAIR_BIT,     /* … one lane: which bits of an address decide who is in whose way */
    SHARED_MASK,  /* lanes whose numbers differ in these bits only take the same word */
    SHARED_DRAWN, /* the same, and which word is drawn */
    SHARED_HOLES, /* … and every third lane or so takes none */
    SHARED_FEW,   /* one of so many words */
    SHARED_SOME,  /* the same, and every second lane or so takes none */
    SHARED_ONLY   /* any word; lanes that have none of these bits */
};

static const struct family {
    const char *kernel;
    enum kind kind;
    unsigned count;
    unsigned which[12]; /* how many lines, which bits, how many words */
} families[] = {
    {"probe_red", ANY, 16, {5, 6, 7, 8, 9, 10, 11, 12, 16, 32}},
    {"probe_red", APART, 16, {4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 32}},
    {"probe_red", FAR, 16, {4, 5, 8, 16}},
    {"probe_red", FARTHER, 16, {4, 5, 8, 16}},
    {"probe_red", THIRDS, 16, {5, 8, 12}},
    {"probe_atom", ANY, 12, {5, 8, 16}},
    {"probe_atom", APART, 12, {5, 8, 16}},
    {"probe_red64", ANY, 12, {5, 8, 16}},
    {"probe_red64", APART, 12, {5, 8, 16}},
    {"probe_atom64", ANY, 12, {8}},
    {"probe_cas", ANY, 12, {8}},
    {"probe_cas", APART, 12, {8}},
    {"probe_exchange", ANY, 8, {8}},
    {"probe_float", ANY, 12, {8}},
    {"probe_double", ANY, 12, {8}},
    {"probe_red", PAIR_SAME, 30, {0}},
    {"probe_red", PAIR_FIRST, 30, {0}},
    {"probe_red", PAIR_SLOT, 30, {0}},
    {"probe_red", PAIR_BESIDE, 30, {0}},
    {"probe_red", PAIR_MIXED, 30, {0}},
    {"probe_atom", PAIR_SAME, 30, {0}},
    {"probe_atom", PAIR_MIXED, 30, {0}},
    {"probe_red64", PAIR_SAME, 30, {0}},
    {"probe_red64", PAIR_MIXED, 30, {0}},
    {"probe_red", PAIR_BIT, 4, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}},
    {"probe_some_32", SHARED_HOLES, 4, {0, 1, 2}},
#define WIDE(kernel)                                                                               \
    {kernel, SHARED_MASK, 1, {0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 28, 31}},                           \
        {kernel, SHARED_MASK, 1, {5, 6, 9, 10, 14, 17, 18, 19, 23, 24, 29, 30}},                   \
        {kernel, SHARED_DRAWN, 3, {0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 18}},                           \
        {kernel, SHARED_HOLES, 3, {0, 1, 2, 3, 4, 8, 16}},                                         \
        {kernel, SHARED_FEW, 3, {2, 3, 4, 8, 16, 32}}, {kernel, SHARED_SOME, 4, {2, 4, 16, 200}},  \
    {                                                                                              \
        kernel, SHARED_ONLY, 2,                                                                    \
        {                                                                                          \
            1, 2, 3, 4, 8, 16, 24, 28                                                              \
        }                                                                                          \
    }
    WIDE("probe_some_64"),
    WIDE("probe_some_128"),
    WIDE("probe_put_64"),
    WIDE("probe_put_128"),
#undef WIDE
};

static unsigned draw(uint64_t *state, unsigned range)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (unsigned)(*state >> 20) % range;
}

static void random_words(uint64_t *state, enum kind kind, int lines, int line_words,
                         int words[TURNS_LANES])
{
    int line[32];
    for (int i = 0; i < lines; ++i) {
        line[i] = i;
        for (bool again = kind == FAR || kind == FARTHER; again;) {
            line[i] = (int)draw(state, kind == FAR ? 512 : 16384);
            again = false;
            for (int k = 0; k < i; ++k)
                again = again || line[k] == line[i];
        }
    }
    for (int k = 0; k < TURNS_LANES; ++k) {
        bool again = true;
        while (again) {
            words[k] = line[draw(state, (unsigned)lines)] * line_words +
                       (int)draw(state, (unsigned)line_words);
            again = false;
            for (int other = 0; kind != ANY && other < k; ++other)
                again = again || words[other] == words[k];
        }
    }
    for (int k = 1; kind == THIRDS && k < TURNS_LANES; k += 3)
        words[k] = -1;
}

static void pair(enum kind kind, int between, int line_words, int words[TURNS_LANES])
{
    const int column = 1 + line_words / 4, sector = line_words / 4;
    for (int k = 0; k < TURNS_LANES; ++k)
        words[k] = -1;
    words[0] = column - 1;
    words[between + 1] = column;
    for (int k = 1; k <= between; ++k) {
        int at = column;
        if (kind == PAIR_FIRST)
            at = column - 1;
        else if (kind == PAIR_SLOT)
            at = column + 1;
        else if (kind == PAIR_BESIDE)
            at = column + sector;
        else if (kind == PAIR_MIXED)
            at = (2 * sector + k % (3 * sector)) % line_words;
        words[k] = k * line_words + at;
    }
}

/* Lanes 0 and 2 take two words of a sector in line `low`, lane 1 one of the line at that bit. */
static void pair_bit(unsigned bit, int low, int words[TURNS_LANES])
{
    for (int k = 0; k < TURNS_LANES; ++k)
        words[k] = -1;
    words[0] = low * 32 + 8;
    words[1] = (32 << bit) + 9;
    words[2] = low * 32 + 9;
}

static void shared_words(uint64_t *state, enum kind kind, unsigned which, int words[TURNS_LANES])
{
    const int range = kind == SHARED_FEW || kind == SHARED_SOME ? (int)which : SHARED_WORDS;
    const unsigned holes = kind == SHARED_HOLES ? 3 : kind == SHARED_SOME ? 2 : 0;
    int drawn[TURNS_LANES];
    for (int k = 0; k < TURNS_LANES; ++k)
        drawn[k] = (int)draw(state, (unsigned)range);
    for (unsigned k = 0; k < TURNS_LANES; ++k) {
        words[k] = drawn[k];
        if (kind == SHARED_MASK)
            words[k] = (int)(k & ~which);
        else if (kind == SHARED_DRAWN || kind == SHARED_HOLES)
            words[k] = drawn[k & ~which];
        if ((holes != 0 && draw(state, holes) == 0) || (kind == SHARED_ONLY && (k & which) != 0))
            words[k] = -1;
    }
}

const char *turns_pattern(unsigned number, int words[TURNS_LANES])
{
    /* A pattern does not depend on those before it. */
    uint64_t state = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t f = 0; f < sizeof families / sizeof *families; ++f) {
        const struct family *family = &families[f];
        const int line_words =
            strstr(family->kernel, "64") != NULL || strcmp(family->kernel, "probe_double") == 0
                ? 16
                : 32;
        for (size_t l = 0; l < 12 && (l == 0 || family->which[l] != 0); ++l) {
            if (number >= family->count) {
                number -= family->count;
                continue;
            }
            const unsigned which = family->which[l];
            if (family->kind >= SHARED_MASK)
                shared_words(&state, family->kind, which, words);
            else if (family->kind == PAIR_BIT)
                pair_bit(which, (int)number, words);
            else if (family->kind >= PAIR_SAME)
                pair(family->kind, (int)number + 1, line_words, words);
            else
                random_words(&state, family->kind, (int)which, line_words, words);
            return family->kernel;
        }
    }
    return NULL;
}

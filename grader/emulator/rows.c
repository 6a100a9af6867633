/* rows.c - see rows.h. */
#include "emulator/rows.h"

#define W_u8 WIDTH_16
#define W_s8 WIDTH_16
#define W_u16 WIDTH_16
#define W_s16 WIDTH_16
#define W_h16 WIDTH_16
#define W_u32 WIDTH_32
#define W_s32 WIDTH_32
#define W_f32 WIDTH_32
#define W_x32 WIDTH_32
#define W_u64 WIDTH_64
#define W_s64 WIDTH_64
#define W_f64 WIDTH_64
#define W_b128 WIDTH_128
#define T_u8 PTX_U8
#define T_s8 PTX_S8
#define T_u16 PTX_U16
#define T_s16 PTX_S16
#define T_h16 PTX_F16
#define T_u32 PTX_U32
#define T_s32 PTX_S32
#define T_f32 PTX_F32
#define T_x32 PTX_B32
#define T_u64 PTX_U64
#define T_s64 PTX_S64
#define T_f64 PTX_F64
#define T_b128 PTX_B128
#define IN(T)                                                                                      \
    {                                                                                              \
        W_##T, T_##T                                                                               \
    }
#define IN_PREDICATE                                                                               \
    {                                                                                              \
        WIDTH_PREDICATE, PTX_PRED                                                                  \
    }

enum {
#define OP1(id, text, D, A, expression) ROW_##id,
#define OP2(id, text, D, A, B, expression) ROW_##id,
#define OP3(id, text, D, A, B, C, expression) ROW_##id,
#define OP4(id, text, D, A, B, C, E, expression) ROW_##id,
#define SETP(id, text, A, expression) ROW_##id,
#define TESTP(id, text, A, expression) ROW_##id,
#define SELP(id, text, A) ROW_##id,
#include "emulator/instructions.inc"
#undef OP1
#undef OP2
#undef OP3
#undef OP4
#undef SETP
#undef TESTP
#undef SELP
    ROW_COUNT
};

static const struct row rows[] = {
#define OP1(id, text, D, A, expression) {text, ROW_##id, W_##D, 1, {IN(A)}},
#define OP2(id, text, D, A, B, expression) {text, ROW_##id, W_##D, 2, {IN(A), IN(B)}},
#define OP3(id, text, D, A, B, C, expression) {text, ROW_##id, W_##D, 3, {IN(A), IN(B), IN(C)}},
#define OP4(id, text, D, A, B, C, E, expression)                                                   \
    {text, ROW_##id, W_##D, 4, {IN(A), IN(B), IN(C), IN(E)}},
#define SETP(id, text, A, expression) {text, ROW_##id, WIDTH_PREDICATE, 2, {IN(A), IN(A)}},
#define TESTP(id, text, A, expression) {text, ROW_##id, WIDTH_PREDICATE, 1, {IN(A)}},
#define SELP(id, text, A) {text, ROW_##id, W_##A, 3, {IN(A), IN(A), IN_PREDICATE}},
#include "emulator/instructions.inc"
};
_Static_assert(COUNT_OF(rows) == ROW_COUNT, "one row a handler");

#define SLOTS 4096 /* a power of two, at least twice the rows */
_Static_assert(COUNT_OF(rows) * 2 <= SLOTS, "the hash table of rows is too small");
static uint16_t slots[SLOTS]; /* index + 1 */
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text != '\0'; ++text)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return (hash ^ hash >> 15) % SLOTS;
}

static void fill_slots(void)
{
    for (unsigned i = 0; i < COUNT_OF(rows); ++i) {
        unsigned slot = slot_of(rows[i].text);
        while (slots[slot] != 0)
            slot = (slot + 1) % SLOTS;
        slots[slot] = (uint16_t)(i + 1);
    }
}

const struct row *row_find(const char *text)
{
    (void)pthread_once(&slots_once, fill_slots);
    for (unsigned slot = slot_of(text); slots[slot] != 0; slot = (slot + 1) % SLOTS)
        if (strcmp(rows[slots[slot] - 1].text, text) == 0)
            return &rows[slots[slot] - 1];
    return NULL;
}

size_t row_count(void)
{
    return COUNT_OF(rows);
}

const struct row *row_at(size_t index)
{
    return &rows[index];
}

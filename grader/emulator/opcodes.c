/* opcodes.c - see opcodes.h. */
#include "emulator/opcodes.h"

#include "emulator/lower.h"

#define KIND_INTEGER EMULATOR_INTEGER
#define KIND_CONVERSION EMULATOR_CONVERSION
#define KIND_LOAD EMULATOR_LOAD
#define KIND_STORE EMULATOR_STORE
#define KIND_ATOMIC EMULATOR_ATOMIC
#define KIND_CONTROL EMULATOR_CONTROL
#define KIND_BARRIER EMULATOR_BARRIER
#define KIND_EXCHANGE EMULATOR_EXCHANGE
#define KIND_OTHER EMULATOR_OTHER
#define KIND_BY_TYPE EMULATOR_KIND_COUNT
#define HAS_RESULT true
#define HAS_NONE false

static const struct opcode opcodes[] = {
#define OPCODE(name, lower, kind, flow, result, types, semantics, tests)                           \
    {#name, lower_##lower, KIND_##kind, OPCODE_##flow, HAS_##result},
#include "emulator/opcodes.inc"
#undef OPCODE
};

#define SLOTS 512 /* a power of two, at least twice the opcodes */
_Static_assert(COUNT_OF(opcodes) * 2 <= SLOTS, "the hash table of opcodes is too small");
static uint16_t slots[SLOTS]; /* index + 1 */
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static unsigned slot_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name != '\0'; ++name)
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    return (hash ^ hash >> 15) % SLOTS;
}

static void fill_slots(void)
{
    for (unsigned i = 0; i < COUNT_OF(opcodes); ++i) {
        unsigned slot = slot_of(opcodes[i].name);
        while (slots[slot] != 0)
            slot = (slot + 1) % SLOTS;
        slots[slot] = (uint16_t)(i + 1);
    }
}

const struct opcode *opcode_find(const char *name)
{
    (void)pthread_once(&slots_once, fill_slots);
    for (unsigned slot = slot_of(name); slots[slot] != 0; slot = (slot + 1) % SLOTS)
        if (strcmp(opcodes[slots[slot] - 1].name, name) == 0)
            return &opcodes[slots[slot] - 1];
    return NULL;
}

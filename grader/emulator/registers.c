/* registers.c - which bytes of the register file a register gets.
 *
 * Liveness by the usual backward data flow over blocks; then a linear scan gives registers of one
 * width that are never alive together the same slot, so that the file stays inside the L1 cache.
 * (Lanes of one slot never mix: it is only ever used at one width.) Functions that are too large
 * for the data flow get a slot for each register.
 *
 * A register that is alive where the function begins may be read before it was written on some
 * path: such registers carry a mask of the lanes in which they are defined, which is looked at
 * before each use. */
#include "emulator/lower.h"

#define FLOW_WORDS_MAX ((size_t)8 << 20)

struct liveness {
    struct lowering *lowering;
    uint32_t *dense;     /* per register: its number among those used; UINT32_MAX: not used */
    uint32_t *registers; /* the reverse */
    uint8_t *widths;     /* by dense number */
    uint32_t count;
    size_t words;                       /* of one set */
    uint64_t *in, *out, *used, *killed; /* per block */
    uint32_t *begin, *end; /* by dense number: first and last place where it is alive */
    uint32_t place;
    uint64_t *used_here, *killed_here;
    bool guarded;
};

enum width lower_register_width(enum ptx_type type)
{
    if (type == PTX_PRED)
        return WIDTH_PREDICATE;
    switch (ptx_type_bytes(type)) {
    case 1:
    case 2:
        return WIDTH_16;
    case 4:
        return WIDTH_32;
    case 8:
        return WIDTH_64;
    default:
        return WIDTH_128;
    }
}

static bool bit_get(const uint64_t *set, uint32_t i)
{
    return (set[i / 64] >> (i % 64) & 1) != 0;
}

static void bit_set(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static void number_register(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct liveness *live = payload;
    (void)is_written;
    if (live->dense[operand->index] != UINT32_MAX)
        return;
    live->dense[operand->index] = live->count;
    live->registers[live->count] = operand->index;
    live->widths[live->count++] = (uint8_t)lower_register_width(operand->symbol->type);
}

static void note_flow(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct liveness *live = payload;
    uint32_t i = live->dense[operand->index];
    /* Under a guard the old value survives in some lanes: a write reads as well. */
    if ((!is_written || live->guarded) && !bit_get(live->killed_here, i))
        bit_set(live->used_here, i);
    if (is_written)
        bit_set(live->killed_here, i);
}

static void note_place(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct liveness *live = payload;
    uint32_t i = live->dense[operand->index];
    /* Reads happen after the write, as it were: a result never shares the slot of a source. */
    uint32_t place = 2 * live->place + (is_written ? 0 : 1);
    if (place < live->begin[i])
        live->begin[i] = place;
    if (place > live->end[i])
        live->end[i] = place;
}

static bool flow(struct liveness *live)
{
    struct lowering *lowering = live->lowering;
    const struct program *program = lowering->program;
    const size_t words = live->words;
    for (size_t b = 0; b < program->block_count; ++b) {
        live->used_here = live->used + b * words;
        live->killed_here = live->killed + b * words;
        for (uint32_t i = program->blocks[b].first; i < program->blocks[b].last; ++i) {
            live->guarded = lowering->body->instructions[i].guard != NULL;
            cfg_visit_registers(&lowering->body->instructions[i], note_flow, live);
        }
        memcpy(live->in + b * words, live->used_here, words * sizeof *live->in);
    }
    struct cfg_successors next = {0};
    bool changed = true;
    for (unsigned rounds = 0; changed; ++rounds) {
        if (rounds > 1000)
            return false; /* not worth it */
        changed = false;
        for (size_t b = program->block_count; b-- > 0;) {
            if (!cfg_successors(lowering, (uint32_t)b, &next))
                return false;
            uint64_t *in = live->in + b * words, *out = live->out + b * words;
            for (size_t s = 0; s < next.count; ++s) {
                if (next.blocks[s] == NO_BLOCK)
                    continue;
                const uint64_t *after = live->in + next.blocks[s] * words;
                for (size_t w = 0; w < words; ++w)
                    out[w] |= after[w];
            }
            for (size_t w = 0; w < words; ++w) {
                uint64_t value = in[w] | (out[w] & ~live->killed[b * words + w]);
                changed = changed || value != in[w];
                in[w] = value;
            }
        }
    }
    return true;
}

static void find_intervals(struct liveness *live)
{
    const struct program *program = live->lowering->program;
    for (uint32_t i = 0; i < live->count; ++i) {
        live->begin[i] = UINT32_MAX;
        live->end[i] = 0;
    }
    for (size_t b = 0; b < program->block_count; ++b) {
        const struct block *block = &program->blocks[b];
        for (live->place = block->first; live->place < block->last; ++live->place)
            cfg_visit_registers(&live->lowering->body->instructions[live->place], note_place, live);
        for (uint32_t i = 0; i < live->count; ++i) {
            if (bit_get(live->in + b * live->words, i) && 2 * block->first < live->begin[i])
                live->begin[i] = 2 * block->first;
            if (bit_get(live->in + b * live->words, i) && 2 * block->first > live->end[i])
                live->end[i] = 2 * block->first;
            if (bit_get(live->out + b * live->words, i)) {
                if (2 * block->last > live->end[i])
                    live->end[i] = 2 * block->last;
                if (2 * block->last < live->begin[i])
                    live->begin[i] = 2 * block->last;
            }
        }
    }
}

/* Heap sort by where the interval begins: no recursion, no worst case. */
static void sort_by_begin(const struct liveness *live, uint32_t *list)
{
    const uint32_t count = live->count;
    for (uint32_t pass = 0, limit = count; pass < count / 2 + count; ++pass) {
        uint32_t root;
        if (pass < count / 2) {
            root = count / 2 - 1 - pass;
        } else {
            --limit;
            uint32_t swapped = list[0];
            list[0] = list[limit];
            list[limit] = swapped;
            root = 0;
        }
        while (2 * root + 1 < limit) {
            uint32_t child = 2 * root + 1;
            if (child + 1 < limit && live->begin[list[child]] < live->begin[list[child + 1]])
                ++child;
            if (live->begin[list[root]] >= live->begin[list[child]])
                break;
            uint32_t swapped = list[root];
            list[root] = list[child];
            list[child] = swapped;
            root = child;
        }
    }
}

struct held { /* slots in use, as a heap by the end of their interval */
    uint32_t end, slot;
    uint8_t width;
};

static void held_push(struct held *heap, uint32_t *count, struct held item)
{
    uint32_t i = (*count)++;
    while (i > 0 && heap[(i - 1) / 2].end > item.end) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = item;
}

static struct held held_pop(struct held *heap, uint32_t *count)
{
    struct held top = heap[0], last = heap[--*count];
    uint32_t i = 0;
    while (2 * i + 1 < *count) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < *count && heap[child + 1].end < heap[child].end)
            ++child;
        if (last.end <= heap[child].end)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

static bool scan(struct liveness *live, const bool *own_slot)
{
    struct lowering *lowering = live->lowering;
    struct arena *arena = lowering->arena;
    uint32_t *list = arena_array(arena, live->count, sizeof *list);
    struct held *heap = arena_array(arena, live->count, sizeof *heap);
    uint32_t *free_slots[WIDTH_COUNT], free_count[WIDTH_COUNT] = {0};
    for (unsigned w = 0; w < WIDTH_COUNT; ++w) {
        free_slots[w] = arena_array(arena, live->count, sizeof(uint32_t));
        if (free_slots[w] == NULL)
            return false;
    }
    if (list == NULL || heap == NULL)
        return false;
    for (uint32_t i = 0; i < live->count; ++i)
        list[i] = i;
    sort_by_begin(live, list);
    uint32_t held = 0;
    for (uint32_t k = 0; k < live->count; ++k) {
        const uint32_t i = list[k];
        const enum width width = (enum width)live->widths[i];
        while (held > 0 && heap[0].end < live->begin[i]) {
            struct held done = held_pop(heap, &held);
            free_slots[done.width][free_count[done.width]++] = done.slot;
        }
        uint32_t slot = free_count[width] > 0 && !own_slot[i]
                            ? free_slots[width][--free_count[width]]
                            : lower_slot(lowering, width);
        lowering->slots[live->registers[i]] = slot;
        if (!own_slot[i])
            held_push(heap, &held,
                      (struct held){.end = live->end[i], .slot = slot, .width = (uint8_t)width});
    }
    return true;
}

/* A register that receives a doubtful one by mov is doubtful itself. */
static void spread_doubt(struct liveness *live, bool *doubtful)
{
    const struct ptx_body *body = live->lowering->body;
    bool changed = true;
    for (unsigned rounds = 0; changed && rounds < 16; ++rounds) {
        changed = false;
        for (size_t i = 0; i < body->instruction_count; ++i) {
            const struct ptx_instruction *instruction = &body->instructions[i];
            if (instruction->known == NULL || instruction->known->lower != lower_mov ||
                instruction->operand_count != 2 ||
                instruction->operands[0].kind != PTX_OPERAND_REGISTER ||
                instruction->operands[1].kind != PTX_OPERAND_REGISTER)
                continue;
            uint32_t to = live->dense[instruction->operands[0].index];
            if (doubtful[live->dense[instruction->operands[1].index]] && !doubtful[to]) {
                doubtful[to] = true;
                changed = true;
            }
        }
    }
}

/* Registers that are parameters are written by the caller, and results are read by it. */
static void keep_parameters(const struct liveness *live, bool *doubtful, bool *own)
{
    const struct ptx_body *body = live->lowering->body;
    for (size_t i = 0; i < body->formal_count + body->return_count; ++i) {
        const struct ptx_symbol *symbol =
            i < body->formal_count ? body->formals[i] : body->returns[i - body->formal_count];
        if (symbol->kind != PTX_SYMBOL_REGISTER || live->dense[symbol->first] == UINT32_MAX)
            continue;
        own[live->dense[symbol->first]] = true;
        if (i < body->formal_count)
            doubtful[live->dense[symbol->first]] = false;
    }
}

bool registers_assign(struct lowering *lowering)
{
    struct arena *arena = lowering->arena;
    const struct ptx_body *body = lowering->body;
    const struct program *program = lowering->program;
    const size_t declared = (size_t)body->register_count + 1;
    struct liveness live = {.lowering = lowering};
    live.dense = arena_array(arena, declared, sizeof(uint32_t));
    live.registers = arena_array(arena, declared, sizeof(uint32_t));
    live.widths = arena_array(arena, declared, 1);
    lowering->slots = arena_array(arena, declared, sizeof(uint32_t));
    lowering->defined = arena_array(arena, declared, sizeof(uint32_t));
    if (live.dense == NULL || live.registers == NULL || live.widths == NULL ||
        lowering->slots == NULL || lowering->defined == NULL)
        return false;
    for (size_t i = 0; i < declared; ++i)
        live.dense[i] = lowering->slots[i] = lowering->defined[i] = UINT32_MAX;
    for (size_t i = 0; i < body->instruction_count; ++i)
        cfg_visit_registers(&body->instructions[i], number_register, &live);
    live.words = (live.count + 63) / 64;
    const size_t set_words = live.words * program->block_count;
    bool *doubtful = arena_array(arena, live.count + 1u, sizeof(bool));
    if (doubtful == NULL)
        return false;
    bool small = set_words <= FLOW_WORDS_MAX &&
                 (uint64_t)live.count * program->block_count <= FLOW_WORDS_MAX * 16;
    if (small) {
        live.in = arena_array(arena, set_words, sizeof(uint64_t));
        live.out = arena_array(arena, set_words, sizeof(uint64_t));
        live.used = arena_array(arena, set_words, sizeof(uint64_t));
        live.killed = arena_array(arena, set_words, sizeof(uint64_t));
        live.begin = arena_array(arena, live.count, sizeof(uint32_t));
        live.end = arena_array(arena, live.count, sizeof(uint32_t));
        if (live.in == NULL || live.out == NULL || live.used == NULL || live.killed == NULL ||
            live.begin == NULL || live.end == NULL)
            return false;
        small = program->block_count > 0 && flow(&live);
    }
    if (!small) {
        for (uint32_t i = 0; i < live.count; ++i)
            lowering->slots[live.registers[i]] = lower_slot(lowering, (enum width)live.widths[i]);
        lowering->invariant = arena_array(arena, declared, sizeof(bool));
        lowering->failed = lowering->failed || lowering->invariant == NULL;
        return !lowering->failed;
    }
    for (uint32_t i = 0; i < live.count; ++i)
        doubtful[i] = bit_get(live.in, i);
    bool *own = arena_array(arena, live.count + 1u, sizeof(bool));
    if (own == NULL)
        return false;
    keep_parameters(&live, doubtful, own);
    spread_doubt(&live, doubtful);
    lowering->doubtful = arena_array(arena, declared, sizeof(bool));
    if (lowering->doubtful == NULL)
        return false;
    for (uint32_t i = 0; i < live.count; ++i)
        lowering->doubtful[live.registers[i]] = doubtful[i];
    if (!invariants_find(lowering))
        return false;
    for (uint32_t i = 0; i < live.count; ++i)
        own[i] = own[i] || doubtful[i] || lowering->invariant[live.registers[i]];
    find_intervals(&live);
    if (!scan(&live, own))
        return false;
    uint32_t *masks = arena_array(arena, live.count, sizeof *masks);
    if (masks == NULL)
        return false;
    size_t mask_count = 0;
    for (uint32_t i = 0; i < live.count; ++i)
        if (doubtful[i])
            masks[mask_count++] = lowering->defined[live.registers[i]] =
                lower_slot(lowering, WIDTH_PREDICATE);
    lowering->program->defined = masks;
    lowering->program->defined_count = mask_count;
    return !lowering->failed;
}

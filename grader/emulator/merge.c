/* merge.c - accesses that ptxas makes one of, or leaves out, as its machine code shows (what the
 * kernels of tests/truth come to; for code compiled without debug information).
 *
 * Shared memory: neighbours become one wide access if it is aligned for sure: words of one chunk of
 * 16 bytes, all four, or three of them if they are loaded; two words in 8 bytes; two of 64 bits in
 * 16; two of 16 bits in a word. A variable counts as aligned to 16 bytes, whatever it asks for.
 * They have one address register and lie in one basic block, with nothing between that could change
 * what is loaded, or see what is stored.
 *
 * And what was loaded before in the block, with nothing between that could have changed it, is not
 * loaded again. For that, registers are numbered by the value that they hold.
 *
 * The accesses run one by one all the same. The first of those that are one counts for all. */
#include "emulator/lower.h"

#define GROUPS 16      /* looked at side by side; the oldest one is given up first */
#define MEMBERS 64     /* of a group */
#define EXPRESSIONS 64 /* the latest ones of a block, among which an equal one is looked for */
#define SOURCES 4      /* operands of an expression */
#define CHUNK_MAX 16   /* bytes that one lane accesses at once */

/* What a group may hold, and what ends it. */
enum reach { REACH_SHARED, REACH_GLOBAL, REACH_ANY };

struct place {                       /* an address but for what is added to it */
    uint32_t value;                  /* number of the register's value; 0: a variable */
    const struct ptx_symbol *symbol; /* the variable */
};

struct merge_group {
    bool is_store;
    enum reach reach;
    struct place base;
    unsigned aligned; /* log2, of the base */
    unsigned bytes;   /* of each member */
    unsigned count;
    uint32_t member[MEMBERS];
    int64_t offset[MEMBERS];
};

struct expression {
    const struct ptx_instruction *instruction;
    uint32_t sources[SOURCES], value;
};

struct merging {
    struct lowering *lowering;
    struct merged *found;
    struct alignment alignment;
    uint32_t *value, *stamp; /* per register: number of its value, in which block */
    uint32_t block, next_value;
    struct merge_group groups[GROUPS];
    unsigned group_count;
    struct expression expressions[EXPRESSIONS];
    unsigned expression_count, expression_next;
};

/* ---- Values --------------------------------------------------------------------------------- */

static uint32_t value_of(struct merging *merging, uint32_t index)
{
    if (merging->stamp[index] != merging->block) {
        merging->stamp[index] = merging->block;
        merging->value[index] = ++merging->next_value;
    }
    return merging->value[index];
}

static void renew(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct merging *merging = payload;
    if (!is_written)
        return;
    merging->stamp[operand->index] = merging->block;
    merging->value[operand->index] = ++merging->next_value;
}

/* What stands there, but for registers; of special registers those that do not change. */
static bool is_same_source(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PTX_OPERAND_REGISTER:
        return a->component == b->component && a->negated == b->negated;
    case PTX_OPERAND_INTEGER:
        return a->value == b->value;
    case PTX_OPERAND_SYMBOL:
        return a->symbol == b->symbol && a->value == b->value;
    case PTX_OPERAND_SPECIAL:
        return strcmp(a->name, b->name) == 0 && a->component == b->component &&
               (strncmp(a->name, "%tid", 4) == 0 || strncmp(a->name, "%ctaid", 6) == 0 ||
                strncmp(a->name, "%ntid", 5) == 0 || strncmp(a->name, "%nctaid", 7) == 0);
    default:
        return false;
    }
}

static bool is_same_expression(const struct expression *a, const struct expression *b)
{
    if (a->instruction->operand_count != b->instruction->operand_count ||
        memcmp(a->sources, b->sources, sizeof a->sources) != 0 ||
        strcmp(a->instruction->text, b->instruction->text) != 0)
        return false;
    for (size_t i = 1; i < a->instruction->operand_count; ++i)
        if (!is_same_source(&a->instruction->operands[i], &b->instruction->operands[i]))
            return false;
    return true;
}

static void number_result(struct merging *merging, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    struct expression this = {.instruction = instruction};
    if (instruction->guard != NULL || !lower_is_computation(instruction) ||
        instruction->known->lower == lower_carry || lower_has(instruction, "cc") ||
        instruction->operand_count < 2 || instruction->operand_count > SOURCES + 1 ||
        operands[0].kind != PTX_OPERAND_REGISTER || operands[0].component != '\0') {
        cfg_visit_registers(instruction, renew, merging);
        return;
    }
    for (size_t i = 1; i < instruction->operand_count; ++i)
        if (operands[i].kind == PTX_OPERAND_REGISTER)
            this.sources[i - 1] = value_of(merging, operands[i].index);
    renew(merging, &operands[0], true);
    this.value = merging->value[operands[0].index];
    for (unsigned i = 0; i < merging->expression_count; ++i)
        if (is_same_expression(&merging->expressions[i], &this)) {
            merging->value[operands[0].index] = merging->expressions[i].value;
            return;
        }
    merging->expressions[merging->expression_next] = this;
    merging->expression_next = (merging->expression_next + 1) % EXPRESSIONS;
    if (merging->expression_count < EXPRESSIONS)
        ++merging->expression_count;
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Those of the group that lie in the chunk, each place once, and all of them: `with`. */
static unsigned in_chunk(const struct merge_group *group, const bool done[MEMBERS], int64_t chunk,
                         int64_t size, bool with[MEMBERS])
{
    unsigned places = 0;
    for (unsigned i = 0; i < group->count; ++i) {
        with[i] = !done[i] && group->offset[i] >= chunk && group->offset[i] < chunk + size &&
                  (group->offset[i] - chunk) % group->bytes == 0;
        bool is_new = with[i];
        for (unsigned k = 0; k < i && is_new; ++k)
            is_new = !with[k] || group->offset[k] != group->offset[i];
        places += is_new ? 1 : 0;
    }
    return places;
}

static void join_chunk(struct merging *merging, const struct merge_group *group, bool done[MEMBERS],
                       const bool with[MEMBERS], int64_t chunk, unsigned size)
{
    bool first = true;
    for (unsigned i = 0; i < group->count; ++i) {
        if (!with[i])
            continue;
        done[i] = true;
        merging->found->of[group->member[i]] =
            (struct merged_access){.bytes = (uint8_t)(first ? size : 0),
                                   .is_merged = true,
                                   .back = (uint8_t)(group->offset[i] - chunk)};
        first = false;
    }
}

static void join_neighbours(struct merging *merging, const struct merge_group *group)
{
    bool done[MEMBERS] = {false}, with[MEMBERS];
    const unsigned most = group->bytes == 2 ? 4 : CHUNK_MAX;
    for (unsigned size = most; size > group->bytes && group->bytes > 1; size /= 2) {
        if (group->aligned < (unsigned)__builtin_ctz(size))
            continue;
        for (unsigned i = 0; i < group->count; ++i) {
            const int64_t chunk = group->offset[i] & ~(int64_t)(size - 1);
            const unsigned wanted = size / group->bytes;
            if (done[i])
                continue;
            const unsigned places = in_chunk(group, done, chunk, size, with);
            if (places == wanted || (places == 3 && wanted == 4 && !group->is_store))
                join_chunk(merging, group, done, with, chunk, size);
        }
    }
    /* The same place again. */
    for (unsigned i = 1; i < group->count && !group->is_store; ++i)
        for (unsigned k = 0; k < i && !done[i]; ++k)
            if (!done[k] && group->offset[k] == group->offset[i]) {
                merging->found->of[group->member[i]] = (struct merged_access){.is_merged = true};
                done[i] = true;
            }
}

static void close_group(struct merging *merging, unsigned g)
{
    const struct merge_group *group = &merging->groups[g];
    if (group->count > 1 && group->reach == REACH_SHARED) {
        join_neighbours(merging, group);
    } else if (group->count > 1 && !group->is_store) {
        for (unsigned i = 1; i < group->count; ++i)
            for (unsigned k = 0; k < i; ++k)
                if (group->offset[k] == group->offset[i])
                    merging->found->of[group->member[i]].is_merged = true;
    }
    merging->groups[g] = merging->groups[--merging->group_count];
}

static void close_all(struct merging *merging)
{
    while (merging->group_count > 0)
        close_group(merging, merging->group_count - 1);
}

/* Before a store, or a load, to that space: who might be in its way. */
static void close_for(struct merging *merging, enum reach reach, bool is_store,
                      const struct place *base)
{
    for (unsigned g = merging->group_count; g-- > 0;) {
        const struct merge_group *group = &merging->groups[g];
        const bool meets = reach == REACH_ANY || group->reach == REACH_ANY || reach == group->reach;
        const bool is_same = group->is_store && is_store && group->base.value == base->value &&
                             group->base.symbol == base->symbol;
        if (meets && (is_store || group->is_store) && !is_same)
            close_group(merging, g);
    }
}

static void add_access(struct merging *merging, uint32_t number,
                       const struct ptx_instruction *instruction)
{
    const bool is_store = instruction->known->lower == lower_store;
    const struct ptx_operand *address = &instruction->operands[is_store ? 0 : 1];
    const struct ptx_operand *data = &instruction->operands[is_store ? 1 : 0];
    const struct ptx_operand *at = &address->children[0];
    const unsigned bytes = ptx_type_bytes(lower_type(instruction));
    enum reach reach = REACH_ANY;
    if (lower_has(instruction, "local") || lower_has(instruction, "param") ||
        lower_has(instruction, "const"))
        return;
    if (lower_has(instruction, "global"))
        reach = REACH_GLOBAL;
    else if (lower_has(instruction, "shared") || lower_has(instruction, "shared::cta") ||
             alignment_is_shared(&merging->alignment, at))
        reach = REACH_SHARED;
    struct place base = {0};
    struct ptx_operand start = *at; /* of a variable: not what is added to it */
    if (at->kind != PTX_OPERAND_REGISTER)
        start.value = 0;
    if (at->kind == PTX_OPERAND_REGISTER)
        base.value = value_of(merging, at->index);
    else
        base.symbol = at->symbol;
    close_for(merging, reach, is_store, &base);
    if (data->kind != PTX_OPERAND_REGISTER || instruction->guard != NULL ||
        (base.value == 0 && base.symbol == NULL) || (is_store && reach != REACH_SHARED))
        return;
    unsigned g = 0;
    while (g < merging->group_count &&
           (merging->groups[g].is_store != is_store || merging->groups[g].reach != reach ||
            merging->groups[g].bytes != bytes || merging->groups[g].base.value != base.value ||
            merging->groups[g].base.symbol != base.symbol || merging->groups[g].count == MEMBERS))
        ++g;
    if (g == merging->group_count) {
        if (merging->group_count == GROUPS) {
            close_group(merging, 0);
            g = merging->group_count;
        }
        ++merging->group_count;
        merging->groups[g] =
            (struct merge_group){.is_store = is_store,
                                 .reach = reach,
                                 .base = base,
                                 .aligned = alignment_of(&merging->alignment, &start),
                                 .bytes = bytes};
    }
    struct merge_group *group = &merging->groups[g];
    group->member[group->count] = number;
    group->offset[group->count++] = (int64_t)address->value;
}

static bool is_weak_access(const struct ptx_instruction *instruction)
{
    static const char *const others[] = {"volatile", "relaxed", "acquire", "release",
                                         "mmio",     "cv",      "wt"};
    const struct opcode *known = instruction->known;
    if (known == NULL || (known->lower != lower_load && known->lower != lower_store) ||
        lower_choose(instruction, others, COUNT_OF(others)) >= 0 || instruction->operand_count < 2)
        return false;
    const struct ptx_operand *address = &instruction->operands[known->lower == lower_store ? 0 : 1];
    return address->kind == PTX_OPERAND_ADDRESS && address->child_count == 1;
}

/* What ptxas writes as a call of a subroutine for some operands: the block ends there. */
static bool is_call_inside(const struct ptx_instruction *instruction)
{
    static const char *const opcodes[] = {"div", "rem", "rcp", "sqrt"};
    const enum ptx_type type = lower_type(instruction);
    if (lower_has(instruction, "approx") || lower_has(instruction, "full") ||
        (!ptx_type_is_float(type) && ptx_type_bytes(type) < 8))
        return false;
    for (size_t i = 0; i < COUNT_OF(opcodes); ++i)
        if (strcmp(instruction->opcode, opcodes[i]) == 0)
            return true;
    return false;
}

static void look_at_block(struct merging *merging, const struct block *block)
{
    const struct ptx_body *body = merging->lowering->body;
    ++merging->block;
    merging->expression_count = merging->expression_next = 0;
    for (uint32_t i = block->first; i < block->last; ++i) {
        const struct ptx_instruction *instruction = &body->instructions[i];
        if (is_weak_access(instruction))
            add_access(merging, i, instruction);
        else if (!lower_is_computation(instruction) || is_call_inside(instruction))
            close_all(merging);
        number_result(merging, instruction);
    }
    close_all(merging);
}

static bool is_worth_it(const struct ptx_body *body)
{
    unsigned accesses = 0;
    for (size_t i = 0; i < body->instruction_count && accesses < 2; ++i)
        accesses +=
            is_weak_access(&body->instructions[i]) && !lower_has(&body->instructions[i], "param");
    return accesses > 1;
}

static int find(struct merging *merging)
{
    struct lowering *lowering = merging->lowering;
    const size_t registers = (size_t)lowering->body->register_count + 1;
    merging->found->of = arena_array(lowering->arena, lowering->body->instruction_count + 1,
                                     sizeof *merging->found->of);
    merging->value = arena_array(lowering->arena, registers, sizeof(uint32_t));
    merging->stamp = arena_array(lowering->arena, registers, sizeof(uint32_t));
    if (merging->found->of == NULL || merging->value == NULL || merging->stamp == NULL)
        return -1;
    if (!alignment_find(lowering, &merging->alignment))
        return lowering->failed ? -1 : 0;
    for (size_t b = 0; b < lowering->program->block_count; ++b)
        look_at_block(merging, &lowering->program->blocks[b]);
    return 0;
}

const struct merged_access *merge_find(struct lowering *lowering)
{
    static const struct merged_access nothing;
    const size_t number = (size_t)(lowering->instruction - lowering->body->instructions);
    if (lowering->merged == NULL) {
        struct merged *found = arena_alloc(lowering->arena, sizeof *found);
        struct merging *merging = found != NULL ? calloc(1, sizeof *merging) : NULL;
        if (merging == NULL) {
            lowering->failed = true;
            return &nothing;
        }
        merging->lowering = lowering;
        merging->found = found;
        if (!lowering->emulator->module->is_debug && is_worth_it(lowering->body) &&
            find(merging) != 0)
            lowering->failed = true;
        free(merging);
        lowering->merged = found;
    }
    return lowering->merged->of == NULL ? &nothing : &lowering->merged->of[number];
}

/* ---- Counting ------------------------------------------------------------------------------- */

void merge_count(struct warp *warp, const struct op *op)
{
    const struct merge_detail *detail = op->detail;
    struct touched touched = {0};
    uint64_t differ = 0;
    for (uint32_t left = warp->active; left != 0; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t address = (uint64_t)detail->offset;
        if (detail->address == ADDRESS_64)
            address += ((const uint64_t *)(const void *)(warp->registers + op->a))[lane];
        else if (detail->address == ADDRESS_32)
            address = (uint32_t)address +
                      ((const uint32_t *)(const void *)(warp->registers + op->a))[lane];
        touched.address[touched.count] = address;
        touched.lane[touched.count] = (uint8_t)lane;
        differ |= address ^ touched.address[touched.count & LANES / 2];
        ++touched.count;
    }
    struct traffic_count *count = detail->is_store ? &warp->runner->counters.shared_store
                                                   : &warp->runner->counters.shared_load;
    count->requests += 1;
    /* Blocks that are 16 or 32 threads wide often load one thing for each half of the warp. */
    if (differ == 0 && touched.count == LANES && detail->bytes == CHUNK_MAX && !detail->is_store)
        count->sectors += 2;
    else
        count->sectors += shared_wavefronts(&touched, detail->bytes, detail->is_store);
}

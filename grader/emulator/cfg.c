/* cfg.c - basic blocks, and where diverged lanes meet again.
 *
 * A block ends at a branch, at the end of a thread or function, and around every jump under a guard
 * (`@p exit`, `@p call`), which has a block to itself. Lanes that part at the end of a block meet
 * at its immediate post-dominator, found by the iteration of Cooper, Harvey and Kennedy ("A Simple,
 * Fast Dominance Algorithm") on the reversed graph. */
#include "emulator/lower.h"

static enum opcode_flow flow_of(const struct ptx_instruction *instruction)
{
    return instruction->known == NULL ? OPCODE_ON : instruction->known->flow;
}

/* Instructions that may stop or redirect the warp, so that a guard becomes a branch around them. */
bool cfg_is_jump(const struct ptx_instruction *instruction)
{
    return flow_of(instruction) != OPCODE_ON;
}

/* ---- Which registers an instruction touches ------------------------------------------------- */

static bool has_result(const struct ptx_instruction *instruction)
{
    const struct opcode *known = instruction->known;
    if (known == NULL || instruction->operand_count == 0)
        return instruction->operand_count > 0;
    if (known->lower == lower_call)
        return instruction->operand_count > 1 && instruction->operands[0].kind == PTX_OPERAND_LIST;
    if (known->lower == lower_barrier)
        return lower_has(instruction, "red");
    if (known->lower == lower_mbarrier)
        return !lower_has(instruction, "init") && !lower_has(instruction, "inval");
    return known->has_result;
}

struct visitor {
    void (*visit)(void *payload, const struct ptx_operand *operand, bool is_written);
    void *payload;
};

static void visit_operand(const struct visitor *visitor, const struct ptx_operand *operand,
                          bool written)
{
    if (operand->kind == PTX_OPERAND_REGISTER)
        visitor->visit(visitor->payload, operand, written);
    bool inside = written && operand->kind != PTX_OPERAND_ADDRESS;
    for (size_t i = 0; i < operand->child_count; ++i)
        visit_operand(visitor, &operand->children[i], inside);
}

void cfg_visit_registers(const struct ptx_instruction *instruction,
                         void (*visit)(void *payload, const struct ptx_operand *operand,
                                       bool is_written),
                         void *payload)
{
    const struct visitor visitor = {visit, payload};
    const bool result = has_result(instruction);
    if (instruction->guard != NULL)
        visit_operand(&visitor, instruction->guard, false);
    for (size_t i = result ? 1 : 0; i < instruction->operand_count; ++i)
        visit_operand(&visitor, &instruction->operands[i], false);
    if (result)
        visit_operand(&visitor, &instruction->operands[0], true);
}

/* ---- Blocks --------------------------------------------------------------------------------- */

static uint32_t block_at(const struct lowering *lowering, uint32_t instruction)
{
    const struct program *program = lowering->program;
    uint32_t low = 0, high = (uint32_t)program->block_count;
    if (instruction >= lowering->body->instruction_count)
        return NO_BLOCK; /* a label at the very end: the function returns there */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (program->blocks[middle].first <= instruction)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool add_successor(struct lowering *lowering, struct cfg_successors *list, uint32_t block)
{
    uint32_t *blocks =
        arena_grow(lowering->arena, list->blocks, list->count, &list->capacity, sizeof *blocks);
    if (blocks == NULL) {
        lowering->failed = true;
        return false;
    }
    list->blocks = blocks;
    blocks[list->count++] = block;
    return true;
}

static bool add_label(struct lowering *lowering, struct cfg_successors *list,
                      const struct ptx_operand *operand)
{
    const struct ptx_symbol *label = operand->symbol;
    if (operand->kind != PTX_OPERAND_SYMBOL || label == NULL || label->kind != PTX_SYMBOL_LABEL)
        return true; /* the lowering of the instruction refuses it */
    return add_successor(lowering, list, block_at(lowering, label->position));
}

bool cfg_successors(struct lowering *lowering, uint32_t index, struct cfg_successors *list)
{
    const struct block *block = &lowering->program->blocks[index];
    const struct ptx_instruction *last = &lowering->body->instructions[block->last - 1];
    list->count = 0;
    const uint32_t after = block_at(lowering, block->last);
    const enum opcode_flow flow = flow_of(last);
    if (flow == OPCODE_BRANCH && last->operand_count == 1) {
        if (!add_label(lowering, list, &last->operands[0]))
            return false;
    } else if (flow == OPCODE_BRANCH && last->operand_count == 2 &&
               last->operands[1].symbol != NULL) {
        const struct ptx_symbol *targets = last->operands[1].symbol;
        for (size_t i = 0; i < targets->target_count; ++i)
            if (!add_label(lowering, list, &targets->targets[i]))
                return false;
    } else if (flow == OPCODE_END) {
        if (!add_successor(lowering, list, NO_BLOCK))
            return false;
    } else {
        return add_successor(lowering, list, after);
    }
    return last->guard == NULL || add_successor(lowering, list, after);
}

/* Lanes that call different functions part there, and meet right behind the call. */
static bool is_indirect_call(const struct ptx_instruction *instruction)
{
    bool found = false;
    for (size_t i = 0; i < instruction->operand_count; ++i)
        found |= instruction->operands[i].kind == PTX_OPERAND_REGISTER;
    return found && strcmp(instruction->opcode, "call") == 0;
}

static bool find_blocks(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    const size_t count = body->instruction_count;
    uint8_t *leader = arena_array(lowering->arena, count + 1, 1);
    if (leader == NULL)
        return false;
    leader[0] = 1;
    for (size_t i = 0; i < count; ++i) {
        const struct ptx_instruction *instruction = &body->instructions[i];
        if (!cfg_is_jump(instruction))
            continue;
        const enum opcode_flow flow = flow_of(instruction);
        if (flow != OPCODE_STOP || instruction->guard != NULL || is_indirect_call(instruction))
            leader[i + 1] = 1;
        if (instruction->guard != NULL && flow != OPCODE_BRANCH)
            leader[i] = 1;
        for (size_t o = 0; o < instruction->operand_count; ++o) {
            const struct ptx_symbol *symbol = instruction->operands[o].symbol;
            if (symbol == NULL)
                continue;
            if (symbol->kind == PTX_SYMBOL_LABEL)
                leader[symbol->position] = 1;
            for (size_t t = 0; symbol->kind == PTX_SYMBOL_TARGETS && t < symbol->target_count; ++t)
                if (symbol->targets[t].symbol != NULL &&
                    symbol->targets[t].symbol->kind == PTX_SYMBOL_LABEL)
                    leader[symbol->targets[t].symbol->position] = 1;
        }
    }
    size_t blocks = 0;
    for (size_t i = 0; i < count; ++i)
        blocks += leader[i];
    struct program *program = lowering->program;
    program->blocks = arena_array(lowering->arena, blocks, sizeof *program->blocks);
    if (program->blocks == NULL)
        return false;
    for (size_t i = 0; i < count; ++i) {
        if (leader[i] != 0)
            program->blocks[program->block_count++] =
                (struct block){.first = (uint32_t)i, .meets = NO_BLOCK};
        program->blocks[program->block_count - 1].last = (uint32_t)i + 1;
    }
    return true;
}

/* ---- Post-dominators ------------------------------------------------------------------------ */

#define WAY_OUT_MOST 8 /* blocks from a return in a loop to the end of the function */

struct graph {
    uint32_t nodes; /* the blocks, then the end of the function */
    uint32_t *successor_first, *successors;
    uint32_t *predecessor_first, *predecessors;
    uint32_t *order;  /* nodes in reverse postorder of the reversed graph */
    uint32_t *number; /* place in it; UINT32_MAX: the end cannot be reached from here */
    uint32_t ordered;
};

static bool graph_fill(struct lowering *lowering, struct graph *graph)
{
    struct arena *arena = lowering->arena;
    const uint32_t blocks = (uint32_t)lowering->program->block_count;
    graph->nodes = blocks + 1;
    struct cfg_successors all = {0}, some = {0};
    graph->successor_first = arena_array(arena, graph->nodes + 1, sizeof(uint32_t));
    graph->predecessor_first = arena_array(arena, graph->nodes + 2, sizeof(uint32_t));
    graph->order = arena_array(arena, graph->nodes, sizeof(uint32_t));
    graph->number = arena_array(arena, graph->nodes, sizeof(uint32_t));
    if (graph->successor_first == NULL || graph->predecessor_first == NULL ||
        graph->order == NULL || graph->number == NULL)
        return false;
    for (uint32_t b = 0; b < blocks; ++b) {
        graph->successor_first[b] = (uint32_t)all.count;
        if (!cfg_successors(lowering, b, &some))
            return false;
        for (size_t i = 0; i < some.count; ++i) {
            uint32_t target = some.blocks[i] == NO_BLOCK ? blocks : some.blocks[i];
            if (!add_successor(lowering, &all, target))
                return false;
            ++graph->predecessor_first[target + 2];
        }
    }
    graph->successor_first[blocks] = graph->successor_first[graph->nodes] = (uint32_t)all.count;
    graph->successors = all.blocks;
    for (uint32_t n = 0; n < graph->nodes; ++n)
        graph->predecessor_first[n + 1] += graph->predecessor_first[n];
    graph->predecessors = arena_array(arena, all.count, sizeof(uint32_t));
    if (graph->predecessors == NULL || all.blocks == NULL)
        return false;
    for (uint32_t b = 0; b < blocks; ++b)
        for (uint32_t i = graph->successor_first[b]; i < graph->successor_first[b + 1]; ++i)
            graph->predecessors[graph->predecessor_first[all.blocks[i] + 1]++] = b;
    return true;
}

/* Depth-first from the end against the edges, without recursion. */
static bool graph_order(struct lowering *lowering, struct graph *graph)
{
    uint32_t *stack = arena_array(lowering->arena, graph->nodes, sizeof *stack);
    uint32_t *edge = arena_array(lowering->arena, graph->nodes, sizeof *edge);
    if (stack == NULL || edge == NULL)
        return false;
    for (uint32_t n = 0; n < graph->nodes; ++n)
        graph->number[n] = UINT32_MAX;
    uint32_t depth = 0, finished = graph->nodes;
    stack[depth++] = graph->nodes - 1;
    graph->number[graph->nodes - 1] = 0; /* seen */
    edge[graph->nodes - 1] = graph->predecessor_first[graph->nodes - 1];
    while (depth > 0) {
        uint32_t node = stack[depth - 1];
        if (edge[node] < graph->predecessor_first[node + 1]) {
            uint32_t before = graph->predecessors[edge[node]++];
            if (graph->number[before] == UINT32_MAX) {
                graph->number[before] = 0;
                edge[before] = graph->predecessor_first[before];
                stack[depth++] = before;
            }
        } else {
            graph->order[--finished] = node;
            --depth;
        }
    }
    graph->ordered = graph->nodes - finished;
    memmove(graph->order, graph->order + finished, graph->ordered * sizeof *graph->order);
    for (uint32_t i = 0; i < graph->ordered; ++i)
        graph->number[graph->order[i]] = i;
    return true;
}

/* Returns in the middle of something: each has its own way out, on which nobody waits for others.
 */
static void find_ways_out(struct lowering *lowering, const struct graph *graph)
{
    const uint32_t end = graph->nodes - 1;
    for (uint32_t b = 0; b < end; ++b) {
        if (graph->predecessor_first[b + 1] - graph->predecessor_first[b] != 1)
            continue;
        uint32_t node = b;
        for (unsigned steps = 0; steps < WAY_OUT_MOST && node != end; ++steps) {
            if (graph->successor_first[node + 1] - graph->successor_first[node] != 1)
                break;
            node = graph->successors[graph->successor_first[node]];
        }
        lowering->program->blocks[b].is_way_out = node == end;
    }
}

static bool find_meeting_points(struct lowering *lowering)
{
    struct graph graph = {0};
    if (!graph_fill(lowering, &graph) || !graph_order(lowering, &graph))
        return false;
    find_ways_out(lowering, &graph);
    uint32_t *post = arena_array(lowering->arena, graph.nodes, sizeof *post); /* by number */
    if (post == NULL || graph.successors == NULL)
        return false;
    for (uint32_t i = 1; i < graph.ordered; ++i)
        post[i] = UINT32_MAX;
    /* Reducible graphs settle in two or three rounds; the bound is for hostile ones, whose lanes
     * then meet at the end of the function. */
    bool changed = true;
    unsigned rounds = 0;
    for (; changed && rounds < 64; ++rounds) {
        changed = false;
        for (uint32_t i = 1; i < graph.ordered; ++i) {
            const uint32_t node = graph.order[i];
            uint32_t found = UINT32_MAX;
            for (uint32_t e = graph.successor_first[node]; e < graph.successor_first[node + 1];
                 ++e) {
                uint32_t other = graph.number[graph.successors[e]];
                if (other == UINT32_MAX || (other != 0 && post[other] == UINT32_MAX))
                    continue;
                if (found == UINT32_MAX) {
                    found = other;
                    continue;
                }
                while (found != other) {
                    while (found > other)
                        found = post[found];
                    while (other > found)
                        other = post[other];
                }
            }
            if (found != post[i]) {
                post[i] = found;
                changed = true;
            }
        }
    }
    for (uint32_t i = 1; i < graph.ordered && !changed; ++i) {
        uint32_t meets = graph.order[post[i]];
        lowering->program->blocks[graph.order[i]].meets =
            meets == graph.nodes - 1 ? NO_BLOCK : meets;
    }
    return true;
}

bool cfg_build(struct lowering *lowering)
{
    bool built = find_blocks(lowering) && find_meeting_points(lowering);
    lowering->failed = lowering->failed || !built;
    return built;
}

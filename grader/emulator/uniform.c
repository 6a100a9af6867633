/* uniform.c - which registers hold the same value in all lanes of a warp, as ptxas sees it.
 *
 * That decides how atomics are counted: where all lanes go to one address, ptxas lets one of them
 * do it for all (see atomics.c). A register is uniform when each instruction that writes it
 * computes it from constants, parameters, the position of the block, and registers that are
 * uniform, or loads it from such an address; and when it is written several times, if all branches
 * of the function depend on uniform registers alone, since else lanes are in different rounds of a
 * loop. The parameters of a function that is called are anybody's. Found once a function, and only
 * when there is an atomic operation to ask for. */
#include "emulator/lower.h"

struct search {
    struct lowering *lowering;
    struct uniformity *found;
    bool is_uniform; /* of the operands looked at */
    bool is_steady;  /* no branch depends on what lanes have of their own */
    bool changed;
};

static void count_use(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    uint8_t *count =
        is_written ? &search->found->writes[operand->index] : &search->found->reads[operand->index];
    if (*count < 2)
        ++*count;
}

static void look_at_source(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    if (!is_written && search->found->varies[operand->index])
        search->is_uniform = false;
}

static void vary(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    bool *varies = &search->found->varies[operand->index];
    if (is_written && !*varies)
        *varies = search->changed = true;
}

static void vary_if_rewritten(void *payload, const struct ptx_operand *operand, bool is_written)
{
    struct search *search = payload;
    if (is_written && search->found->writes[operand->index] > 1)
        vary(payload, operand, true);
}

static bool is_common_special(const char *name)
{
    static const char *const common[] = {"%ctaid", "%nctaid", "%ntid", "%nwarpid", "%envreg"};
    for (size_t i = 0; i < COUNT_OF(common); ++i)
        if (strncmp(name, common[i], strlen(common[i])) == 0)
            return true;
    return false;
}

static bool specials_are_common(const struct ptx_instruction *instruction)
{
    for (size_t i = 0; i < instruction->operand_count; ++i)
        if (instruction->operands[i].kind == PTX_OPERAND_SPECIAL &&
            !is_common_special(instruction->operands[i].name))
            return false;
    return true;
}

bool lower_is_computation(const struct ptx_instruction *instruction)
{
    static void (*const computing[])(struct lowering *, const struct ptx_instruction *) = {
        lower_lane_wise, lower_arithmetic, lower_carry,   lower_extremum, lower_lop3,
        lower_video,     lower_setp,       lower_set,     lower_testp,    lower_logic,
        lower_mov,       lower_cvta,       lower_is_space};
    for (size_t i = 0; i < COUNT_OF(computing) && instruction->known != NULL; ++i)
        if (instruction->known->lower == computing[i])
            return true;
    return false;
}

/* Equal operands give equal results. */
static bool is_function_of_operands(const struct lowering *lowering,
                                    const struct ptx_instruction *instruction)
{
    const struct opcode *known = instruction->known;
    if (known == NULL)
        return false;
    if (known->lower == lower_load)
        return !lower_has(instruction, "volatile") && !lower_has(instruction, "local") &&
               (lowering->body->face.is_entry || !lower_has(instruction, "param"));
    if (known->lower == lower_shuffle) /* from a lane that is the same for all */
        return lower_has(instruction, "idx") && instruction->operand_count > 2 &&
               instruction->operands[2].kind == PTX_OPERAND_INTEGER;
    return lower_is_computation(instruction);
}

static void look_at(struct search *search, const struct ptx_instruction *instruction)
{
    const bool is_broadcast =
        instruction->known != NULL && instruction->known->lower == lower_shuffle;
    search->is_uniform =
        is_function_of_operands(search->lowering, instruction) && specials_are_common(instruction);
    if (search->is_uniform && !is_broadcast)
        cfg_visit_registers(instruction, look_at_source, search);
    if (!search->is_uniform)
        cfg_visit_registers(instruction, vary, search);
    else if (!search->is_steady)
        cfg_visit_registers(instruction, vary_if_rewritten, search);
    if (instruction->known == NULL || instruction->known->flow != OPCODE_BRANCH ||
        !search->is_steady)
        return;
    search->is_uniform = true;
    cfg_visit_registers(instruction, look_at_source, search);
    if (!search->is_uniform) {
        search->is_steady = false;
        search->changed = true;
    }
}

const struct uniformity *uniform_find(struct lowering *lowering)
{
    if (lowering->uniformity != NULL)
        return lowering->uniformity;
    const struct ptx_body *body = lowering->body;
    const size_t registers = (size_t)body->register_count + 1;
    struct uniformity *found = arena_alloc(lowering->arena, sizeof *found);
    if (found == NULL)
        return NULL;
    found->varies = arena_array(lowering->arena, registers, sizeof *found->varies);
    found->writes = arena_array(lowering->arena, registers, 1);
    found->reads = arena_array(lowering->arena, registers, 1);
    if (found->varies == NULL || found->writes == NULL || found->reads == NULL)
        return NULL;
    struct search search = {.lowering = lowering, .found = found, .is_steady = true};
    for (size_t i = 0; i < body->instruction_count; ++i)
        cfg_visit_registers(&body->instructions[i], count_use, &search);
    /* What varies is passed on until nothing changes; few rounds, as definitions come first. The
     * bound is for hostile functions, of which nothing is said then. */
    unsigned rounds = 0;
    do {
        search.changed = false;
        for (size_t i = 0; i < body->instruction_count; ++i)
            look_at(&search, &body->instructions[i]);
    } while (search.changed && ++rounds < 32);
    for (size_t i = 0; i < registers && search.changed; ++i)
        found->varies[i] = true;
    lowering->uniformity = found;
    return found;
}

bool uniform_operand(const struct uniformity *found, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER:
        return !found->varies[operand->index];
    case PTX_OPERAND_ADDRESS:
        return operand->child_count == 1 && uniform_operand(found, &operand->children[0]);
    case PTX_OPERAND_INTEGER:
    case PTX_OPERAND_SYMBOL:
        return true;
    default:
        return false;
    }
}

/* predicates.c - instructions on whole predicates, and the carry flag, which is one too. */
#include "emulator/lane_values.h"
#include "emulator/lower.h"

/* ---- Predicates ----------------------------------------------------------------------------- */

void predicate_not(struct warp *warp, const struct op *op)
{
    write_mask(warp, op->d, ~read_mask(warp, op->a));
}

static void predicate_and(struct warp *warp, const struct op *op)
{
    write_mask(warp, op->d, read_mask(warp, op->a) & read_mask(warp, op->b));
}

static void predicate_or(struct warp *warp, const struct op *op)
{
    write_mask(warp, op->d, read_mask(warp, op->a) | read_mask(warp, op->b));
}

static void predicate_xor(struct warp *warp, const struct op *op)
{
    write_mask(warp, op->d, read_mask(warp, op->a) ^ read_mask(warp, op->b));
}

void predicate_logic(struct lowering *lowering, unsigned boolean, uint32_t d, uint32_t a,
                     uint32_t b)
{
    static const step_handler handlers[] = {predicate_and, predicate_or, predicate_xor};
    struct op *op = lower_step(lowering, handlers[boolean]);
    op->d = d;
    op->a = a;
    op->b = b;
}

/* ---- The carry flag ------------------------------------------------------------------------- */

enum carry { CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI };

/* imm: kind | reads the flag << 4 | writes it << 5. The flag is the predicate at op->guard. As in
 * the hardware, a - b is a + ~b + 1: after it the flag says that nothing was borrowed. nvcc's
 * division of 128-bit integers reads a borrow with addc. */
static void carry(struct warp *warp, const struct op *op)
{
    const enum carry kind = (enum carry)(op->imm & 15);
    const bool reads = (op->imm & 16) != 0, writes = (op->imm & 32) != 0;
    const bool wide = op->width == WIDTH_64;
    const uint32_t flag = read_mask(warp, op->guard);
    uint32_t out = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t in = reads ? flag >> lane & 1 : kind == CARRY_SUB;
        uint64_t a = wide ? read_wide(warp, op->a, lane) : read_lane(warp, op->a, lane);
        uint64_t b = wide ? read_wide(warp, op->b, lane) : read_lane(warp, op->b, lane);
        if (kind == CARRY_MAD_LO || kind == CARRY_MAD_HI) {
            __extension__ unsigned __int128 product = (unsigned __int128)a * b;
            if (op->negated) /* signed: the high half differs */
                product = wide ? (unsigned __int128)((__int128)(int64_t)a * (int64_t)b)
                               : (unsigned __int128)(uint64_t)((int64_t)(int32_t)a * (int32_t)b);
            const unsigned half = wide ? 64 : 32;
            a = kind == CARRY_MAD_HI ? (uint64_t)(product >> half) : (uint64_t)product;
            b = wide ? read_wide(warp, op->c, lane) : read_lane(warp, op->c, lane);
            if (!wide)
                a = (uint32_t)a;
        }
        if (kind == CARRY_SUB)
            b = wide ? ~b : (uint32_t)~b;
        __extension__ const unsigned __int128 sum = (unsigned __int128)a + b + in;
        const uint64_t result = (uint64_t)sum;
        out |= (uint64_t)(sum >> (wide ? 64 : 32)) != 0 ? UINT32_C(1) << lane : 0;
        memcpy(warp->registers + op->d + (wide ? 8 : 4) * lane, &result, wide ? 8 : 4);
    }
    if (writes)
        write_mask(warp, op->guard, out);
}

/* add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi … */
void lower_carry(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const char *opcode = instruction->opcode;
    const bool writes = lower_has(instruction, "cc");
    const size_t length = strlen(opcode);
    const bool reads = length == 4 && opcode[3] == 'c';
    static const char *const names[] = {"add", "sub", "mad"};
    int kind = 0;
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (strncmp(opcode, names[i], 3) == 0 && length == (reads ? 4u : 3u))
            kind = (int)i;
    const enum ptx_type type = lower_type(instruction);
    const enum width width = lower_register_width(type);
    const size_t sources = kind == 2 ? 3 : 2;
    if ((width != WIDTH_32 && width != WIDTH_64) || instruction->operand_count != sources + 1) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t values[3] = {0};
    for (size_t i = 0; i < sources; ++i)
        values[i] = lower_value(lowering, &instruction->operands[i + 1], width, type);
    uint32_t d = lower_result(lowering, &instruction->operands[0], width);
    if (lowering->carry == 0)
        lowering->carry = lower_slot(lowering, WIDTH_PREDICATE);
    if (kind == CARRY_MAD_LO && lower_has(instruction, "hi"))
        kind = CARRY_MAD_HI;
    struct op *op = lower_step(lowering, carry);
    op->d = d;
    op->a = values[0];
    op->b = values[1];
    op->c = values[2];
    op->guard = lowering->carry;
    op->negated = ptx_type_is_signed(type);
    op->width = (uint8_t)width;
    op->imm = (uint64_t)kind | (reads ? 16 : 0) | (writes ? 32 : 0);
}

/* isspacep.SPACE p, a */
static void is_space(struct warp *warp, const struct op *op)
{
    uint32_t result = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t address =
            op->width == WIDTH_64 ? read_wide(warp, op->a, lane) : read_lane(warp, op->a, lane);
        const bool shared = address - SHARED_WINDOW < WINDOW_BYTES;
        const bool local = address - LOCAL_WINDOW < WINDOW_BYTES;
        const struct region *region =
            shared || local ? NULL : memory_find(warp->runner->launch->emulator, address);
        const bool inside = region != NULL && address - region->base < region->bytes;
        bool yes = false;
        switch ((enum ptx_space)op->imm) {
        case PTX_SHARED:
            yes = shared;
            break;
        case PTX_LOCAL:
            yes = local;
            break;
        case PTX_CONST:
            yes = inside && region->kind == REGION_CONSTANT;
            break;
        case PTX_PARAM:
            yes = inside && region->kind == REGION_PARAMETERS;
            break;
        default:
            yes = !shared && !local;
            break;
        }
        result |= yes ? UINT32_C(1) << lane : 0;
    }
    write_mask(warp, op->d, result);
}

void lower_is_space(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const names[] = {"shared",       "shared::cta", "shared::cluster",
                                        "local",        "const",       "param",
                                        "param::entry", "param::func", "global"};
    static const enum ptx_space spaces[] = {PTX_SHARED, PTX_SHARED, PTX_SHARED,
                                            PTX_LOCAL,  PTX_CONST,  PTX_PARAM,
                                            PTX_PARAM,  PTX_LOCAL,  PTX_GLOBAL};
    const int which = lower_choose(instruction, names, COUNT_OF(names));
    if (instruction->operand_count != 2 || which < 0) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    const struct ptx_operand *address = &instruction->operands[1];
    const enum width width = address->kind == PTX_OPERAND_REGISTER &&
                                     lower_register_width(address->symbol->type) == WIDTH_32
                                 ? WIDTH_32
                                 : WIDTH_64;
    uint32_t a = lower_value(lowering, address, width, PTX_U64);
    uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, is_space);
    op->width = (uint8_t)width;
    op->d = d;
    op->a = a;
    op->imm = spaces[which];
}

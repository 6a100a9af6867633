/* stack.c - alloca, stacksave, stackrestore: a frame's local memory grows while it runs.
 *
 * All lanes of a frame have the same room: a request takes as much as its greediest lane asks for.
 * What is given back by some lanes only stays taken, since the others may still use it. */
#include "emulator/lane_values.h"
#include "emulator/lower.h"

static uint32_t stack_end(const struct frame *frame)
{
    return frame->local_base + frame->program->local_bytes + frame->taken_bytes;
}

static void put_address(struct warp *warp, const struct op *op, uint64_t address)
{
    const unsigned bytes = width_bytes((enum width)op->width);
    EACH_ACTIVE(lane) memcpy(warp->registers + op->d + bytes * lane, &address, bytes);
}

/* op->imm: the alignment, a power of two. */
static const struct op *stack_take(struct warp *warp, const struct op *op)
{
    uint64_t most = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t wanted =
            op->width == WIDTH_64 ? read_wide(warp, op->a, lane) : read_lane(warp, op->a, lane);
        most = wanted > most ? wanted : most;
    }
    const uint32_t end = stack_end(warp->frame), align = (uint32_t)op->imm;
    const uint32_t begin = (end + align - 1) & ~(align - 1);
    if (!frame_extend(warp, begin - end + ((most + 15) & ~UINT64_C(15)), op))
        return NULL;
    put_address(warp, op, begin);
    return op + 1;
}

static void stack_save(struct warp *warp, const struct op *op)
{
    put_address(warp, op, stack_end(warp->frame));
}

static void stack_restore(struct warp *warp, const struct op *op)
{
    struct frame *frame = warp->frame;
    const unsigned first = (unsigned)__builtin_ctz(warp->active);
    const uint64_t end =
        op->width == WIDTH_64 ? read_wide(warp, op->a, first) : read_lane(warp, op->a, first);
    const uint32_t least = frame->local_base + frame->program->local_bytes;
    if (warp->active != frame->mask || end < least || end > stack_end(frame))
        return;
    frame->taken_bytes = (uint32_t)end - least;
    warp_activate(warp, warp->group);
}

/* The width of the operand that is an address or a size; WIDTH_COUNT after a refusal. */
static enum width pointer_width(struct lowering *lowering,
                                const struct ptx_instruction *instruction, size_t least,
                                size_t most)
{
    const enum width width = lower_register_width(lower_type(instruction));
    if (instruction->operand_count >= least && instruction->operand_count <= most &&
        (width == WIDTH_32 || width == WIDTH_64))
        return width;
    lower_refuse(lowering, "it is not understood");
    return WIDTH_COUNT;
}

/* alloca.TYPE pointer, size{, alignment} */
void lower_stack_take(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    const enum width width = pointer_width(lowering, instruction, 2, 3);
    if (width == WIDTH_COUNT)
        return;
    uint64_t align = 16;
    if (instruction->operand_count == 3) {
        align = operands[2].kind == PTX_OPERAND_INTEGER ? operands[2].value : 0;
        if (align == 0 || (align & (align - 1)) != 0 || align > 4096) {
            lower_refuse(lowering, "the alignment has to be a power of two up to 4096");
            return;
        }
    }
    const uint32_t size = lower_value(lowering, &operands[1], width, PTX_U64);
    const uint32_t d = lower_result(lowering, &operands[0], width);
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = stack_take;
    op->width = (uint8_t)width;
    op->a = size;
    op->d = d;
    op->imm = align < 16 ? 16 : align;
}

/* stacksave.TYPE d */
void lower_stack_save(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const enum width width = pointer_width(lowering, instruction, 1, 1);
    if (width == WIDTH_COUNT)
        return;
    const uint32_t d = lower_result(lowering, &instruction->operands[0], width);
    struct op *op = lower_step(lowering, stack_save);
    op->width = (uint8_t)width;
    op->d = d;
}

/* stackrestore.TYPE a */
void lower_stack_restore(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const enum width width = pointer_width(lowering, instruction, 1, 1);
    if (width == WIDTH_COUNT)
        return;
    const uint32_t a = lower_value(lowering, &instruction->operands[0], width, PTX_U64);
    struct op *op = lower_step(lowering, stack_restore);
    op->width = (uint8_t)width;
    op->a = a;
}

#include "cubin_code.h"

#include "sass.h"

static struct sass_instruction instruction(const struct cubin_code *code, uint64_t index)
{
    uint64_t address = index * SASS_INSTRUCTION_BYTES;
    return sass_decode(code->sm, code->data + address, address);
}

static unsigned registers_of(const struct sass_instruction *in)
{
    return in->bytes < 4 ? 1 : in->bytes / 4;
}

/* The loads that bring saved registers back are those of the same register from the same place in
 * the frame. */
void cubin_code_mark_saves(struct cubin_code *code, const struct frame_function *function,
                           const struct frames *frames)
{
    int32_t place[256]; /* where each register is kept */
    bool kept[256] = {false};
    if (function->begin > function->end || function->end > code->size ||
        function->begin % SASS_INSTRUCTION_BYTES != 0) {
        code->saves_unclear = true;
        return;
    }
    for (size_t i = 0; i < function->save_count; ++i) {
        const struct frame_save *save = &frames->saves[function->first_save + i];
        uint64_t at = save->after - SASS_INSTRUCTION_BYTES;
        bool inside = save->after % SASS_INSTRUCTION_BYTES == 0 && at >= function->begin &&
                      at < function->end;
        struct sass_instruction in = {.kind = SASS_OTHER};
        if (inside)
            in = instruction(code, at / SASS_INSTRUCTION_BYTES);
        if (in.kind != SASS_LOCAL_STORE || in.base != SASS_STACK_POINTER || save->reg < in.reg ||
            save->reg >= in.reg + registers_of(&in) ||
            (kept[in.reg] && place[in.reg] != in.offset)) {
            code->saves_unclear = true;
            return;
        }
        kept[in.reg] = true;
        place[in.reg] = in.offset;
        code->marks[at / SASS_INSTRUCTION_BYTES] |= CODE_MARK_SAVE;
    }
    if (function->save_count == 0)
        return;
    for (uint64_t i = function->begin / SASS_INSTRUCTION_BYTES;
         (i + 1) * SASS_INSTRUCTION_BYTES <= function->end; ++i) {
        struct sass_instruction in = instruction(code, i);
        if (in.kind == SASS_LOCAL_LOAD && in.base == SASS_STACK_POINTER && kept[in.reg] &&
            place[in.reg] == in.offset)
            code->marks[i] |= CODE_MARK_SAVE;
    }
}

/* Static counts of one kind of access. */
struct traffic {
    int64_t instructions, bytes, requests;
};

static void traffic_add(struct traffic *traffic, const struct sass_instruction *in)
{
    ++traffic->instructions;
    traffic->bytes += in->bytes;
    traffic->requests += registers_of(in);
}

static void local_set(struct cubin_kernel *kernel, struct traffic stores, struct traffic loads)
{
    kernel->local_store_instructions = stores.instructions;
    kernel->local_store_bytes = stores.bytes;
    kernel->local_store_requests = stores.requests;
    kernel->local_load_instructions = loads.instructions;
    kernel->local_load_bytes = loads.bytes;
    kernel->local_load_requests = loads.requests;
}

static void spills_set(struct cubin_kernel *kernel, struct traffic stores, struct traffic loads)
{
    kernel->spill_store_instructions = stores.instructions;
    kernel->spill_store_bytes = stores.bytes;
    kernel->spill_store_requests = stores.requests;
    kernel->spill_load_instructions = loads.instructions;
    kernel->spill_load_bytes = loads.bytes;
    kernel->spill_load_requests = loads.requests;
}

/* On sm_87 each kernel starts by setting all convergence barriers once, and the second instruction
 * skips that in warps that come later: a branch that a warp takes as a whole. `last` is the last
 * instruction that may be skipped. */
static bool is_preamble(const struct cubin_code *code, uint64_t index, uint64_t target,
                        uint64_t last)
{
    if (code->sm != 87 || index != 1 || target % SASS_INSTRUCTION_BYTES != 0 ||
        target / SASS_INSTRUCTION_BYTES > last + 1 || target / SASS_INSTRUCTION_BYTES < 4)
        return false;
    for (uint64_t i = 2; i + 1 < target / SASS_INSTRUCTION_BYTES; ++i)
        if (instruction(code, i).kind != SASS_BARRIER_MOVE)
            return false;
    return true; /* the one left out is the move that remembers that it is done */
}

/* Whether each warp past the guards runs each spill (or, with `all`, each local access) exactly
 * once. Branches inside of a stretch without any would do no harm if the warp's threads surely met
 * again behind it; that is not followed here, so any branch before the last one is a no. */
static enum cubin_answer flow_judge(const struct cubin_code *code, bool all)
{
    enum cubin_answer answer = CUBIN_YES;
    uint64_t first = code->count, last = 0;
    for (uint64_t i = 0; i < code->count; ++i) {
        struct sass_instruction in = instruction(code, i);
        bool local = in.kind == SASS_LOCAL_STORE || in.kind == SASS_LOCAL_LOAD;
        if (!local || (code->marks[i] == 0 && !all))
            continue;
        if (in.guarded)
            return CUBIN_NO;
        first = first == code->count ? i : first;
        last = i;
    }
    if (first == code->count)
        return CUBIN_YES;
    for (uint64_t i = 0; i < code->count; ++i) {
        struct sass_instruction in = instruction(code, i);
        uint64_t address = i * SASS_INSTRUCTION_BYTES;
        if (in.kind == SASS_CALL || in.kind == SASS_JUMP)
            return CUBIN_NO;
        /* A branch to itself ends the code, behind the last EXIT. */
        if (in.kind == SASS_BRANCH && in.target != address &&
            (i < last || in.target <= last * SASS_INSTRUCTION_BYTES) &&
            (first == 0 || !is_preamble(code, i, in.target, first - 1)))
            return CUBIN_NO;
        if (in.kind == SASS_EXIT && i < last && (i > first || !in.guarded))
            return CUBIN_NO;
        if (in.kind == SASS_UNKNOWN)
            answer = CUBIN_UNKNOWN;
    }
    return answer;
}

static const struct traffic not_known = {CUBIN_ABSENT, CUBIN_ABSENT, CUBIN_ABSENT};

void cubin_code_count(struct cubin_kernel *kernel, struct cubin_code *code)
{
    local_set(kernel, not_known, not_known);
    spills_set(kernel, not_known, not_known);
    if (!sass_understands(code->sm) || code->size % SASS_INSTRUCTION_BYTES != 0)
        return;
    struct traffic stores = {0}, loads = {0}, spill_stores = {0}, spill_loads = {0};
    bool calls = false;
    for (uint64_t i = 0; i < code->count; ++i) {
        struct sass_instruction in = instruction(code, i);
        bool store = in.kind == SASS_LOCAL_STORE;
        calls |= in.kind == SASS_CALL;
        if (!store && in.kind != SASS_LOCAL_LOAD) {
            code->marked_wrong |= code->marks[i] != 0;
            continue;
        }
        if (in.bytes == 0)
            return;
        traffic_add(store ? &stores : &loads, &in);
        if (code->marks[i] != 0)
            traffic_add(store ? &spill_stores : &spill_loads, &in);
    }
    if (calls && code->incomplete)
        return;
    local_set(kernel, stores, loads);
    kernel->spills_known = (code->annotated || stores.instructions + loads.instructions == 0) &&
                           !code->marked_wrong && !code->saves_unclear;
    if (kernel->spills_known)
        spills_set(kernel, spill_stores, spill_loads);
    kernel->straight_line = flow_judge(code, !kernel->spills_known);
}

bool cubin_settle_spills(struct cubin_kernel *kernel, uint64_t declared_bytes)
{
    if (kernel->spills_known || kernel->local_store_instructions == CUBIN_ABSENT)
        return kernel->spills_known;
    uint64_t frame = kernel->frame_bytes > 0 ? (uint64_t)kernel->frame_bytes : 0;
    if (declared_bytes == 0) {
        spills_set(kernel,
                   (struct traffic){kernel->local_store_instructions, kernel->local_store_bytes,
                                    kernel->local_store_requests},
                   (struct traffic){kernel->local_load_instructions, kernel->local_load_bytes,
                                    kernel->local_load_requests});
        kernel->spills_known = true;
    } else if (kernel->callee_count == 0 && frame >= declared_bytes && frame - declared_bytes < 4) {
        spills_set(kernel, (struct traffic){0}, (struct traffic){0});
        kernel->straight_line = CUBIN_YES; /* nothing to run */
        kernel->spills_known = true;
    }
    return kernel->spills_known;
}

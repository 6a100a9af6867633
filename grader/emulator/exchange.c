/* exchange.c - instructions in which lanes or warps meet: barriers, shuffles, votes; and those on
 * whole predicates and the carry flag. */
#include "emulator/lower.h"

/* ---- Predicates -------------------------------------------------------------------------------
 */

static uint32_t read_mask(const struct warp *warp, uint32_t offset)
{
    uint32_t mask;
    memcpy(&mask, warp->registers + offset, sizeof mask);
    return mask;
}

static void write_mask(const struct warp *warp, uint32_t offset, uint32_t value)
{
    uint32_t mask = (read_mask(warp, offset) & ~warp->active) | (value & warp->active);
    memcpy(warp->registers + offset, &mask, sizeof mask);
}

void exchange_predicate_not(struct warp *warp, const struct op *op)
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

void exchange_predicate_logic(struct lowering *lowering, unsigned boolean, uint32_t d, uint32_t a,
                              uint32_t b)
{
    static const step_handler handlers[] = {predicate_and, predicate_or, predicate_xor};
    struct op *op = lower_step(lowering, handlers[boolean]);
    op->d = d;
    op->a = a;
    op->b = b;
}

/* ---- Numbers of lanes -------------------------------------------------------------------------
 */

static uint32_t read_lane(const struct warp *warp, uint32_t offset, unsigned lane)
{
    uint32_t value;
    memcpy(&value, warp->registers + offset + 4 * lane, sizeof value);
    return value;
}

static void write_lane(const struct warp *warp, uint32_t offset, unsigned lane, uint32_t value)
{
    memcpy(warp->registers + offset + 4 * lane, &value, sizeof value);
}

static uint64_t read_wide(const struct warp *warp, uint32_t offset, unsigned lane)
{
    uint64_t value;
    memcpy(&value, warp->registers + offset + 8 * lane, sizeof value);
    return value;
}

#define EACH_ACTIVE(lane)                                                                          \
    for (uint32_t left_ = warp->active, lane = 0;                                                  \
         left_ != 0 && ((lane = (uint32_t)__builtin_ctz(left_)), true); left_ &= left_ - 1)

/* ---- Shuffles and votes -----------------------------------------------------------------------
 */

enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };

/* PTX ISA, "shfl": from which lane, and whether that lane is in range. op->e: predicate or none. */
static void shuffle(struct warp *warp, const struct op *op)
{
    uint32_t result[LANES], in_range = 0;
    EACH_ACTIVE(lane)
    {
        const uint32_t b = read_lane(warp, op->b, lane) & 31, c = read_lane(warp, op->c, lane);
        const uint32_t segment = c >> 8 & 31, clamp = c & 31;
        const int most = (int)((lane & segment) | (clamp & ~segment));
        const uint32_t least = lane & segment;
        int from = (int)lane;
        bool good = false;
        switch ((enum shuffle)op->imm) {
        case SHUFFLE_UP:
            from = (int)lane - (int)b;
            good = from >= most;
            break;
        case SHUFFLE_DOWN:
            from = (int)(lane + b);
            good = from <= most;
            break;
        case SHUFFLE_BUTTERFLY:
            from = (int)(lane ^ b);
            good = from <= most;
            break;
        case SHUFFLE_INDEX:
            from = (int)(least | (b & ~segment));
            good = from <= most;
            break;
        }
        in_range |= good ? UINT32_C(1) << lane : 0;
        result[lane] = read_lane(warp, op->a, good ? (unsigned)from & 31 : lane);
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result[lane]);
    if (op->e != UINT32_MAX)
        write_mask(warp, op->e, in_range);
}

enum vote { VOTE_ALL, VOTE_ANY, VOTE_UNIFORM, VOTE_BALLOT, VOTE_ACTIVE };

static void vote(struct warp *warp, const struct op *op)
{
    const enum vote kind = (enum vote)op->imm;
    const uint32_t yes = kind == VOTE_ACTIVE ? warp->active : read_mask(warp, op->a) & warp->active;
    if (kind == VOTE_BALLOT || kind == VOTE_ACTIVE) {
        EACH_ACTIVE(lane) write_lane(warp, op->d, lane, yes);
        return;
    }
    bool outcome = kind == VOTE_ALL   ? yes == warp->active
                   : kind == VOTE_ANY ? yes != 0
                                      : yes == 0 || yes == warp->active;
    write_mask(warp, op->d, outcome ? FULL_MASK : 0);
}

/* match.any: who has my value; match.all: everybody, if all have the same. */
static void match(struct warp *warp, const struct op *op)
{
    const bool wide = op->width == WIDTH_64, all = op->imm != 0;
    uint32_t result[LANES], agree = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t mine = wide ? read_wide(warp, op->a, lane) : read_lane(warp, op->a, lane);
        uint32_t same = 0;
        for (uint32_t left = warp->active; left != 0; left &= left - 1) {
            const unsigned other = (unsigned)__builtin_ctz(left);
            uint64_t theirs = wide ? read_wide(warp, op->a, other) : read_lane(warp, op->a, other);
            same |= theirs == mine ? UINT32_C(1) << other : 0;
        }
        result[lane] = all && same != warp->active ? 0 : same;
        agree |= same == warp->active ? UINT32_C(1) << lane : 0;
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result[lane]);
    if (op->e != UINT32_MAX)
        write_mask(warp, op->e, agree);
}

enum reduction {
    REDUX_ADD,
    REDUX_MIN_U,
    REDUX_MAX_U,
    REDUX_MIN_S,
    REDUX_MAX_S,
    REDUX_AND,
    REDUX_OR,
    REDUX_XOR
};

static void redux(struct warp *warp, const struct op *op)
{
    uint32_t result = read_lane(warp, op->a, (unsigned)__builtin_ctz(warp->active));
    for (uint32_t left = warp->active & (warp->active - 1); left != 0; left &= left - 1) {
        const uint32_t value = read_lane(warp, op->a, (unsigned)__builtin_ctz(left));
        switch ((enum reduction)op->imm) {
        case REDUX_ADD:
            result += value;
            break;
        case REDUX_MIN_U:
            result = value < result ? value : result;
            break;
        case REDUX_MAX_U:
            result = value > result ? value : result;
            break;
        case REDUX_MIN_S:
            result = (int32_t)value < (int32_t)result ? value : result;
            break;
        case REDUX_MAX_S:
            result = (int32_t)value > (int32_t)result ? value : result;
            break;
        case REDUX_AND:
            result &= value;
            break;
        case REDUX_OR:
            result |= value;
            break;
        case REDUX_XOR:
            result ^= value;
            break;
        }
    }
    EACH_ACTIVE(lane) write_lane(warp, op->d, lane, result);
}

/* ---- The carry flag ---------------------------------------------------------------------------
 */

enum carry { CARRY_ADD, CARRY_SUB, CARRY_MAD_LO, CARRY_MAD_HI };

/* imm: kind | reads the flag << 4 | writes it << 5. The flag is the predicate at op->guard. */
static void carry(struct warp *warp, const struct op *op)
{
    const enum carry kind = (enum carry)(op->imm & 15);
    const bool reads = (op->imm & 16) != 0, writes = (op->imm & 32) != 0;
    const bool wide = op->width == WIDTH_64;
    const uint32_t flag = read_mask(warp, op->guard);
    uint32_t out = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t in = reads ? flag >> lane & 1 : 0;
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
        uint64_t result;
        bool over;
        if (kind == CARRY_SUB) { /* the flag is a borrow */
            __extension__ __int128 difference = (__int128)a - b - (__int128)in;
            result = (uint64_t)difference;
            over = difference < 0;
        } else {
            __extension__ unsigned __int128 sum = (unsigned __int128)a + b + in;
            result = (uint64_t)sum;
            over = (uint64_t)(sum >> (wide ? 64 : 32)) != 0;
        }
        out |= over ? UINT32_C(1) << lane : 0;
        memcpy(warp->registers + op->d + (wide ? 8 : 4) * lane, &result, wide ? 8 : 4);
    }
    if (writes)
        write_mask(warp, op->guard, out);
}

/* ---- Barriers ---------------------------------------------------------------------------------
 */

static const struct op *barrier(struct warp *warp, const struct op *op)
{
    struct group *group = warp->group;
    const unsigned first = (unsigned)__builtin_ctz(warp->active);
    const uint32_t number = read_lane(warp, op->a, first);
    const uint32_t count = op->b == UINT32_MAX ? 0 : read_lane(warp, op->b, first);
    if (number >= BARRIERS || count % LANES != 0 || count > CAP_BLOCK_THREADS) {
        struct fault_site site = {.op = op, .lane = first};
        fault_report(warp, &site, "bad barrier", false,
                     "uses barrier %u with %u threads (barriers are 0 to 15, threads a multiple of "
                     "32)",
                     number, count);
        launch_stop(warp);
        return NULL;
    }
    if (op->negated) { /* bar.arrive does not wait */
        warp->runner->barrier_arrived[number] += (uint32_t)__builtin_popcount(warp->active);
        return op + 1;
    }
    group->state = GROUP_BARRIER;
    group->barrier = number;
    group->barrier_count = count;
    group->next = op + 1;
    group->at = op;
    group->reduction = (uint8_t)op->imm;
    if (op->imm != BARRIER_PLAIN) {
        group->vote = read_mask(warp, op->c);
        group->result = op->d;
    }
    return NULL;
}

static void nothing(struct warp *warp, const struct op *op)
{
    (void)warp;
    (void)op;
}

static bool lower_barrier(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    size_t count = instruction->operand_count;
    if (lower_has(instruction, "warp")) { /* lanes of a warp see each other's writes at once */
        (void)lower_step(lowering, nothing);
        return true;
    }
    const bool red = lower_has(instruction, "red");
    enum barrier_reduction reduction = BARRIER_PLAIN;
    uint32_t d = 0, predicate = 0;
    if (red) {
        if (count < 3) {
            lower_refuse(lowering, "it is not understood");
            return true;
        }
        reduction = lower_has(instruction, "popc")  ? BARRIER_POPC
                    : lower_has(instruction, "and") ? BARRIER_AND
                                                    : BARRIER_OR;
        d = lower_result(lowering, &operands[0],
                         reduction == BARRIER_POPC ? WIDTH_32 : WIDTH_PREDICATE);
        predicate = lower_value(lowering, &operands[count - 1], WIDTH_PREDICATE, PTX_PRED);
        ++operands;
        count -= 2;
    }
    if (count < 1 || count > 2) {
        lower_refuse(lowering, "it is not understood");
        return true;
    }
    uint32_t number = lower_value(lowering, &operands[0], WIDTH_32, PTX_U32);
    uint32_t threads =
        count == 2 ? lower_value(lowering, &operands[1], WIDTH_32, PTX_U32) : UINT32_MAX;
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = barrier;
    op->a = number;
    op->b = threads;
    op->c = predicate;
    op->d = d;
    op->imm = reduction;
    op->negated = lower_has(instruction, "arrive");
    return true;
}

/* ---- Lowering ---------------------------------------------------------------------------------
 */

/* d or d|p: the register and the predicate. */
static uint32_t result_pair(struct lowering *lowering, const struct ptx_operand *operand,
                            enum width width, uint32_t *predicate)
{
    *predicate = UINT32_MAX;
    if (operand->kind != PTX_OPERAND_PAIR)
        return lower_result(lowering, operand, width);
    *predicate = lower_result(lowering, &operand->children[1], WIDTH_PREDICATE);
    return lower_result(lowering, &operand->children[0], width);
}

static int choose(const struct ptx_instruction *instruction, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        if (lower_has(instruction, names[i]))
            return (int)i;
    return -1;
}

static void lower_shuffle(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    const struct ptx_operand *operands = instruction->operands;
    const int mode = choose(instruction, modes, COUNT_OF(modes));
    const bool sync = lower_has(instruction, "sync");
    if (mode < 0 || instruction->operand_count != (sync ? 5u : 4u)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t predicate;
    uint32_t a = lower_value(lowering, &operands[1], WIDTH_32, PTX_B32);
    uint32_t b = lower_value(lowering, &operands[2], WIDTH_32, PTX_B32);
    uint32_t c = lower_value(lowering, &operands[3], WIDTH_32, PTX_B32);
    uint32_t d = result_pair(lowering, &operands[0], WIDTH_32, &predicate);
    struct op *op = lower_step(lowering, shuffle);
    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->e = predicate;
    op->imm = (uint64_t)mode;
}

static void lower_vote(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const kinds[] = {"all", "any", "uni", "ballot"};
    const int kind = choose(instruction, kinds, COUNT_OF(kinds));
    if (kind < 0 || instruction->operand_count < 2) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t a = lower_value(lowering, &instruction->operands[1], WIDTH_PREDICATE, PTX_PRED);
    uint32_t d = lower_result(lowering, &instruction->operands[0],
                              kind == VOTE_BALLOT ? WIDTH_32 : WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, vote);
    op->d = d;
    op->a = a;
    op->imm = (uint64_t)kind;
}

static void lower_match(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const enum width width = lower_register_width(lower_type(instruction));
    if (instruction->operand_count != 3 || (width != WIDTH_32 && width != WIDTH_64)) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t predicate;
    uint32_t a = lower_value(lowering, &instruction->operands[1], width, PTX_B32);
    uint32_t d = result_pair(lowering, &instruction->operands[0], WIDTH_32, &predicate);
    struct op *op = lower_step(lowering, match);
    op->d = d;
    op->a = a;
    op->e = predicate;
    op->width = (uint8_t)width;
    op->imm = lower_has(instruction, "all");
}

static void lower_redux(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const kinds[] = {"add", "min", "max", "min", "max", "and", "or", "xor"};
    int kind = choose(instruction, kinds, COUNT_OF(kinds));
    const enum ptx_type type = lower_type(instruction);
    if (kind < 0 || instruction->operand_count != 3 || ptx_type_bytes(type) != 4 ||
        ptx_type_is_float(type)) {
        lower_refuse(lowering, "the emulator does not run this instruction");
        return;
    }
    if ((kind == REDUX_MIN_U || kind == REDUX_MAX_U) && type == PTX_S32)
        kind += REDUX_MIN_S - REDUX_MIN_U;
    uint32_t a = lower_value(lowering, &instruction->operands[1], WIDTH_32, PTX_B32);
    uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_32);
    struct op *op = lower_step(lowering, redux);
    op->d = d;
    op->a = a;
    op->imm = (uint64_t)kind;
}

/* add.cc, addc, sub.cc, subc, mad.lo.cc, madc.hi … */
static bool lower_carry(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const char *opcode = instruction->opcode;
    const bool writes = lower_has(instruction, "cc");
    const size_t length = strlen(opcode);
    const bool reads = length == 4 && opcode[3] == 'c';
    if (!writes && !reads)
        return false;
    static const char *const names[] = {"add", "sub", "mad"};
    int kind = -1;
    for (size_t i = 0; i < COUNT_OF(names); ++i)
        if (strncmp(opcode, names[i], 3) == 0 && length == (reads ? 4u : 3u))
            kind = (int)i;
    if (kind < 0)
        return false;
    const enum ptx_type type = lower_type(instruction);
    const enum width width = lower_register_width(type);
    const size_t sources = kind == 2 ? 3 : 2;
    if ((width != WIDTH_32 && width != WIDTH_64) || instruction->operand_count != sources + 1) {
        lower_refuse(lowering, "it is not understood");
        return true;
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
    return true;
}

/* isspacep.SPACE p, a */
static void is_space(struct warp *warp, const struct op *op)
{
    uint32_t result = 0;
    EACH_ACTIVE(lane)
    {
        const uint64_t address = read_wide(warp, op->a, lane);
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

static void lower_is_space(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const char *const names[] = {"shared", "local", "const", "param", "global"};
    static const enum ptx_space spaces[] = {PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM,
                                            PTX_GLOBAL};
    const int which = choose(instruction, names, COUNT_OF(names));
    if (instruction->operand_count != 2 || which < 0) {
        lower_refuse(lowering, "it is not understood");
        return;
    }
    uint32_t a = lower_value(lowering, &instruction->operands[1], WIDTH_64, PTX_U64);
    uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_PREDICATE);
    struct op *op = lower_step(lowering, is_space);
    op->d = d;
    op->a = a;
    op->imm = spaces[which];
}

bool exchange_lower(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    static const struct {
        const char *opcode;
        void (*lower)(struct lowering *lowering, const struct ptx_instruction *instruction);
    } table[] = {{"shfl", lower_shuffle},
                 {"vote", lower_vote},
                 {"match", lower_match},
                 {"redux", lower_redux},
                 {"isspacep", lower_is_space}};
    const char *opcode = instruction->opcode;
    for (size_t i = 0; i < COUNT_OF(table); ++i)
        if (strcmp(opcode, table[i].opcode) == 0) {
            table[i].lower(lowering, instruction);
            return true;
        }
    if (strcmp(opcode, "bar") == 0 || strcmp(opcode, "barrier") == 0)
        return lower_barrier(lowering, instruction);
    if (strcmp(opcode, "activemask") == 0 && instruction->operand_count == 1) {
        uint32_t d = lower_result(lowering, &instruction->operands[0], WIDTH_32);
        struct op *op = lower_step(lowering, vote);
        op->d = d;
        op->imm = VOTE_ACTIVE;
        return true;
    }
    return lower_carry(lowering, instruction);
}

/* lower_call.c - calls: parameters, results, and what the CUDA runtime brings. */
#include "emulator/lower.h"

#include "demangle.h"

/* ---- Parameters in registers -------------------------------------------------------------------
 *
 * Functions may take and give registers (.func (.reg .u32 r) f (.reg .u32 n)). They go through the
 * frames' memory like others: the caller writes values to places of its own and reads results from
 * them, the callee reads its formals when it begins and writes its results before it returns. */

unsigned lower_formal_bytes(const struct ptx_symbol *formal)
{
    return formal->kind == PTX_SYMBOL_REGISTER ? ptx_type_bytes(formal->type)
                                               : (unsigned)formal->bytes;
}

/* Between a register and a place in the frame. */
static void move_register(struct lowering *lowering, uint32_t slot, unsigned bytes, uint32_t place,
                          bool is_store)
{
    struct access *access = arena_alloc(lowering->arena, sizeof *access);
    if (access == NULL) {
        lowering->failed = true;
        return;
    }
    *access = (struct access){.space = PTX_LOCAL,
                              .address = ADDRESS_FRAME,
                              .is_store = is_store,
                              .element_bytes = (uint8_t)bytes,
                              .register_bytes = (uint8_t)bytes,
                              .count = 1,
                              .offset = place,
                              .registers = {slot}};
    lower_step(lowering, is_store ? access_store : access_load)->detail = access;
}

/* A place in the frame of the function that is being lowered. */
static uint32_t new_place(struct lowering *lowering)
{
    const uint32_t place = lowering->program->local_bytes;
    if (place + 16 > CAP_LOCAL_BYTES) {
        lower_refuse(lowering, "it needs too much memory for parameters");
        return place;
    }
    lowering->program->local_bytes += 16;
    lowering->program->local_padding = 0;
    return place;
}

void lower_receive_formals(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    for (size_t i = 0; i < body->formal_count && body->face.is_entry; ++i)
        if (body->formals[i]->kind == PTX_SYMBOL_REGISTER) {
            char name[DEMANGLED_NAME_BYTES];
            lowering->hopeless = true;
            lower_refuse(lowering, "`%s`: a kernel's parameters are .param variables",
                         demangle_name(body->face.name, name));
            return;
        }
    for (size_t i = 0; i < body->formal_count; ++i)
        if (body->formals[i]->kind == PTX_SYMBOL_REGISTER &&
            lowering->slots[body->formals[i]->first] != UINT32_MAX)
            move_register(lowering, lowering->slots[body->formals[i]->first],
                          lower_formal_bytes(body->formals[i]), lowering->program->parameters[i],
                          false);
}

void lower_give_results(struct lowering *lowering)
{
    const struct ptx_body *body = lowering->body;
    for (size_t i = 0; i < body->return_count; ++i)
        if (body->returns[i]->kind == PTX_SYMBOL_REGISTER &&
            lowering->slots[body->returns[i]->first] != UINT32_MAX)
            move_register(lowering, lowering->slots[body->returns[i]->first],
                          lower_formal_bytes(body->returns[i]), lowering->program->returns[i],
                          true);
}

/* The value of an operand that is no .param variable, put into a place (an argument), or the place
 * from which it will be read (a result). */
static uint32_t place_operand(struct lowering *lowering, const struct ptx_operand *operand,
                              bool is_result, unsigned bytes)
{
    const enum width width = bytes <= 2 ? WIDTH_16 : bytes == 4 ? WIDTH_32 : WIDTH_64;
    const uint32_t place = new_place(lowering);
    if (!is_result && !lower_refused(lowering))
        move_register(lowering, lower_value(lowering, operand, width, PTX_B64), bytes, place, true);
    return place;
}

static void take_results(struct lowering *lowering, const struct ptx_operand *list,
                         const struct call *call)
{
    for (size_t i = 0; list != NULL && i < list->child_count && !lower_refused(lowering); ++i) {
        const struct ptx_operand *operand = &list->children[i];
        if (operand->kind != PTX_OPERAND_REGISTER)
            continue;
        const unsigned bytes = call->result_bytes[i];
        const enum width width = bytes <= 2 ? WIDTH_16 : bytes == 4 ? WIDTH_32 : WIDTH_64;
        move_register(lowering, lower_result(lowering, operand, width), bytes, call->results[i],
                      false);
    }
}

/* ---- Calls ------------------------------------------------------------------------------------
 */

/* What a register or number in place of parameter `index` has in bytes; 0: it cannot stand there.
 */
static unsigned operand_bytes(const struct ptx_operand *operand, const struct ptx_body *callee,
                              bool is_result, size_t index)
{
    if (operand->kind == PTX_OPERAND_REGISTER && operand->symbol->type != PTX_PRED)
        return ptx_type_bytes(operand->symbol->type);
    if (is_result || callee == NULL || index >= callee->formal_count ||
        (operand->kind != PTX_OPERAND_INTEGER && operand->kind != PTX_OPERAND_FLOAT &&
         operand->kind != PTX_OPERAND_FLOAT32))
        return 0;
    return lower_formal_bytes(callee->formals[index]);
}

/* The frame offsets of the parameters in a list. */
static bool parameter_list(struct lowering *lowering, const struct ptx_operand *list,
                           const struct ptx_body *callee, bool is_result, const uint32_t **offsets,
                           const uint32_t **bytes, size_t *count)
{
    uint32_t *places = arena_array(lowering->arena, list->child_count + 1, sizeof *places);
    uint32_t *sizes = arena_array(lowering->arena, list->child_count + 1, sizeof *sizes);
    if (places == NULL || sizes == NULL) {
        lowering->failed = true;
        return false;
    }
    for (size_t i = 0; i < list->child_count; ++i) {
        const struct ptx_operand *operand = &list->children[i];
        const struct ptx_symbol *symbol = operand->symbol;
        struct access access = {.space = PTX_PARAM};
        const unsigned size = operand_bytes(operand, callee, is_result, i);
        if (size > 0 && size <= 8) {
            sizes[i] = size;
            places[i] = place_operand(lowering, operand, is_result, size);
            continue;
        }
        if (operand->kind != PTX_OPERAND_SYMBOL || symbol == NULL ||
            symbol->kind != PTX_SYMBOL_VARIABLE || symbol->space != PTX_PARAM) {
            lower_refuse(lowering, "a parameter is a .param variable or a register");
            return false;
        }
        lower_variable_address(lowering, symbol, 0, &access);
        if (access.address != ADDRESS_FRAME) {
            lower_refuse(lowering, "a kernel's own parameter cannot be passed on");
            return false;
        }
        places[i] = (uint32_t)access.offset;
        sizes[i] = (uint32_t)symbol->bytes;
    }
    *offsets = places;
    *bytes = sizes;
    *count = list->child_count;
    return true;
}

static bool find_builtin(const struct ptx_body *body, unsigned address_bytes, struct call *call)
{
    static const struct {
        const char *name;
        size_t arguments, results;
        int kind;
    } builtins[] = {{"vprintf", 2, 1, CALL_PRINTF},
                    {"malloc", 1, 1, CALL_MALLOC},
                    {"free", 1, 0, CALL_FREE},
                    {"__assertfail", 5, 0, CALL_ASSERT}};
    static const uint32_t bytes[][5] = {{8, 8}, {8}, {8}, {8, 8, 4, 8, 8}};
    for (size_t i = 0; i < COUNT_OF(builtins); ++i) {
        if (strcmp(body->face.name, builtins[i].name) != 0)
            continue;
        if (call->argument_count != builtins[i].arguments ||
            call->result_count != builtins[i].results)
            return false;
        for (size_t a = 0; a < call->argument_count; ++a)
            if (call->argument_bytes[a] != (bytes[i][a] == 8 ? address_bytes : bytes[i][a]))
                return false;
        call->kind = builtins[i].kind;
        return true;
    }
    return false;
}

/* Parameters must agree in number and size, since they are copied from frame to frame. */
bool call_fits(const struct call *call, const struct ptx_body *body)
{
    if (call->argument_count != body->formal_count || call->result_count != body->return_count)
        return false;
    for (size_t i = 0; i < call->argument_count; ++i)
        if (call->argument_bytes[i] != lower_formal_bytes(body->formals[i]))
            return false;
    for (size_t i = 0; i < call->result_count; ++i)
        if (call->result_bytes[i] != lower_formal_bytes(body->returns[i]))
            return false;
    return true;
}

void lower_call(struct lowering *lowering, const struct ptx_instruction *instruction)
{
    const struct ptx_operand *operands = instruction->operands;
    const size_t count = instruction->operand_count;
    struct call *call = arena_alloc(lowering->arena, sizeof *call);
    if (call == NULL) {
        lowering->failed = true;
        return;
    }
    size_t next = 0;
    const struct ptx_operand *results =
        count > 0 && operands[0].kind == PTX_OPERAND_LIST ? &operands[next++] : NULL;
    const struct ptx_symbol *named = next < count ? operands[next].symbol : NULL;
    const struct ptx_body *known =
        named != NULL && named->kind == PTX_SYMBOL_FUNCTION ? named->body : NULL;
    if (results != NULL && !parameter_list(lowering, results, known, true, &call->results,
                                           &call->result_bytes, &call->result_count))
        return;
    if (next >= count) {
        lower_refuse(lowering, "it names no function");
        return;
    }
    const struct ptx_operand *callee = &operands[next++];
    if (next < count && operands[next].kind == PTX_OPERAND_LIST &&
        !parameter_list(lowering, &operands[next], known, false, &call->arguments,
                        &call->argument_bytes, &call->argument_count))
        return;
    call->kernel = lowering->kernel;
    if (callee->kind == PTX_OPERAND_REGISTER && callee->symbol != NULL) {
        call->kind = CALL_INDIRECT;
        call->pointer_bytes = lower_register_width(callee->symbol->type) == WIDTH_32 ? 4 : 8;
        call->pointer =
            lower_value(lowering, callee, call->pointer_bytes == 4 ? WIDTH_32 : WIDTH_64, PTX_U64);
    } else if (callee->kind == PTX_OPERAND_SYMBOL && callee->symbol != NULL &&
               callee->symbol->kind == PTX_SYMBOL_FUNCTION) {
        const struct ptx_body *body = callee->symbol->body;
        char name[DEMANGLED_NAME_BYTES];
        call->kind = CALL_FUNCTION;
        if (body->face.is_entry) {
            lower_refuse(lowering, "a kernel cannot be called");
        } else if (!body->has_body) {
            if (!find_builtin(body, lowering->emulator->module->address_bytes, call))
                lower_refuse(lowering, "the function `%s` has no body",
                             demangle_name(body->face.name, name));
        } else if (!call_fits(call, body)) {
            lower_refuse(lowering, "the parameters do not fit those of `%s`",
                         demangle_name(body->face.name, name));
        } else {
            call->target = kernel_function_at(lowering->emulator, lowering->kernel,
                                              kernel_function_address(lowering->emulator, body));
        }
    } else {
        lower_refuse(lowering, "it names no function");
    }
    struct op *op = lower_emit(lowering, OP_JUMP);
    op->run.jump = call->kind >= CALL_PRINTF ? builtin_call : warp_call;
    op->detail = call;
    op->e = lowering->meets;
    take_results(lowering, results, call);
}

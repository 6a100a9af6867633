/* lower_call.c - calls: parameters, results, and what the CUDA runtime brings. */
#include "emulator/lower.h"

/* The frame offsets of the .param variables in a list. */
static bool parameter_list(struct lowering *lowering, const struct ptx_operand *list,
                           const uint32_t **offsets, const uint32_t **bytes, size_t *count)
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
        if (operand->kind != PTX_OPERAND_SYMBOL || symbol == NULL ||
            symbol->kind != PTX_SYMBOL_VARIABLE || symbol->space != PTX_PARAM) {
            lower_refuse(lowering, "parameters that are no .param variables are not understood");
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
        if (call->argument_bytes[i] != body->formals[i]->bytes ||
            body->formals[i]->kind != PTX_SYMBOL_VARIABLE)
            return false;
    for (size_t i = 0; i < call->result_count; ++i)
        if (call->result_bytes[i] != body->returns[i]->bytes ||
            body->returns[i]->kind != PTX_SYMBOL_VARIABLE)
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
    if (next < count && operands[next].kind == PTX_OPERAND_LIST &&
        !parameter_list(lowering, &operands[next++], &call->results, &call->result_bytes,
                        &call->result_count))
        return;
    if (next >= count) {
        lower_refuse(lowering, "it names no function");
        return;
    }
    const struct ptx_operand *callee = &operands[next++];
    if (next < count && operands[next].kind == PTX_OPERAND_LIST &&
        !parameter_list(lowering, &operands[next], &call->arguments, &call->argument_bytes,
                        &call->argument_count))
        return;
    call->kernel = lowering->kernel;
    if (callee->kind == PTX_OPERAND_REGISTER) {
        call->kind = CALL_INDIRECT;
        call->pointer_bytes = lower_register_width(callee->symbol->type) == WIDTH_32 ? 4 : 8;
        call->pointer =
            lower_value(lowering, callee, call->pointer_bytes == 4 ? WIDTH_32 : WIDTH_64, PTX_U64);
    } else if (callee->kind == PTX_OPERAND_SYMBOL && callee->symbol != NULL &&
               callee->symbol->kind == PTX_SYMBOL_FUNCTION) {
        const struct ptx_body *body = callee->symbol->body;
        call->kind = CALL_FUNCTION;
        if (!body->has_body) {
            if (!find_builtin(body, lowering->emulator->module->address_bytes, call))
                lower_refuse(lowering, "the function `%.100s` has no body", body->face.name);
        } else if (!call_fits(call, body)) {
            lower_refuse(lowering, "the parameters do not fit those of `%.100s`", body->face.name);
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
}

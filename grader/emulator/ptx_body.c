/* ptx_body.c - the inside of a function: statements and instructions. */
#include "emulator/opcodes.h"
#include "emulator/ptx_parser.h"

/* ---- Instructions --------------------------------------------------------------------------- */

/* Remembers every operand whose name is still a riddle. The tree is at most CAP_OPERAND_DEPTH deep.
 */
static void collect_pending(struct ptx_parser *parser, struct ptx_operand *operand)
{
    for (size_t i = 0; i < operand->child_count; ++i)
        collect_pending(parser, &operand->children[i]);
    if (operand->kind != PTX_OPERAND_SYMBOL || operand->symbol != NULL)
        return;
    struct ptx_operand **list = arena_grow(parser->arena, parser->pending, parser->pending_count,
                                           &parser->pending_capacity, sizeof(struct ptx_operand *));
    if (list == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    parser->pending = list;
    list[parser->pending_count++] = operand;
}

static struct ptx_instruction *new_instruction(struct ptx_parser *parser)
{
    struct ptx_body *body = parser->body;
    struct ptx_instruction *list =
        arena_grow(parser->arena, body->instructions, body->instruction_count,
                   &body->instruction_capacity, sizeof *list);
    if (list == NULL) {
        ptx_fail_memory(parser);
        return NULL;
    }
    body->instructions = list;
    if (++parser->instruction_count > CAP_INSTRUCTIONS) {
        ptx_fail(parser, parser->lexer.token.line, "more than %d instructions", CAP_INSTRUCTIONS);
        return NULL;
    }
    struct ptx_instruction *instruction = &list[body->instruction_count++];
    *instruction = (struct ptx_instruction){0};
    return instruction;
}

/* "ld" ".global" ".f32": the whole for messages, the pieces for the decoder. */
static void parse_opcode(struct ptx_parser *parser, struct ptx_instruction *instruction,
                         const struct ptx_token *opcode)
{
    char text[256];
    size_t used = opcode->length < sizeof text ? opcode->length : sizeof text - 1;
    memcpy(text, opcode->text, used);
    const char *modifiers[CAP_MODIFIERS];
    unsigned count = 0;
    while (parser->lexer.token.kind == PTX_TOKEN_DOTTED && !parser->failed) {
        const struct ptx_token token = parser->lexer.token;
        if (count == CAP_MODIFIERS) {
            ptx_fail(parser, token.line, "an instruction has more than %d modifiers",
                     CAP_MODIFIERS);
            return;
        }
        modifiers[count++] = ptx_name_of(parser, token.text, token.length)->text;
        if (token.length + 1 < sizeof text - used) {
            text[used++] = '.';
            memcpy(text + used, token.text, token.length);
            used += token.length;
        }
        ptx_lexer_advance(&parser->lexer);
    }
    const char **kept = arena_array(parser->arena, count, sizeof(const char *));
    if (kept == NULL) {
        ptx_fail_memory(parser);
        return;
    }
    if (count > 0)
        memcpy(kept, modifiers, count * sizeof(const char *));
    instruction->opcode = ptx_name_of(parser, opcode->text, opcode->length)->text;
    instruction->known = opcode_find(instruction->opcode);
    instruction->text = ptx_name_of(parser, text, used)->text;
    instruction->modifiers = kept;
    instruction->modifier_count = count;
}

static void parse_instruction(struct ptx_parser *parser, const struct ptx_operand *guard,
                              const struct ptx_token *opcode, bool inline_asm)
{
    struct ptx_instruction *instruction = new_instruction(parser);
    if (instruction == NULL)
        return;
    instruction->line = opcode->line;
    instruction->location = parser->location;
    instruction->inline_asm = inline_asm;
    if (guard != NULL) {
        struct ptx_operand *kept = arena_alloc(parser->arena, sizeof *kept);
        if (kept == NULL) {
            ptx_fail_memory(parser);
            return;
        }
        *kept = *guard;
        instruction->guard = kept;
    }
    parse_opcode(parser, instruction, opcode);
    struct ptx_operand_list list = {0};
    size_t budget = CAP_OPERANDS;
    if (!ptx_at(parser, ';'))
        do {
            struct ptx_operand operand = ptx_parse_operand(parser, 0, &budget);
            if (parser->failed)
                return;
            ptx_add_operand(parser, &list, &operand);
        } while (ptx_accept(parser, ','));
    instruction->operands = list.items;
    instruction->operand_count = list.count;
    for (size_t i = 0; i < list.count; ++i)
        collect_pending(parser, &list.items[i]);
    ptx_require(parser, ';');
}

/* ---- Statements ----------------------------------------------------------------------------- */

/* Labels are kept under "name<scope>", a text that no identifier has, so that equal labels of many
 * scopes cost nothing. NULL: the name is too long. */
static struct ptx_name *label_name(struct ptx_parser *parser, const char *text, size_t length,
                                   unsigned scope)
{
    char key[512];
    if (length > sizeof key - 16) {
        ptx_fail(parser, parser->lexer.token.line, "a label of %zu characters is too long", length);
        return NULL;
    }
    int used = snprintf(key, sizeof key, "%.*s<%u>", (int)length, text, scope);
    return ptx_name_of(parser, key, (size_t)used);
}

static struct ptx_symbol *add_label(struct ptx_parser *parser, const struct ptx_token *token)
{
    struct ptx_symbol *label = ptx_symbol_new(parser, PTX_SYMBOL_LABEL, token);
    struct ptx_name *name =
        label == NULL ? NULL : label_name(parser, token->text, token->length, label->scope);
    if (name == NULL || parser->failed)
        return NULL;
    if (name->label_of == parser->body) {
        ptx_fail(parser, token->line, "label `%.200s` is declared twice (first in line %u)",
                 label->name, name->label->line);
        return NULL;
    }
    label->position = (unsigned)parser->body->instruction_count;
    name->label = label;
    name->label_of = parser->body;
    return label;
}

/* NAME: .branchtargets L1, L2;   NAME: .callprototype (…) _ (…); */
static void parse_labelled_directive(struct ptx_parser *parser, struct ptx_symbol *label)
{
    const bool prototype = ptx_at_dotted(parser, "callprototype");
    label->kind = prototype ? PTX_SYMBOL_PROTOTYPE : PTX_SYMBOL_TARGETS;
    ptx_lexer_advance(&parser->lexer);
    if (prototype) {
        struct ptx_symbol **ignored = NULL;
        size_t count = 0;
        if (ptx_at(parser, '('))
            ptx_parse_parameters(parser, &ignored, &count, true, true);
        if (parser->lexer.token.kind == PTX_TOKEN_NAME)
            ptx_lexer_advance(&parser->lexer);
        if (ptx_at(parser, '('))
            ptx_parse_parameters(parser, &ignored, &count, false, true);
        while (parser->lexer.token.kind == PTX_TOKEN_DOTTED ||
               parser->lexer.token.kind == PTX_TOKEN_INTEGER)
            ptx_lexer_advance(&parser->lexer);
    } else {
        struct ptx_operand_list list = {0};
        do {
            size_t budget = 2;
            struct ptx_operand operand = ptx_parse_operand(parser, 0, &budget);
            if (parser->failed)
                return;
            ptx_add_operand(parser, &list, &operand);
        } while (ptx_accept(parser, ','));
        label->targets = list.items;
        label->target_count = list.count;
        for (size_t i = 0; i < list.count; ++i)
            collect_pending(parser, &list.items[i]);
    }
    ptx_require(parser, ';');
}

static void parse_directive(struct ptx_parser *parser)
{
    if (ptx_at_space(parser))
        ptx_parse_declaration(parser, false);
    else if (ptx_at_dotted(parser, "loc"))
        ptx_parse_location(parser);
    else if (ptx_at_dotted(parser, "pragma"))
        ptx_parse_pragma(parser);
    else if (ptx_at_dotted(parser, "extern") || ptx_at_dotted(parser, "visible") ||
             ptx_at_dotted(parser, "weak")) {
        bool is_extern = ptx_at_dotted(parser, "extern");
        ptx_lexer_advance(&parser->lexer);
        if (ptx_at_space(parser))
            ptx_parse_declaration(parser, is_extern);
        else
            ptx_expected(parser, "a variable");
    } else
        ptx_expected(parser, "an instruction, a label or a directive");
}

/* A label, or an instruction that may have a guard. */
static void parse_labelled_or_instruction(struct ptx_parser *parser)
{
    struct ptx_operand guard = {0};
    const bool inline_asm = parser->lexer.in_inline_asm;
    const bool guarded = ptx_accept(parser, '@');
    if (guarded) {
        size_t budget = 4;
        guard = ptx_parse_operand(parser, 0, &budget);
        if (parser->failed)
            return;
        if (guard.kind != PTX_OPERAND_REGISTER || guard.symbol->type != PTX_PRED) {
            ptx_expected(parser, "a predicate register before this");
            return;
        }
    }
    const struct ptx_token token = parser->lexer.token;
    if (token.kind != PTX_TOKEN_NAME) {
        ptx_expected(parser, "an instruction, a label or a directive");
        return;
    }
    ptx_lexer_advance(&parser->lexer);
    if (!guarded && ptx_accept(parser, ':')) {
        struct ptx_symbol *label = add_label(parser, &token);
        if (label != NULL &&
            (ptx_at_dotted(parser, "branchtargets") || ptx_at_dotted(parser, "calltargets") ||
             ptx_at_dotted(parser, "callprototype")))
            parse_labelled_directive(parser, label);
        return;
    }
    parse_instruction(parser, guarded ? &guard : NULL, &token, inline_asm);
}

static void note_inline_asm(struct ptx_parser *parser)
{
    if (parser->lexer.inline_asm_line == 0)
        return;
    struct ptx_function *face = &parser->body->face;
    if (face->inline_asm_count++ == 0)
        face->inline_asm_line = parser->lexer.inline_asm_line;
    parser->lexer.inline_asm_line = 0;
}

/* ---- The end of a function ------------------------------------------------------------------ */

/* The label of that name in the innermost scope around the operand. */
static const struct ptx_symbol *find_label(struct ptx_parser *parser, const char *text,
                                           unsigned scope)
{
    for (;; scope = parser->scope_parents[scope]) {
        const struct ptx_name *name = label_name(parser, text, strlen(text), scope);
        if (name == NULL)
            return NULL;
        if (name->label_of == parser->body)
            return name->label;
        if (scope == 0)
            return NULL;
    }
}

static void resolve_pending(struct ptx_parser *parser)
{
    for (size_t i = 0; i < parser->pending_count && !parser->failed; ++i) {
        struct ptx_operand *operand = parser->pending[i];
        operand->symbol = find_label(parser, operand->name, operand->scope);
        if (operand->symbol == NULL)
            ptx_fail(parser, operand->line, "`%.200s` is declared nowhere", operand->name);
    }
    parser->pending_count = 0;
}

void ptx_parse_body(struct ptx_parser *parser)
{
    struct ptx_body *body = parser->body;
    const unsigned line = body->face.line;
    const unsigned outermost = parser->scope_depth;
    parser->pending_count = 0;
    parser->lexer.inline_asm_line = 0;
    ptx_require(parser, '{');
    while (!parser->failed) {
        note_inline_asm(parser);
        if (parser->lexer.token.kind == PTX_TOKEN_END) {
            ptx_fail(parser, parser->lexer.token.line,
                     "the text ends inside function `%.200s` (line %u)", body->face.name, line);
        } else if (ptx_at(parser, '}')) {
            if (parser->scope_depth == outermost)
                break;
            ptx_scope_close(parser);
            ptx_lexer_advance(&parser->lexer);
        } else if (ptx_at(parser, '{')) {
            ptx_scope_open(parser);
            ptx_lexer_advance(&parser->lexer);
        } else if (ptx_accept(parser, ';')) {
            continue; /* an empty statement */
        } else if (parser->lexer.token.kind == PTX_TOKEN_DOTTED) {
            parse_directive(parser);
        } else {
            parse_labelled_or_instruction(parser);
        }
    }
    if (parser->failed)
        return;
    body->face.body_end = parser->lexer.token.offset;
    ptx_lexer_advance(&parser->lexer);
    resolve_pending(parser);
}

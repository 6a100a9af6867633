/* cmd_emulate_entry.c - which kernel of a PTX file is meant, and whether the arguments can be
 * meant for it. */
#include "cmd_emulate.h"

#include <ctype.h>

#include "demangle.h"
#include "text.h"

#define LIST_BYTES 600 /* of the kernels that a message names */

/* "void ns::scale<float>(float*)" is found as `scale`, `ns::scale` and `ns::scale<float>`. */
static bool is_called(const char *symbol, const char *name)
{
    struct demangled storage;
    const char *demangled = demangle(symbol, &storage);
    if (demangled == NULL)
        return false;
    const struct name_parts parts = demangle_split(demangled);
    const size_t length = strlen(name), before = (size_t)(parts.begin - demangled);
    if (name_parts_equal(&parts, name) ||
        (parts.whole_length == length && memcmp(parts.whole, name, length) == 0))
        return true;
    if (length <= parts.length || length > before + parts.length)
        return false;
    const char *whole = parts.begin + parts.length - length;
    return memcmp(whole, name, length) == 0 &&
           (isalpha((unsigned char)name[0]) || name[0] == '_') &&
           (whole == demangled || whole[-1] == ' ' || whole[-1] == ':');
}

/* "ns::scale<float> (_ZN2ns5scaleIfEEvPT_)", or the symbol alone where it is the name. */
static void append_name(struct bytes *list, const char *symbol)
{
    struct demangled storage;
    const char *demangled = demangle(symbol, &storage);
    if (demangled == NULL) {
        (void)bytes_printf(list, "%.100s", symbol);
        return;
    }
    const struct name_parts parts = demangle_split(demangled);
    (void)bytes_printf(list, "%.*s (%.100s)",
                       (int)(parts.whole_length < 80 ? parts.whole_length : 80), parts.whole,
                       symbol);
}

static void list_kernels(struct bytes *list, const struct ptx_module *module)
{
    size_t left = 0;
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        if (!function->is_entry || function->is_extern)
            continue;
        if (list->length > LIST_BYTES || left > 0) {
            ++left;
            continue;
        }
        (void)bytes_append_text(list, list->length > 0 ? ", " : "");
        append_name(list, function->name);
    }
    if (left > 0)
        (void)bytes_printf(list, " and %zu more", left);
}

const char *emulate_choose_entry(const struct ptx_module *module, const char *name,
                                 struct error *err)
{
    const char *found = NULL;
    size_t entries = 0, matches = 0;
    char room[80];
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        if (!function->is_entry || function->is_extern)
            continue;
        ++entries;
        if (name != NULL && strcmp(function->name, name) == 0)
            return function->name;
        if (name == NULL || is_called(function->name, name)) {
            ++matches;
            found = function->name;
        }
    }
    if (matches == 1)
        return found;
    struct bytes list = bytes_with_limit(LIST_BYTES + 300);
    list_kernels(&list, module);
    if (entries == 0)
        (void)error_set(err, ERROR_USAGE, "there is no kernel in this PTX");
    else if (name == NULL)
        (void)error_set(err, ERROR_USAGE, "--entry is missing; the kernels here are %s",
                        bytes_text(&list));
    else
        (void)error_set(err, ERROR_USAGE, "%s kernel `%s` in this PTX; there %s %s",
                        matches == 0 ? "there is no" : "there is more than one",
                        text_copy(room, sizeof room, name), entries == 1 ? "is" : "are",
                        bytes_text(&list));
    bytes_release(&list);
    return NULL;
}

/* What both sides say for sure: .b32 may be anything. */
enum number_kind { NUMBER_ANY, NUMBER_FLOAT, NUMBER_INTEGER };

static enum number_kind kind_of(enum ptx_type type)
{
    if (ptx_type_is_float(type))
        return NUMBER_FLOAT;
    return type >= PTX_U8 && type <= PTX_S64 ? NUMBER_INTEGER : NUMBER_ANY;
}

void emulate_warn_of_types(const struct ptx_function *entry, const struct emulate_request *request)
{
    for (size_t i = 0; i < request->argument_count && i < entry->parameter_count; ++i) {
        const struct emulate_argument *argument = &request->arguments[i];
        const struct ptx_parameter *parameter = &entry->parameters[i];
        const bool is_value = argument->role == ARGUMENT_VALUE;
        const enum number_kind given = is_value ? kind_of(argument->type) : NUMBER_INTEGER;
        const enum number_kind wanted = kind_of(parameter->type);
        if (given == NUMBER_ANY || wanted == NUMBER_ANY || given == wanted ||
            parameter->bytes != ptx_type_bytes(parameter->type))
            continue;
        (void)fprintf(stderr,
                      "spillway: warning: argument %zu is %s%s, and the kernel takes %s there "
                      "(.%s): the same bits mean another number\n",
                      i, is_value ? "of type " : "the address of a buffer",
                      is_value ? ptx_type_name(argument->type) : "",
                      wanted == NUMBER_FLOAT ? "a floating-point number" : "an integer",
                      ptx_type_name(parameter->type));
    }
}

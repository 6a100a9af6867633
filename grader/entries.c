#include "entries.h"

#include <ctype.h>

#include "demangle.h"

/* The last component of "void ns::decayWide<int>(float const*)": where it begins and how long it
 * is. Parentheses and angle brackets nest ("(anonymous namespace)::k", "k<&f(int)>"). */
struct name_parts {
    const char *begin;
    size_t length;
    bool in_namespace, is_template;
};

static struct name_parts split_name(const char *demangled)
{
    struct name_parts parts = {.begin = demangled};
    int depth = 0;
    const char *end = NULL, *p = demangled;
    for (; *p != '\0'; ++p) {
        bool anonymous = strncmp(p, "(anonymous namespace)", 21) == 0;
        if (anonymous && depth == 0) {
            p += 20;
            continue;
        }
        if (*p == '<' && depth == 0 && end == NULL) {
            end = p;
            parts.is_template = true;
        }
        if (*p == '(' && depth == 0) {
            if (end == NULL)
                end = p;
            break;
        }
        if (*p == '<')
            ++depth;
        else if (*p == '>' && depth > 0)
            --depth;
        else if (depth == 0 && p[0] == ':' && p[1] == ':') {
            parts.begin = p + 2;
            parts.in_namespace = true;
            parts.is_template = false;
            end = NULL;
            ++p;
        } else if (depth == 0 && *p == ' ') {
            /* A template's demangled name begins with its return type. */
            parts.begin = p + 1;
            parts.is_template = false;
            end = NULL;
        }
    }
    parts.length = (size_t)((end != NULL ? end : p) - parts.begin);
    return parts;
}

static struct name_parts function_name(const struct ptx_function *function, char **storage)
{
    *storage = demangle(function->name);
    return split_name(*storage != NULL ? *storage : function->name);
}

static bool is_named(const struct name_parts *parts, const char *name)
{
    return parts->length == strlen(name) && memcmp(parts->begin, name, parts->length) == 0;
}

static unsigned argument_bytes(const struct lab_argument *argument)
{
    bool pointer = argument->role == ARGUMENT_INPUT || argument->role == ARGUMENT_OUTPUT;
    return pointer || argument->type == SCALAR_U64 ? 8 : 4;
}

static bool signature_fits(const struct ptx_function *function, const struct lab_kernel *kernel)
{
    if (function->parameter_count != kernel->argument_count)
        return false;
    for (size_t i = 0; i < kernel->argument_count; ++i)
        if (function->parameters[i].bytes != argument_bytes(&kernel->arguments[i]))
            return false;
    return true;
}

struct entry_match entries_find(const struct ptx_module *module, const struct lab_kernel *kernel)
{
    struct entry_match match = {0};
    size_t found = 0, qualified = 0, templates = 0, misfits = 0;
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        AUTO_FREE char *demangled = NULL;
        if (!function->is_entry)
            continue;
        struct name_parts parts = function_name(function, &demangled);
        if (!is_named(&parts, kernel->name))
            continue;
        if (parts.in_namespace)
            ++qualified;
        else if (parts.is_template)
            ++templates;
        else if (!signature_fits(function, kernel))
            ++misfits;
        else {
            ++found;
            match.function = function;
        }
    }
    if (found == 1 && qualified + templates + misfits == 0)
        return match;
    match.function = NULL;
    if (found + qualified + templates + misfits > 1)
        (void)snprintf(match.problem, sizeof match.problem,
                       "there are several kernels called %s: keep exactly one", kernel->name);
    else if (qualified == 1)
        (void)snprintf(match.problem, sizeof match.problem,
                       "%s stands in a namespace: move it out, to where the lab had it",
                       kernel->name);
    else if (templates == 1)
        (void)snprintf(match.problem, sizeof match.problem,
                       "%s is a template: make it a plain kernel again", kernel->name);
    else if (misfits == 1)
        (void)snprintf(match.problem, sizeof match.problem,
                       "%s does not take the lab's %zu parameters: restore its signature",
                       kernel->name, kernel->argument_count);
    else
        (void)snprintf(match.problem, sizeof match.problem,
                       "there is no kernel called %s: restore its name", kernel->name);
    return match;
}

bool entries_belongs(const struct ptx_function *function, const struct lab *lab)
{
    AUTO_FREE char *demangled = NULL;
    struct name_parts parts = function_name(function, &demangled);
    for (size_t i = 0; i < lab->kernel_count; ++i)
        if (is_named(&parts, lab->kernels[i].name))
            return true;
    return false;
}

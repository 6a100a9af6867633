#include "entries.h"

#include "demangle.h"

static struct name_parts function_name(const struct ptx_function *function,
                                       struct demangled *storage)
{
    const char *name = demangle(function->name, storage);
    return demangle_split(name != NULL ? name : function->name);
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
        struct demangled demangled;
        if (!function->is_entry)
            continue;
        struct name_parts parts = function_name(function, &demangled);
        if (!name_parts_equal(&parts, kernel->name))
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
    struct demangled demangled;
    struct name_parts parts = function_name(function, &demangled);
    for (size_t i = 0; i < lab->kernel_count; ++i)
        if (name_parts_equal(&parts, lab->kernels[i].name))
            return true;
    return false;
}

uint64_t entries_block_bound(const struct ptx_function *function)
{
    const unsigned *bound =
        function->max_threads[0] != 0 ? function->max_threads : function->required_threads;
    return (uint64_t)bound[0] * bound[1] * bound[2];
}

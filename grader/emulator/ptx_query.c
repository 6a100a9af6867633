/* ptx_query.c - what a parsed module answers. */
#include "emulator/ptx_ast.h"

size_t ptx_function_count(const struct ptx_module *module)
{
    return module->body_count;
}

const struct ptx_function *ptx_function_at(const struct ptx_module *module, size_t index)
{
    return &module->bodies[index]->face;
}

const struct ptx_function *ptx_function_find(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->body_count; ++i)
        if (strcmp(module->bodies[i]->face.name, name) == 0)
            return &module->bodies[i]->face;
    return NULL;
}

size_t ptx_variable_count(const struct ptx_module *module)
{
    return module->variable_count;
}

const struct ptx_variable *ptx_variable_at(const struct ptx_module *module, size_t index)
{
    return &module->variable_faces[index];
}

size_t ptx_pragma_count(const struct ptx_module *module)
{
    return module->pragma_count;
}

const struct ptx_pragma *ptx_pragma_at(const struct ptx_module *module, size_t index)
{
    return &module->pragmas[index];
}

const char *ptx_target(const struct ptx_module *module)
{
    return module->target;
}

const char *ptx_file_path(const struct ptx_module *module, unsigned number)
{
    for (size_t i = 0; i < module->file_count; ++i)
        if (module->files[i].number == number)
            return module->files[i].path;
    return NULL;
}

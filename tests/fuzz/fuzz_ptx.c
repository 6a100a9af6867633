/* fuzz_ptx.c - libFuzzer target: any bytes are a module, or an error with its line. */
#include <assert.h>

#include "emulator/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_function(const struct ptx_function *function, size_t length)
{
    assert(function->name != NULL && function->body_begin <= function->body_end);
    assert(function->body_end <= length && function->directives_end <= function->body_end);
    assert(function->is_extern == (function->body_end == 0));
    for (size_t i = 0; i < function->parameter_count; ++i)
        assert(function->parameters[i].align > 0 && function->parameters[i].name != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct error err = {0};
    struct ptx_module *module = ptx_parse((const char *)data, length, &err);
    if (module == NULL) {
        assert(err.kind == ERROR_USAGE && strncmp(err.text, "line ", 5) == 0);
        return 0;
    }
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        check_function(function, length);
        assert(ptx_function_find(module, function->name) == function);
    }
    for (size_t i = 0; i < ptx_variable_count(module); ++i)
        assert(ptx_variable_at(module, i)->name != NULL);
    for (size_t i = 0; i < ptx_pragma_count(module); ++i)
        assert(ptx_pragma_at(module, i)->text != NULL);
    ptx_free(module);
    return 0;
}

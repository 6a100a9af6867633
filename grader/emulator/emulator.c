/* emulator.c - a module of PTX with its variables and buffers, ready to be launched (launch.c). */
#include "emulator/machine.h"

/* ---- Module variables ----------------------------------------------------------------------- */

static uint64_t symbol_address(const struct emulator *emulator, const struct ptx_symbol *symbol)
{
    if (symbol->kind == PTX_SYMBOL_FUNCTION)
        return kernel_function_address(emulator, symbol->body);
    if (symbol->kind == PTX_SYMBOL_VARIABLE &&
        (symbol->space == PTX_GLOBAL || symbol->space == PTX_CONST))
        return emulator->variable_addresses[symbol->number];
    return 0;
}

static void initialise_variable(struct emulator *emulator, const struct ptx_symbol *symbol)
{
    const unsigned bytes = ptx_type_bytes(symbol->type);
    const uint64_t address = emulator->variable_addresses[symbol->number];
    struct region *region = address == 0 ? NULL : memory_find(emulator, address);
    if (region == NULL)
        return;
    for (size_t i = 0; i < symbol->initialiser_count && (i + 1) * bytes <= region->bytes; ++i) {
        const struct ptx_initialiser *item = &symbol->initialiser[i];
        uint64_t value[2] = {item->value, 0};
        if (item->target != NULL)
            value[0] = (value[0] + symbol_address(emulator, item->target)) >> item->mask_shift;
        memcpy(region->data + i * bytes, value, bytes < sizeof value ? bytes : sizeof value);
    }
}

/* CUDA zeroes module variables, so their bytes are known. */
static int place_variables(struct emulator *emulator)
{
    const struct ptx_module *module = emulator->module;
    uint64_t total = 0;
    emulator->variable_addresses =
        calloc(module->variable_count + 1, sizeof *emulator->variable_addresses);
    if (emulator->variable_addresses == NULL)
        return -1;
    for (size_t i = 0; i < module->variable_count; ++i) {
        const struct ptx_symbol *symbol = module->variables[i];
        if (symbol->space != PTX_GLOBAL && symbol->space != PTX_CONST)
            continue;
        total += symbol->bytes;
        if (total > CAP_MODULE_MEMORY_BYTES || symbol->align > 4096) {
            (void)snprintf(emulator->refusal, sizeof emulator->refusal,
                           "line %u: `%.100s` needs %llu bytes; the emulator has %llu for the "
                           "variables of a module",
                           symbol->line, symbol->name, (unsigned long long)symbol->bytes,
                           (unsigned long long)CAP_MODULE_MEMORY_BYTES);
            return 0;
        }
        const struct region *region = memory_add(
            emulator, symbol->bytes, symbol->space == PTX_CONST ? REGION_CONSTANT : REGION_VARIABLE,
            symbol->name, true);
        if (region == NULL)
            return -1;
        emulator->variable_addresses[i] = region->base;
    }
    for (size_t i = 0; i < module->variable_count; ++i)
        initialise_variable(emulator, module->variables[i]);
    return 0;
}

static bool uses_malloc(const struct ptx_module *module)
{
    for (size_t i = 0; i < ptx_function_count(module); ++i)
        if (ptx_function_at(module, i)->calls_malloc)
            return true;
    return false;
}

static int make_heap(struct emulator *emulator)
{
    if (!uses_malloc(emulator->module))
        return 0;
    emulator->heap.owner = calloc(CAP_HEAP_BYTES / 16 + 1, sizeof *emulator->heap.owner);
    emulator->heap.region =
        memory_add(emulator, CAP_HEAP_BYTES, REGION_HEAP, "the device heap", false);
    return emulator->heap.owner == NULL || emulator->heap.region == NULL ? -1 : 0;
}

struct emulator *emulator_create(const char *ptx, size_t length, struct error *err)
{
    struct emulator *emulator = calloc(1, sizeof *emulator);
    if (emulator == NULL) {
        (void)error_no_memory(err);
        return NULL;
    }
    (void)pthread_mutex_init(&emulator->heap.lock, NULL);
    emulator->module = ptx_parse(ptx, length, err);
    if (emulator->module == NULL) {
        emulator_free(emulator);
        return NULL;
    }
    emulator->next_address = emulator->module->address_bytes == 4 ? FIRST_BUFFER_32 : FIRST_BUFFER;
    emulator->parameters =
        memory_add(emulator, CAP_PARAMETER_BYTES, REGION_PARAMETERS, "the parameters", true);
    if (emulator->parameters == NULL || place_variables(emulator) != 0 ||
        make_heap(emulator) != 0) {
        emulator_free(emulator);
        (void)error_no_memory(err);
        return NULL;
    }
    return emulator;
}

void emulator_free(struct emulator *emulator)
{
    if (emulator == NULL)
        return;
    while (emulator->kernels != NULL) {
        struct kernel *next = emulator->kernels->next;
        kernel_free(emulator->kernels);
        emulator->kernels = next;
    }
    for (size_t i = 0; i < emulator->region_count; ++i) {
        free(emulator->regions[i]->data);
        free(emulator->regions[i]->known);
        free(emulator->regions[i]->writers);
        free(emulator->regions[i]->readers);
        free(emulator->regions[i]);
    }
    free(emulator->regions);
    free(emulator->variable_addresses);
    free(emulator->heap.owner);
    free(emulator->heap.chunks);
    (void)pthread_mutex_destroy(&emulator->heap.lock);
    ptx_free(emulator->module);
    free(emulator);
}

/* ---- Buffers -------------------------------------------------------------------------------- */

uint64_t emulator_allocate(struct emulator *emulator, size_t bytes, const char *label)
{
    if (bytes > CAP_BUFFER_BYTES || emulator->region_count >= CAP_BUFFERS)
        return 0;
    const struct region *region = memory_add(emulator, bytes, REGION_BUFFER, label, false);
    return region == NULL ? 0 : region->base;
}

static struct region *inside(struct emulator *emulator, uint64_t address, size_t bytes)
{
    struct region *region = memory_find(emulator, address);
    if (region == NULL || address - region->base > region->bytes ||
        region->bytes - (address - region->base) < bytes)
        return NULL;
    return region;
}

/* Afterwards its bytes count as written, or as not. */
static int fill(struct emulator *emulator, uint64_t address, const void *data, size_t bytes,
                bool known)
{
    struct region *region = inside(emulator, address, bytes);
    if (region == NULL)
        return -1;
    const uint64_t offset = address - region->base;
    if (bytes > 0)
        memcpy(region->data + offset, data, bytes);
    if (region->known == NULL)
        return 0;
    (known ? known_set : known_clear)(region->known, offset, bytes);
    region->all_known = known && (region->all_known || bytes == region->bytes);
    return 0;
}

int emulator_copy_in(struct emulator *emulator, uint64_t address, const void *data, size_t bytes)
{
    return fill(emulator, address, data, bytes, true);
}

int emulator_poison(struct emulator *emulator, uint64_t address, const void *data, size_t bytes)
{
    return fill(emulator, address, data, bytes, false);
}

int emulator_copy_out(struct emulator *emulator, uint64_t address, void *data, size_t bytes)
{
    const struct region *region = inside(emulator, address, bytes);
    if (region == NULL)
        return -1;
    if (bytes > 0)
        memcpy(data, region->data + (address - region->base), bytes);
    return 0;
}

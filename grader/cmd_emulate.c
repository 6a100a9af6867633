/* cmd_emulate.c - `spillway emulate`: run one kernel of a PTX file on the CPU, with every access
 * checked. */
#include "cmd_emulate.h"

#include "commands.h"

#include "emulator/caps.h"
#include "files.h"
#include "process.h"
#include "text.h"

static const char usage[] =
    "usage: spillway emulate FILE.ptx --entry NAME --grid X[,Y,Z] --block X[,Y,Z]\n"
    "                        [--arg ARG]… [OPTION]…\n"
    "\n"
    "Runs a kernel on the CPU and reports accesses out of bounds, misaligned, or to\n"
    "memory that was never written, by source line, block and thread, and says what\n"
    "to try. Needs no GPU.\n"
    "\n"
    "  --entry NAME         the kernel, as in the PTX or as in the source\n"
    "  --grid X[,Y,Z]       blocks\n"
    "  --block X[,Y,Z]      threads a block\n"
    "  --arg ARG            one for each parameter, in order:\n"
    "                         u32:7  s64:-1  f32:0.5  f32:0f3F000000   a value\n"
    "                         in:f32:0.5,0.25    a buffer with these elements\n"
    "                         in:f32:@FILE       a buffer with the bytes of a file\n"
    "                         out:u64:4          a poisoned buffer of 4, to print\n"
    "                         inout:s32:1,2      both\n"
    "  --shared BYTES       dynamic shared memory a block (default 0)\n"
    "  --threads N          threads of the host (default: one a core)\n"
    "  --max-instructions N stop after so many warp instructions (default 2000000000)\n"
    "  --check all|none     none: only bounds are checked (default all)\n"
    "  --json               print JSON (schema spillway/emulate/v1) instead of text\n"
    "  --help               this text\n"
    "\n"
    "Examples:\n"
    "  nvcc -arch=sm_75 -lineinfo -ptx scale.cu\n"
    "  spillway emulate scale.ptx --entry scale --grid 1 --block 4 \\\n"
    "      --arg in:f32:1,2,3,4 --arg out:f32:4 --arg f32:0.5 --arg s32:4\n"
    "prints\n"
    "  arg1: 0.5 1 1.5 2\n"
    "\n"
    "Lines are those of the source if the PTX was made with -lineinfo. Two arrays\n"
    "side by side in shared memory, or in a thread's own (local) memory, are not told\n"
    "apart: an index may run from one into the other. PTX made with -G is not\n"
    "optimised and shows more; what it reads of unset local variables is a warning,\n"
    "since it copies padding, and words of which it sets some bits.\n"
    "\n"
    "Arguments count from 0. Exit status: 0 done, 2 usage, 3 the file cannot be read\n"
    "or holds something that the emulator does not run, 4 the kernel faulted or did\n"
    "not end.\n";

#define PRINT_BYTES_MAX ((size_t)1 << 30)

static int make_buffers(struct emulator *emulator, struct emulate_request *request,
                        struct error *err)
{
    for (size_t i = 0; i < request->argument_count; ++i) {
        struct emulate_argument *argument = &request->arguments[i];
        if (argument->role == ARGUMENT_VALUE)
            continue;
        char label[32];
        (void)snprintf(label, sizeof label, "arg%zu", i);
        argument->address = emulator_allocate(emulator, argument->bytes, label);
        if (argument->address == 0)
            return error_no_memory(err);
        if (argument->role != ARGUMENT_OUT) {
            (void)emulator_copy_in(emulator, argument->address, argument->data.data,
                                   argument->data.length);
            continue;
        }
        /* All bits set: a NaN, and a number that nobody computes by accident. */
        AUTO_FREE char *poison = malloc(argument->bytes + 1);
        if (poison == NULL)
            return error_no_memory(err);
        memset(poison, 0xFF, argument->bytes);
        (void)emulator_poison(emulator, argument->address, poison, argument->bytes);
    }
    return 0;
}

/* A buffer's address has the size of its parameter: 4 bytes in modules of 32-bit addresses. */
static size_t address_bytes(const struct ptx_function *entry, size_t index, uint64_t address)
{
    const bool narrow = entry != NULL && index < entry->parameter_count &&
                        entry->parameters[index].bytes == 4 && address <= UINT32_MAX;
    return narrow ? 4 : sizeof address;
}

static int launch(struct emulator *emulator, struct emulate_request *request,
                  const struct ptx_function *entry, struct emulator_result *result,
                  struct error *err)
{
    const void *data[EMULATE_ARGUMENTS_MAX];
    size_t bytes[EMULATE_ARGUMENTS_MAX];
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct emulate_argument *argument = &request->arguments[i];
        const bool value = argument->role == ARGUMENT_VALUE;
        data[i] = value ? argument->data.data : (const void *)&argument->address;
        bytes[i] = value ? argument->data.length : address_bytes(entry, i, argument->address);
    }
    struct emulator_launch spec = {.entry = request->entry,
                                   .shared_bytes = (unsigned)request->shared_bytes,
                                   .arguments = data,
                                   .argument_bytes = bytes,
                                   .argument_count = request->argument_count};
    memcpy(spec.grid, request->grid, sizeof spec.grid);
    memcpy(spec.block, request->block, sizeof spec.block);
    return emulator_launch(emulator, &spec, &request->options, result, err);
}

static int read_back(struct emulator *emulator, struct emulate_argument *argument,
                     struct error *err)
{
    bytes_release(&argument->data);
    argument->data = bytes_with_limit(EMULATE_DATA_BYTES_MAX);
    if (bytes_reserve(&argument->data, argument->bytes) != 0)
        return error_no_memory(err);
    (void)emulator_copy_out(emulator, argument->address, argument->data.data, argument->bytes);
    argument->data.length = argument->bytes;
    return 0;
}

/* Whoever hands in another file than PTX is told what makes PTX of it. */
static int explain_text(const struct emulate_request *request, struct error *err)
{
    char path[128], word[80];
    const char *dot = strrchr(request->path, '.');
    const bool is_source = dot != NULL && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0 ||
                                           strcmp(dot, ".cpp") == 0 || strcmp(dot, ".c") == 0);
    const bool begins_well = strstr(err->text, "to begin with .version") == NULL;
    if (err->kind != ERROR_USAGE || (begins_well && !is_source))
        return -1;
    (void)text_copy(path, sizeof path, request->path);
    (void)text_copy(word, sizeof word, err->text);
    *err = (struct error){0};
    if (is_source)
        return error_set(err, ERROR_USAGE,
                         "%s is source, and PTX is run here: make it with `nvcc -ptx -lineinfo "
                         "-arch=sm_75 %s` and hand in the .ptx (%s)",
                         path, path, word);
    return error_set(err, ERROR_USAGE,
                     "%s is no PTX (%s): `nvcc -ptx -lineinfo -arch=sm_75 FILE.cu` makes it", path,
                     word);
}

static int run(struct emulate_request *request, const struct bytes *ptx, struct error *err)
{
    struct ptx_module *module = ptx_parse(ptx->data, ptx->length, err);
    if (module == NULL)
        return explain_text(request, err);
    struct emulator_result result = {0};
    struct bytes out = bytes_with_limit(PRINT_BYTES_MAX);
    struct emulator *emulator = NULL;
    int status = -1;
    request->entry = emulate_choose_entry(module, request->entry, err);
    if (request->entry == NULL)
        goto done;
    const struct ptx_function *entry = ptx_function_find(module, request->entry);
    emulator = emulator_create(ptx->data, ptx->length, err);
    if (emulator == NULL || make_buffers(emulator, request, err) != 0 ||
        launch(emulator, request, entry, &result, err) != 0)
        goto done;
    emulate_warn_of_types(entry, request);
    for (size_t i = 0; i < request->argument_count; ++i)
        if (emulate_is_printed(&request->arguments[i]) &&
            read_back(emulator, &request->arguments[i], err) != 0)
            goto done;
    emulate_print_faults(&result);
    if (request->json) {
        if (emulate_append_json(&out, request, &result, err) != 0)
            goto done;
    } else if (result.status != EMULATOR_REFUSED) {
        emulate_append_text(&out, request, &result);
    }
    if (out.failed) {
        (void)error_set(err, ERROR_INFRASTRUCTURE, "the output is too large to print");
        goto done;
    }
    if (file_write("-", bytes_text(&out), out.length, err) != 0)
        goto done;
    status = result.status == EMULATOR_FINISHED  ? EXIT_STATUS_DONE
             : result.status == EMULATOR_REFUSED ? EXIT_STATUS_INFRASTRUCTURE
                                                 : EXIT_STATUS_FAULT;
done:
    emulator_result_release(&result);
    bytes_release(&out);
    emulator_free(emulator);
    ptx_free(module);
    return status;
}

int cmd_emulate(int argc, char **argv)
{
    struct error err = {0};
    char room[80];
    struct emulate_request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        (void)error_no_memory(&err);
        return error_report(&err);
    }
    request->options.interrupted = process_interrupted;
    struct bytes ptx = {0};
    int status = emulate_parse(request, argc, argv, &err);
    if (status == 0) {
        enum file_status read = file_read(&ptx, request->path, CAP_TEXT_BYTES, true);
        if (read != FILE_READ)
            status = error_set(&err, ERROR_INFRASTRUCTURE, "%s: %s",
                               text_copy(room, sizeof room, request->path), file_status_text(read));
        else if ((status = run(request, &ptx, &err)) < 0 && err.kind == ERROR_USAGE &&
                 strncmp(err.text, "line ", 5) == 0)
            (void)error_context(&err, "%s", text_copy(room, sizeof room, request->path));
    } else if (status > 0) {
        (void)fputs(usage, stdout);
        status = EXIT_STATUS_DONE;
    }
    for (size_t i = 0; i < request->argument_count; ++i)
        bytes_release(&request->arguments[i].data);
    free(request);
    bytes_release(&ptx);
    return status < 0 ? error_report(&err) : status;
}

/* cmd_emulate.h - what the files of `spillway emulate` share: the request, made of the command
 * line. */
#ifndef SPILLWAY_CMD_EMULATE_H
#define SPILLWAY_CMD_EMULATE_H

#include "bytes.h"
#include "emulator/emulator.h"
#include "emulator/ptx.h"

#define EMULATE_ARGUMENTS_MAX 256
#define EMULATE_DATA_BYTES_MAX ((size_t)1 << 30)

struct emulate_argument {
    enum { ARGUMENT_VALUE, ARGUMENT_IN, ARGUMENT_OUT, ARGUMENT_INOUT } role;
    enum ptx_type type;
    struct bytes data; /* the value, or what the buffer begins with */
    size_t bytes;      /* of the buffer */
    uint64_t address;
};

struct emulate_request {
    const char *path, *entry;
    unsigned grid[3], block[3];
    uint64_t shared_bytes;
    struct emulate_argument arguments[EMULATE_ARGUMENTS_MAX];
    size_t argument_count;
    struct emulator_options options;
    bool json, have_grid, have_block;
};

/* cmd_emulate_request.c: 0 go on; 1 help is wanted; -1 *err. Release the data of the arguments in
 * any case. */
int emulate_parse(struct emulate_request *request, int argc, char **argv, struct error *err);

/* cmd_emulate_entry.c: the symbol of the entry that is meant: by symbol, else by its name in the
 * source, else the only one. NULL with *err, which names those that there are. */
const char *emulate_choose_entry(const struct ptx_module *module, const char *name,
                                 struct error *err);
/* To standard error: a number where the other kind of number is taken. */
void emulate_warn_of_types(const struct ptx_function *entry, const struct emulate_request *request);

/* cmd_emulate_output.c */
bool emulate_is_printed(const struct emulate_argument *argument);
/* Buffers as a line each, after what the kernel printed itself. */
void emulate_append_text(struct bytes *out, const struct emulate_request *request,
                         const struct emulator_result *result);
/* Schema spillway/emulate/v1. -1: *err. */
int emulate_append_json(struct bytes *out, const struct emulate_request *request,
                        const struct emulator_result *result, struct error *err);
/* To standard error. */
void emulate_print_faults(const struct emulator_result *result);

#endif

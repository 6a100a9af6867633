/* cmd_emulate.c - `spillway emulate`: run one kernel of a PTX file on the CPU, with every access
 * checked. */
#include "commands.h"

#include "demangle.h"
#include "emulator/caps.h"
#include "emulator/emulator.h"
#include "emulator/ptx.h"
#include "emulator/values.h"
#include "files.h"
#include "json_text.h"
#include "number.h"
#include "options.h"
#include "process.h"
#include "text.h"

static const char usage[] =
    "usage: spillway emulate FILE.ptx --entry NAME --grid X[,Y,Z] --block X[,Y,Z]\n"
    "                        [--arg ARG]… [OPTION]…\n"
    "\n"
    "Runs a kernel on the CPU and reports accesses out of bounds, misaligned, or to\n"
    "memory that was never written, by source line, block and thread. Needs no GPU.\n"
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
    "Arguments count from 0. Exit status: 0 done, 2 usage, 3 the file cannot be read\n"
    "or holds something that the emulator does not run, 4 the kernel faulted or did\n"
    "not end.\n";

#define ARGUMENTS_MAX 256
#define DATA_BYTES_MAX ((size_t)1 << 30)
#define PRINT_BYTES_MAX ((size_t)1 << 30)

struct argument {
    enum { ARGUMENT_VALUE, ARGUMENT_IN, ARGUMENT_OUT, ARGUMENT_INOUT } role;
    enum ptx_type type;
    struct bytes data; /* the value, or what the buffer begins with */
    size_t bytes;      /* of the buffer */
    uint64_t address;
};

struct request {
    const char *path, *entry;
    unsigned grid[3], block[3];
    uint64_t shared_bytes;
    struct argument arguments[ARGUMENTS_MAX];
    size_t argument_count;
    struct emulator_options options;
    bool json, have_grid, have_block;
};

/* ---- The command line ------------------------------------------------------------------------ */

static int parse_dimensions(const char *option, const char *text, unsigned dimensions[3],
                            struct error *err)
{
    const char *at = text;
    for (unsigned i = 0; i < 3; ++i)
        dimensions[i] = 1;
    for (unsigned i = 0; i < 3; ++i) {
        size_t length = strcspn(at, ",");
        uint64_t value = 0;
        if (!number_parse_u64_bytes(at, length, UINT32_MAX, &value) || value == 0)
            break;
        dimensions[i] = (unsigned)value;
        at += length;
        if (*at == '\0')
            return 0;
        ++at;
    }
    return options_refuse(err, option, text, "one to three whole numbers above 0, such as 4,2,1");
}

static int parse_values(struct argument *argument, const char *text, size_t number,
                        struct error *err)
{
    const unsigned bytes = ptx_type_bytes(argument->type);
    char room[80];
    for (const char *at = text;; ++at) {
        size_t length = strcspn(at, ",");
        uint8_t value[16];
        if (!value_parse(argument->type, at, length, value)) {
            char element[80];
            (void)snprintf(element, sizeof element, "%.*s", (int)(length < 60 ? length : 60), at);
            return error_set(err, ERROR_USAGE, "argument %zu: \"%s\" is no value of type %s",
                             number, text_copy(room, sizeof room, element),
                             ptx_type_name(argument->type));
        }
        if (bytes_append(&argument->data, value, bytes) != 0)
            return error_no_memory(err);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

static int parse_content(struct argument *argument, const char *text, size_t number,
                         struct error *err)
{
    if (text[0] != '@')
        return parse_values(argument, text, number, err);
    char room[80];
    enum file_status status = file_read(&argument->data, text + 1, DATA_BYTES_MAX, true);
    if (status != FILE_READ)
        return error_set(err, ERROR_INFRASTRUCTURE, "argument %zu: %s: %s", number,
                         text_copy(room, sizeof room, text + 1), file_status_text(status));
    if (argument->data.length % ptx_type_bytes(argument->type) != 0)
        return error_set(err, ERROR_USAGE,
                         "argument %zu: %s has %zu bytes, which is no multiple of the %u of a %s",
                         number, text_copy(room, sizeof room, text + 1), argument->data.length,
                         ptx_type_bytes(argument->type), ptx_type_name(argument->type));
    return 0;
}

/* [in:|out:|inout:]TYPE:CONTENT */
static int parse_argument(struct request *request, const char *text, struct error *err)
{
    static const struct {
        const char *prefix;
        int role;
    } roles[] = {{"in:", ARGUMENT_IN}, {"out:", ARGUMENT_OUT}, {"inout:", ARGUMENT_INOUT}};
    char room[80];
    const size_t number = request->argument_count;
    if (number == ARGUMENTS_MAX)
        return error_set(err, ERROR_USAGE, "more than %d arguments", ARGUMENTS_MAX);
    struct argument *argument = &request->arguments[request->argument_count++];
    *argument = (struct argument){.data = bytes_with_limit(DATA_BYTES_MAX)};
    const char *at = text;
    for (size_t i = 0; i < COUNT_OF(roles); ++i)
        if (strncmp(text, roles[i].prefix, strlen(roles[i].prefix)) == 0) {
            argument->role = roles[i].role;
            at = text + strlen(roles[i].prefix);
        }
    const char *colon = strchr(at, ':');
    if (colon == NULL)
        return error_set(err, ERROR_USAGE,
                         "argument %zu is \"%s\"; expected TYPE:VALUE, in:TYPE:VALUES, "
                         "out:TYPE:COUNT or inout:TYPE:VALUES",
                         number, text_copy(room, sizeof room, text));
    argument->type = ptx_type_find(at, (size_t)(colon - at));
    if (!value_has_text(argument->type)) {
        char name[80];
        (void)snprintf(name, sizeof name, "%.*s", (int)(colon - at < 60 ? colon - at : 60), at);
        return error_set(err, ERROR_USAGE,
                         "argument %zu: \"%s\" is no type of PTX that a value can have (such as "
                         "u32, s64, f32, b8)",
                         number, text_copy(room, sizeof room, name));
    }
    if (argument->role == ARGUMENT_OUT) {
        uint64_t count = 0;
        if (!number_parse_u64(colon + 1, DATA_BYTES_MAX / ptx_type_bytes(argument->type), &count))
            return error_set(err, ERROR_USAGE,
                             "argument %zu: \"%s\" is no number of elements up to %zu", number,
                             text_copy(room, sizeof room, colon + 1),
                             DATA_BYTES_MAX / ptx_type_bytes(argument->type));
        argument->bytes = (size_t)count * ptx_type_bytes(argument->type);
        return 0;
    }
    if (parse_content(argument, colon + 1, number, err) != 0)
        return -1;
    argument->bytes = argument->data.length;
    return 0;
}

enum emulate_option {
    OPTION_ENTRY = OPTIONS_HELP + 1,
    OPTION_GRID,
    OPTION_BLOCK,
    OPTION_ARG,
    OPTION_SHARED,
    OPTION_THREADS,
    OPTION_MAX,
    OPTION_CHECK,
    OPTION_JSON
};

static int parse_option(struct request *request, int option, const char *text, struct error *err)
{
    uint64_t number = 0;
    switch (option) {
    case OPTION_ENTRY:
        request->entry = text;
        return 0;
    case OPTION_GRID:
        request->have_grid = true;
        return parse_dimensions("--grid", text, request->grid, err);
    case OPTION_BLOCK:
        request->have_block = true;
        return parse_dimensions("--block", text, request->block, err);
    case OPTION_ARG:
        return parse_argument(request, text, err);
    case OPTION_SHARED:
        return options_number(&request->shared_bytes, "--shared", text, 0, CAP_SHARED_BYTES, "",
                              err);
    case OPTION_THREADS:
        if (options_number(&number, "--threads", text, 0, CAP_THREADS, "", err) != 0)
            return -1;
        request->options.threads = (unsigned)number;
        return 0;
    case OPTION_MAX:
        return options_number(&request->options.max_warp_instructions, "--max-instructions", text,
                              0, UINT64_MAX / 2, "", err);
    case OPTION_CHECK:
        request->options.no_checks = strcmp(text, "none") == 0;
        if (!request->options.no_checks && strcmp(text, "all") != 0)
            return options_refuse(err, "--check", text, "all or none");
        return 0;
    default:
        request->json = true;
        return 0;
    }
}

/* 0 go on; 1 help was printed; -1 *err. */
static int parse_command_line(struct request *request, int argc, char **argv, struct error *err)
{
    static const struct option long_options[] = {
        {"entry", required_argument, NULL, OPTION_ENTRY},
        {"grid", required_argument, NULL, OPTION_GRID},
        {"block", required_argument, NULL, OPTION_BLOCK},
        {"arg", required_argument, NULL, OPTION_ARG},
        {"shared", required_argument, NULL, OPTION_SHARED},
        {"threads", required_argument, NULL, OPTION_THREADS},
        {"max-instructions", required_argument, NULL, OPTION_MAX},
        {"check", required_argument, NULL, OPTION_CHECK},
        {"json", no_argument, NULL, OPTION_JSON},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0}};
    optind = 0;
    for (int option;
         (option = options_next(argc, argv, long_options, "emulate", err)) != OPTIONS_END;) {
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return 1;
        }
        if (option == OPTIONS_WRONG || parse_option(request, option, optarg, err) != 0)
            return -1;
    }
    if (optind + 1 != argc)
        return error_set(err, ERROR_USAGE,
                         optind == argc ? "which PTX file? `spillway emulate --help` has examples"
                                        : "only one PTX file can be run at a time");
    request->path = argv[optind];
    if (!request->have_grid || !request->have_block)
        return error_set(err, ERROR_USAGE, "%s is missing; for example: --grid 1 --block 32",
                         request->have_grid ? "--block" : "--grid");
    return 0;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* "ns::scale<float>(float*)" is found as `scale`. */
static bool is_called(const char *symbol, const char *name)
{
    struct demangled storage;
    const char *demangled = demangle(symbol, &storage);
    if (demangled == NULL)
        return false;
    struct name_parts parts = demangle_split(demangled);
    return name_parts_equal(&parts, name);
}

/* The entry that is meant: by symbol, else by its name in the source, else the only one. */
static const char *choose_entry(const struct ptx_module *module, const char *name,
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
    struct bytes list = bytes_with_limit(700);
    for (size_t i = 0; i < ptx_function_count(module); ++i) {
        const struct ptx_function *function = ptx_function_at(module, i);
        if (function->is_entry && !function->is_extern)
            (void)bytes_printf(&list, "%s%.100s", list.length > 0 ? ", " : "", function->name);
    }
    if (entries == 0)
        (void)error_set(err, ERROR_USAGE, "there is no kernel in this PTX");
    else if (name == NULL)
        (void)error_set(err, ERROR_USAGE, "--entry is missing; the kernels here are %s",
                        bytes_text(&list));
    else
        (void)error_set(err, ERROR_USAGE, "%s kernel `%s` in this PTX; there are %s",
                        matches == 0 ? "there is no" : "there is more than one",
                        text_copy(room, sizeof room, name), bytes_text(&list));
    bytes_release(&list);
    return NULL;
}

static int make_buffers(struct emulator *emulator, struct request *request, struct error *err)
{
    for (size_t i = 0; i < request->argument_count; ++i) {
        struct argument *argument = &request->arguments[i];
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

static int launch(struct emulator *emulator, struct request *request,
                  const struct ptx_function *entry, struct emulator_result *result,
                  struct error *err)
{
    const void *data[ARGUMENTS_MAX];
    size_t bytes[ARGUMENTS_MAX];
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct argument *argument = &request->arguments[i];
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

/* ---- Output ---------------------------------------------------------------------------------- */

static int read_back(struct emulator *emulator, struct argument *argument, struct error *err)
{
    bytes_release(&argument->data);
    argument->data = bytes_with_limit(DATA_BYTES_MAX);
    if (bytes_reserve(&argument->data, argument->bytes) != 0)
        return error_no_memory(err);
    (void)emulator_copy_out(emulator, argument->address, argument->data.data, argument->bytes);
    argument->data.length = argument->bytes;
    return 0;
}

static bool is_printed(const struct argument *argument)
{
    return argument->role == ARGUMENT_OUT || argument->role == ARGUMENT_INOUT;
}

static void append_text(struct bytes *out, const struct request *request,
                        const struct emulator_result *result)
{
    (void)bytes_append(out, bytes_text(&result->printed), result->printed.length);
    if (result->printed.length > 0 && out->data[out->length - 1] != '\n')
        (void)bytes_append_text(out, "\n");
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct argument *argument = &request->arguments[i];
        if (!is_printed(argument))
            continue;
        const unsigned bytes = ptx_type_bytes(argument->type);
        (void)bytes_printf(out, "arg%zu:", i);
        for (size_t at = 0; at < argument->bytes; at += bytes) {
            (void)bytes_append_text(out, " ");
            value_print(out, argument->type, argument->data.data + at);
        }
        (void)bytes_append_text(out, "\n");
    }
}

/* Numbers where JSON can hold them, else the text that is printed: "nan(0x…)", "inf", large u64. */
static json_t *json_value(enum ptx_type type, const void *value)
{
    struct bytes text = bytes_with_limit(64);
    value_print(&text, type, value);
    const char *printed = bytes_text(&text);
    json_t *json = NULL;
    int64_t integer = 0;
    bool real = strpbrk(printed, ".e") != NULL && strpbrk(printed, "xni") == NULL;
    if (number_parse_i64(printed, INT64_MIN, INT64_MAX, &integer) && printed[0] != '\0' &&
        strchr(printed, 'x') == NULL)
        json = json_integer(integer);
    else if (real)
        json = json_real(strtod(printed, NULL));
    else
        json = json_string(printed);
    bytes_release(&text);
    return json;
}

static json_t *json_buffers(const struct request *request)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct argument *argument = &request->arguments[i];
        if (!is_printed(argument))
            continue;
        const unsigned bytes = ptx_type_bytes(argument->type);
        json_t *values = json_array();
        for (size_t at = 0; at < argument->bytes; at += bytes)
            (void)json_array_append_new(values,
                                        json_value(argument->type, argument->data.data + at));
        (void)json_array_append_new(list,
                                    json_pack("{s:i, s:s, s:o}", "argument", (int)i, "type",
                                              ptx_type_name(argument->type), "values", values));
    }
    return list;
}

static json_t *json_fault(const struct emulator_fault *fault)
{
    char address[24];
    (void)snprintf(address, sizeof address, "0x%llx", (unsigned long long)fault->address);
    return json_pack("{s:s, s:s, s:s*, s:o, s:i, s:[i,i,i], s:[i,i,i], s:s, s:i, s:I, s:b}", "kind",
                     fault->kind, "text", fault->text, "file",
                     fault->file[0] != '\0' ? fault->file : NULL, "line",
                     fault->line != 0 ? json_integer(fault->line) : json_null(), "ptx_line",
                     (int)fault->ptx_line, "block", (int)fault->block[0], (int)fault->block[1],
                     (int)fault->block[2], "thread", (int)fault->thread[0], (int)fault->thread[1],
                     (int)fault->thread[2], "address", address, "bytes", (int)fault->bytes, "count",
                     (json_int_t)fault->count, "warning", fault->warning ? 1 : 0);
}

static json_t *json_count(const struct traffic_count *count)
{
    return json_pack("{s:I, s:I}", "requests", (json_int_t)count->requests, "sectors",
                     (json_int_t)count->sectors);
}

static json_t *json_direction(const struct traffic_direction *direction)
{
    return json_pack("{s:o, s:o}", "load", json_count(&direction->load), "store",
                     json_count(&direction->store));
}

static json_t *json_counters(const struct emulator_counters *counters)
{
    json_t *kinds = json_object();
    for (unsigned kind = 0; kind < EMULATOR_KIND_COUNT; ++kind)
        (void)json_object_set_new(kinds, emulator_kind_name((enum emulator_kind)kind),
                                  json_integer((json_int_t)counters->instructions[kind]));
    const struct {
        const char *name;
        const struct traffic_count *count;
    } shared[] = {{"shared_load", &counters->shared_load},
                  {"shared_store", &counters->shared_store}};
    json_t *json = json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:I}", "warp_instructions", kinds, "lane_instructions",
        (json_int_t)counters->lane_instructions, "branches", (json_int_t)counters->branches,
        "divergent_branches", (json_int_t)counters->divergent_branches, "barriers",
        (json_int_t)counters->barriers, "global_atomic", json_count(&counters->global_atomic),
        "async_copy", json_count(&counters->async_copy), "shared_atomic_requests",
        (json_int_t)counters->shared_atomics);
    for (size_t i = 0; json != NULL && i < COUNT_OF(shared); ++i) {
        const struct traffic_count *count = shared[i].count;
        (void)json_object_set_new(json, shared[i].name,
                                  json_pack("{s:I, s:I, s:I}", "requests",
                                            (json_int_t)count->requests, "wavefronts",
                                            (json_int_t)count->sectors, "bank_conflicts",
                                            (json_int_t)(count->sectors - count->requests)));
    }
    return json;
}

static const char *status_name(enum emulator_status status)
{
    static const char *const names[] = {"finished", "faulted", "refused", "stopped"};
    return names[status];
}

static int append_json(struct bytes *out, const struct request *request,
                       const struct emulator_result *result, struct error *err)
{
    json_t *faults = json_array();
    for (size_t i = 0; i < result->fault_count; ++i)
        (void)json_array_append_new(faults, json_fault(&result->faults[i]));
    struct bytes printed = bytes_with_limit(4 * CAP_PRINTED_BYTES);
    text_sanitize_lines(&printed, bytes_text(&result->printed), result->printed.length,
                        CAP_PRINTED_BYTES * 2);
    const bool refused = result->status == EMULATOR_REFUSED;
    json_t *json = json_pack(
        "{s:s, s:s, s:s, s:s*, s:o, s:o, s:s, s:I, s:I, s:{s:o, s:o}, s:o, s:{s:I, s:I, s:I}}",
        "schema", "spillway/emulate/v1", "entry", request->entry, "status",
        status_name(result->status), "refusal", refused ? result->refusal : NULL, "faults", faults,
        "buffers", json_buffers(request), "printed", bytes_text(&printed), "warps",
        (json_int_t)result->warps, "warp_instructions", (json_int_t)result->warp_instructions,
        "traffic", "global", json_direction(&result->traffic.global), "local_array",
        json_direction(&result->traffic.local_array), "counters", json_counters(&result->counters),
        "may_be_fused", "count", (json_int_t)result->fusable.count, "line",
        (json_int_t)result->fusable.line, "ptx_line", (json_int_t)result->fusable.ptx_line);
    bytes_release(&printed);
    return json_text_append(out, json, JSON_ENSURE_ASCII, err);
}

static void print_fusable(const struct emulator_fusable *fusable)
{
    if (fusable->count == 0)
        return;
    char line[32] = "", more[48] = "", number[TEXT_NUMBER_BYTES];
    if (fusable->line != 0)
        (void)snprintf(line, sizeof line, "line %u, ", fusable->line);
    if (fusable->count > 1)
        (void)snprintf(more, sizeof more, " (and %s more such places)",
                       text_number(fusable->count - 1, number));
    (void)fprintf(
        stderr,
        "spillway: note: %sPTX line %u adds a product%s. ptxas may make one fma of the "
        "two, which rounds once; the emulator rounds twice, as PTX says. The last bit may "
        "differ on a GPU, unless the kernel is compiled with -fmad=false.\n",
        line, fusable->ptx_line, more);
}

static void print_faults(const struct emulator_result *result)
{
    for (size_t i = 0; i < result->fault_count; ++i) {
        const struct emulator_fault *fault = &result->faults[i];
        char number[TEXT_NUMBER_BYTES];
        (void)fprintf(stderr, "spillway: %s: %s", fault->warning ? "warning" : "fault",
                      fault->text);
        if (fault->count > 1)
            (void)fprintf(stderr, " (and %s more of this kind at this line)",
                          text_number(fault->count - 1, number));
        (void)fputc('\n', stderr);
    }
    print_fusable(&result->fusable);
    if (result->status == EMULATOR_REFUSED)
        (void)fprintf(stderr, "spillway: the emulator cannot run this kernel: %s\n",
                      result->refusal);
}

static int run(struct request *request, const struct bytes *ptx, struct error *err)
{
    struct ptx_module *module = ptx_parse(ptx->data, ptx->length, err);
    if (module == NULL)
        return -1;
    struct emulator_result result = {0};
    struct bytes out = bytes_with_limit(PRINT_BYTES_MAX);
    struct emulator *emulator = NULL;
    int status = -1;
    request->entry = choose_entry(module, request->entry, err);
    if (request->entry == NULL)
        goto done;
    emulator = emulator_create(ptx->data, ptx->length, err);
    if (emulator == NULL || make_buffers(emulator, request, err) != 0 ||
        launch(emulator, request, ptx_function_find(module, request->entry), &result, err) != 0)
        goto done;
    for (size_t i = 0; i < request->argument_count; ++i)
        if (is_printed(&request->arguments[i]) &&
            read_back(emulator, &request->arguments[i], err) != 0)
            goto done;
    print_faults(&result);
    if (request->json) {
        if (append_json(&out, request, &result, err) != 0)
            goto done;
    } else if (result.status != EMULATOR_REFUSED) {
        append_text(&out, request, &result);
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
    struct request *request = calloc(1, sizeof *request);
    if (request == NULL) {
        (void)error_no_memory(&err);
        return error_report(&err);
    }
    request->options.interrupted = process_interrupted;
    struct bytes ptx = {0};
    int status = parse_command_line(request, argc, argv, &err);
    if (status == 0) {
        enum file_status read = file_read(&ptx, request->path, CAP_TEXT_BYTES, true);
        if (read != FILE_READ)
            status = error_set(&err, ERROR_INFRASTRUCTURE, "%s: %s",
                               text_copy(room, sizeof room, request->path), file_status_text(read));
        else if ((status = run(request, &ptx, &err)) < 0 && err.kind == ERROR_USAGE &&
                 strncmp(err.text, "line ", 5) == 0)
            (void)error_context(&err, "%s", text_copy(room, sizeof room, request->path));
    } else if (status > 0) {
        status = EXIT_STATUS_DONE;
    }
    for (size_t i = 0; i < request->argument_count; ++i)
        bytes_release(&request->arguments[i].data);
    free(request);
    bytes_release(&ptx);
    return status < 0 ? error_report(&err) : status;
}

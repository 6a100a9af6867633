/* cmd_emulate_request.c - the command line of `spillway emulate`: a launch and its arguments. */
#include "cmd_emulate.h"

#include "emulator/caps.h"
#include "emulator/values.h"
#include "files.h"
#include "number.h"
#include "options.h"
#include "text.h"

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

static int parse_values(struct emulate_argument *argument, const char *text, size_t number,
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

static int parse_content(struct emulate_argument *argument, const char *text, size_t number,
                         struct error *err)
{
    if (text[0] != '@')
        return parse_values(argument, text, number, err);
    char room[80];
    enum file_status status = file_read(&argument->data, text + 1, EMULATE_DATA_BYTES_MAX, true);
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
static int parse_argument(struct emulate_request *request, const char *text, struct error *err)
{
    static const struct {
        const char *prefix;
        int role;
    } roles[] = {{"in:", ARGUMENT_IN}, {"out:", ARGUMENT_OUT}, {"inout:", ARGUMENT_INOUT}};
    char room[80];
    const size_t number = request->argument_count;
    if (number == EMULATE_ARGUMENTS_MAX)
        return error_set(err, ERROR_USAGE, "more than %d arguments", EMULATE_ARGUMENTS_MAX);
    struct emulate_argument *argument = &request->arguments[request->argument_count++];
    *argument = (struct emulate_argument){.data = bytes_with_limit(EMULATE_DATA_BYTES_MAX)};
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
        if (!number_parse_u64(colon + 1, EMULATE_DATA_BYTES_MAX / ptx_type_bytes(argument->type),
                              &count))
            return error_set(err, ERROR_USAGE,
                             "argument %zu: \"%s\" is no number of elements up to %zu", number,
                             text_copy(room, sizeof room, colon + 1),
                             EMULATE_DATA_BYTES_MAX / ptx_type_bytes(argument->type));
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

static int parse_option(struct emulate_request *request, int option, const char *text,
                        struct error *err)
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

int emulate_parse(struct emulate_request *request, int argc, char **argv, struct error *err)
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
        if (option == OPTIONS_HELP)
            return 1;
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

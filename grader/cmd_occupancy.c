/* cmd_occupancy.c - `spillway occupancy`: how many blocks fit one SM, why, and what would gain one.
 */
#include "commands.h"

#include "arch.h"
#include "files.h"
#include "json_text.h"
#include "occupancy.h"
#include "options.h"
#include "text.h"

static const char usage[] =
    "usage: spillway occupancy --arch sm_XX --regs N --threads N [OPTION]…\n"
    "\n"
    "How many blocks of a kernel one SM can hold at a time, what limits them, and the\n"
    "next register count at which a block is gained. Needs no toolkit and no GPU.\n"
    "\n"
    "  --arch sm_75      architecture: sm_50 to sm_121 (75 and 7.5 will do too)\n"
    "  --regs 65         registers a thread, as ptxas prints them\n"
    "  --threads 256     threads a block\n"
    "  --shared BYTES    shared memory a block, static and dynamic (default 0)\n"
    "  --barriers N      barriers a block, as ptxas prints them (default 0)\n"
    "  --json            print JSON (schema spillway/occupancy/v1)\n"
    "  --help            this text\n"
    "\n"
    "Exit status: 0 answered (also when no block fits), 2 usage.\n"
    "\n"
    "Examples:\n"
    "  spillway occupancy --arch sm_75 --regs 65 --threads 256\n"
    "  spillway occupancy --arch sm_90 --regs 40 --threads 128 --shared 16384 --json\n";

struct request {
    const char *arch_text, *registers, *threads, *shared, *barriers;
    bool json;
    const struct sm_limits *sm;
    struct occupancy_kernel kernel;
};

static bool take(unsigned *ret, const char *option, const char *text, unsigned least, unsigned most,
                 const char *why, struct error *err)
{
    uint64_t value = 0;
    if (options_number(&value, option, text, least, most, why, err) != 0)
        return false;
    *ret = (unsigned)value;
    return true;
}

static bool find_limits(struct request *request, struct error *err)
{
    struct arch arch;
    if (arch_parse(request->arch_text, &arch))
        request->sm = sm_limits_find(arch_major(arch), arch_minor(arch));
    if (request->sm != NULL)
        return true;
    char quoted[40];
    struct bytes known = bytes_with_limit(512);
    for (size_t i = 0; sm_limits_row(i) != NULL; ++i)
        (void)bytes_printf(&known, "%s sm_%u%u", i == 0 ? "" : ",", sm_limits_row(i)->major,
                           sm_limits_row(i)->minor);
    (void)error_set(err, ERROR_USAGE, "--arch is \"%s\"; known are%s",
                    text_copy(quoted, sizeof quoted, request->arch_text), bytes_text(&known));
    bytes_release(&known);
    return false;
}

static bool read_request(struct request *request, struct error *err)
{
    const struct {
        const char *option, *text;
    } needed[] = {{"--arch", request->arch_text},
                  {"--regs", request->registers},
                  {"--threads", request->threads}};
    for (size_t i = 0; i < COUNT_OF(needed); ++i)
        if (needed[i].text == NULL) {
            (void)error_set(err, ERROR_USAGE,
                            "%s is missing; for example: spillway occupancy --arch sm_75 --regs 65 "
                            "--threads 256",
                            needed[i].option);
            return false;
        }
    if (!find_limits(request, err))
        return false;
    const struct sm_limits *sm = request->sm;
    struct occupancy_kernel *kernel = &request->kernel;
    /* ptxas never uses fewer than one register in a kernel that does anything; 0 is let through. */
    return take(&kernel->registers, "--regs", request->registers, 0, sm->registers_per_thread,
                ", the most a thread may have", err) &&
           take(&kernel->threads, "--threads", request->threads, 1, sm->threads_per_block,
                ", the largest block", err) &&
           (request->shared == NULL ||
            take(&kernel->shared_bytes, "--shared", request->shared, 0, sm->shared_per_block_optin,
                 ", the most a block may have on this architecture", err)) &&
           (request->barriers == NULL || take(&kernel->barriers, "--barriers", request->barriers, 0,
                                              16, ", the most a block may have", err));
}

/* ---- For people ------------------------------------------------------------------------------ */

static void append_limits(struct bytes *out, const struct occupancy *found)
{
    bool first = true;
    for (unsigned i = 0; i < OCCUPANCY_LIMIT_COUNT; ++i)
        if ((found->limited_by >> i & 1) != 0) {
            (void)bytes_printf(out, "%s%s", first ? "" : " and ",
                               occupancy_limit_name((enum occupancy_limit)(1u << i)));
            first = false;
        }
}

/* Text broken at blanks so that no line passes column 80; it starts behind a label of `indent`
 * columns. */
static void append_wrapped(struct bytes *out, const char *text, size_t indent)
{
    const size_t width = 80;
    size_t at = indent;
    for (const char *word = text; *word != '\0';) {
        size_t length = strcspn(word, " ");
        bool first = at == indent;
        if (!first && at + 1 + length > width) {
            (void)bytes_printf(out, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        (void)bytes_printf(out, "%s%.*s", first ? "" : " ", (int)length, word);
        at += length + (first ? 0 : 1);
        word += length + (word[length] == ' ');
    }
    (void)bytes_append_text(out, "\n");
}

static void append_shared(struct bytes *out, const struct request *request)
{
    const struct sm_limits *sm = request->sm;
    char number[TEXT_NUMBER_BYTES];
    struct bytes text = bytes_with_limit(1024);
    (void)bytes_printf(&text, "%s bytes", text_number(request->kernel.shared_bytes, number));
    if (sm->shared_reserved > 0)
        (void)bytes_printf(&text, " and %s that the system reserves",
                           text_number(sm->shared_reserved, number));
    (void)bytes_printf(&text, ", in units of %u, of %s an SM", sm->shared_allocation,
                       text_number(sm->shared_per_sm, number));
    if (request->kernel.shared_bytes > sm->shared_per_block)
        (void)bytes_printf(
            &text,
            "; more than %s must be dynamic, and the host must ask for it by "
            "cudaFuncSetAttribute(…, cudaFuncAttributeMaxDynamicSharedMemorySize, …)",
            text_number(sm->shared_per_block, number));
    (void)bytes_append_text(out, "shared      ");
    append_wrapped(out, bytes_text(&text), 12);
    bytes_release(&text);
}

static void append_arithmetic(struct bytes *out, const struct request *request)
{
    struct bytes text = bytes_with_limit(1024);
    occupancy_explain_registers(&text, request->sm, &request->kernel);
    (void)bytes_append_text(out, "\n");
    append_wrapped(out, bytes_text(&text), 0);
    bytes_release(&text);
}

static void append_page(struct bytes *out, const struct request *request,
                        const struct occupancy *found)
{
    const struct sm_limits *sm = request->sm;
    const struct occupancy_kernel *kernel = &request->kernel;
    char threads[TEXT_NUMBER_BYTES], all[TEXT_NUMBER_BYTES];
    (void)bytes_printf(out, "sm_%u%u: %u registers a thread, %u threads a block\n\n", sm->major,
                       sm->minor, kernel->registers, kernel->threads);
    (void)bytes_printf(out, "blocks      %u an SM", found->blocks);
    if (found->blocks == 0)
        (void)bytes_append_text(out, ": a launch would be refused");
    (void)bytes_printf(out, "\nthreads     %s of %s\noccupancy   %.1f%%\nlimited by  ",
                       text_number(found->threads, threads), text_number(sm->threads_per_sm, all),
                       found->percent);
    append_limits(out, found);
    (void)bytes_append_text(out, "\n");
    if (kernel->shared_bytes > 0)
        append_shared(out, request);
    if (found->next_registers != 0)
        (void)bytes_printf(out, "next        at %u registers: %u block%s\n", found->next_registers,
                           found->next_blocks, found->next_blocks == 1 ? "" : "s");
    else
        (void)bytes_append_text(out, "next        fewer registers alone would gain no block\n");
    append_arithmetic(out, request);
}

/* ---- For programs ---------------------------------------------------------------------------- */

static const char *const limit_keys[OCCUPANCY_LIMIT_COUNT] = {"threads", "blocks", "registers",
                                                              "shared", "barriers"};

static json_t *limit_names(const struct occupancy *found)
{
    json_t *names = json_array();
    for (unsigned i = 0; i < OCCUPANCY_LIMIT_COUNT; ++i)
        if ((found->limited_by >> i & 1) != 0)
            (void)json_array_append_new(names, json_string(limit_keys[i]));
    return names;
}

static json_t *limit_blocks(const struct occupancy *found)
{
    json_t *object = json_object();
    for (unsigned i = 0; i < OCCUPANCY_LIMIT_COUNT; ++i)
        (void)json_object_set_new(object, limit_keys[i],
                                  found->blocks_by[i] == OCCUPANCY_NO_LIMIT
                                      ? json_null()
                                      : json_integer(found->blocks_by[i]));
    return object;
}

static json_t *whole(const struct request *request, const struct occupancy *found,
                     const char *arithmetic)
{
    const struct sm_limits *sm = request->sm;
    const struct occupancy_kernel *kernel = &request->kernel;
    json_t *next = found->next_registers == 0
                       ? json_null()
                       : json_pack("{s:i, s:i}", "registers", (int)found->next_registers, "blocks",
                                   (int)found->next_blocks);
    return json_pack("{s:s, s:o, s:{s:i, s:i, s:i, s:i}, s:i, s:i, s:f, s:o, s:o, s:i, s:s, s:o,"
                     " s:{s:i, s:i, s:i, s:i, s:i}}",
                     "schema", "spillway/occupancy/v1", "arch",
                     json_sprintf("sm_%u%u", sm->major, sm->minor), "kernel", "registers",
                     (int)kernel->registers, "threads", (int)kernel->threads, "shared_bytes",
                     (int)kernel->shared_bytes, "barriers", (int)kernel->barriers, "blocks",
                     (int)found->blocks, "threads", (int)found->threads, "percent", found->percent,
                     "limited_by", limit_names(found), "blocks_by", limit_blocks(found),
                     "registers_allocated", (int)found->registers_allocated, "arithmetic",
                     arithmetic, "next", next, "sm", "threads", (int)sm->threads_per_sm, "blocks",
                     (int)sm->blocks_per_sm, "registers", (int)sm->registers_per_sm, "shared_bytes",
                     (int)sm->shared_per_sm, "barriers", (int)sm->barriers_per_sm);
}

static int append_json(struct bytes *out, const struct request *request,
                       const struct occupancy *found, struct error *err)
{
    struct bytes arithmetic = bytes_with_limit(1024);
    occupancy_explain_registers(&arithmetic, request->sm, &request->kernel);
    int status = json_text_append(out, whole(request, found, bytes_text(&arithmetic)),
                                  JSON_REAL_PRECISION(6), err);
    bytes_release(&arithmetic);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

/* 0 go on; 1 help was printed; -1 *err. */
static int parse_options(struct request *request, int argc, char **argv, struct error *err)
{
    enum { ARCH = OPTIONS_HELP + 1, REGISTERS, THREADS, SHARED, BARRIERS, JSON };
    static const struct option options[] = {
        {"arch", required_argument, NULL, ARCH},
        {"regs", required_argument, NULL, REGISTERS},
        {"threads", required_argument, NULL, THREADS},
        {"shared", required_argument, NULL, SHARED},
        {"barriers", required_argument, NULL, BARRIERS},
        {"json", no_argument, NULL, JSON},
        {"help", no_argument, NULL, OPTIONS_HELP},
        {0},
    };
    optind = 0;
    int option;
    while ((option = options_next(argc, argv, options, "occupancy", err)) != OPTIONS_END)
        switch (option) {
        case ARCH:
            request->arch_text = optarg;
            break;
        case REGISTERS:
            request->registers = optarg;
            break;
        case THREADS:
            request->threads = optarg;
            break;
        case SHARED:
            request->shared = optarg;
            break;
        case BARRIERS:
            request->barriers = optarg;
            break;
        case JSON:
            request->json = true;
            break;
        case OPTIONS_HELP:
            (void)fputs(usage, stdout);
            return 1;
        default:
            return -1;
        }
    return optind == argc
               ? 0
               : error_set(
                     err, ERROR_USAGE,
                     "\"%s\" is no option of occupancy; `spillway occupancy --help` lists them",
                     argv[optind]);
}

int cmd_occupancy(int argc, char **argv)
{
    struct request request = {0};
    struct error err = {0};
    int status = parse_options(&request, argc, argv, &err);
    if (status > 0)
        return EXIT_STATUS_DONE;
    if (status < 0 || !read_request(&request, &err))
        return error_report(&err);
    struct occupancy found = occupancy_compute(request.sm, &request.kernel);
    struct bytes out = bytes_with_limit((size_t)64 << 10);
    if (request.json)
        status = append_json(&out, &request, &found, &err);
    else {
        append_page(&out, &request, &found);
        status = out.failed ? error_no_memory(&err) : 0;
    }
    if (status == 0)
        status = file_write("-", out.data, out.length, &err);
    bytes_release(&out);
    return status == 0 ? EXIT_STATUS_DONE : error_report(&err);
}

/* cmd_emulate_output.c - what `spillway emulate` prints: buffers, faults and counters, as text and
 * as JSON. */
#include "cmd_emulate.h"

#include "emulator/caps.h"
#include "emulator/values.h"
#include "json_text.h"
#include "number.h"
#include "remedies.h"
#include "text.h"
#include "wrap.h"

bool emulate_is_printed(const struct emulate_argument *argument)
{
    return argument->role == ARGUMENT_OUT || argument->role == ARGUMENT_INOUT;
}

void emulate_append_text(struct bytes *out, const struct emulate_request *request,
                         const struct emulator_result *result)
{
    (void)bytes_append(out, bytes_text(&result->printed), result->printed.length);
    if (result->printed.length > 0 && out->data[out->length - 1] != '\n')
        (void)bytes_append_text(out, "\n");
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct emulate_argument *argument = &request->arguments[i];
        if (!emulate_is_printed(argument))
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

static json_t *json_buffers(const struct emulate_request *request)
{
    json_t *list = json_array();
    for (size_t i = 0; i < request->argument_count; ++i) {
        const struct emulate_argument *argument = &request->arguments[i];
        if (!emulate_is_printed(argument))
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
    return json_pack("{s:s, s:s, s:s?, s:s*, s:o, s:i, s:[i,i,i], s:[i,i,i], s:s, s:i, s:I, s:b}",
                     "kind", fault->kind, "text", fault->text, "remedy",
                     remedy_for_fault(fault->kind, fault->text, REMEDY_ANYWHERE), "file",
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

int emulate_append_json(struct bytes *out, const struct emulate_request *request,
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

/* "  try: …", in lines of 80 columns. */
static void print_remedy(const struct emulator_fault *fault)
{
    const char *remedy = remedy_for_fault(fault->kind, fault->text, REMEDY_ANYWHERE);
    if (remedy == NULL)
        return;
    struct bytes text = bytes_with_limit(4096);
    wrap_text(&text, 2, "try: ", remedy);
    if (!text.failed)
        (void)fputs(bytes_text(&text), stderr);
    bytes_release(&text);
}

void emulate_print_faults(const struct emulator_result *result)
{
    bool by_ptx_line = false;
    for (size_t i = 0; i < result->fault_count; ++i) {
        const struct emulator_fault *fault = &result->faults[i];
        char number[TEXT_NUMBER_BYTES];
        (void)fprintf(stderr, "spillway: %s: %s", fault->warning ? "warning" : "fault",
                      fault->text);
        if (fault->count > 1)
            (void)fprintf(stderr, " (and %s more of this kind at this line)",
                          text_number(fault->count - 1, number));
        (void)fputc('\n', stderr);
        print_remedy(fault);
        by_ptx_line = by_ptx_line || fault->line == 0;
    }
    if (by_ptx_line)
        (void)fputs("spillway: note: for lines of the source in place of the PTX, compile with "
                    "nvcc -lineinfo\n",
                    stderr);
    print_fusable(&result->fusable);
    if (result->status == EMULATOR_REFUSED)
        (void)fprintf(stderr, "spillway: the emulator cannot run this kernel: %s\n",
                      result->refusal);
}

#include "numbers_pack.h"

#include "outcome.h"
#include "run_result.h"
#include "timing.h"

/* ---- Sentences that name a line --------------------------------------------------------------*/

/* Behind the one "(file:" of the sentence; NULL: not one, or lines may be named otherwise too. */
static const char *find_place(const char *text, const char *source_name)
{
    char place[300];
    (void)snprintf(place, sizeof place, "(%s:", source_name);
    const char *at = strstr(text, place), *name = strstr(text, source_name);
    if (at == NULL || name != at + 1 || strstr(name + 1, source_name) != NULL ||
        strstr(text, "line ") != NULL || strstr(text, "lines ") != NULL)
        return NULL;
    return at + strlen(place);
}

static bool fault_can_pack(const struct run_fault *fault, const char *source_name,
                           const struct line_map *map)
{
    char number[24];
    const char *place = find_place(fault->text, source_name);
    const char *slash = strrchr(fault->file, '/');
    (void)snprintf(number, sizeof number, "%u)", fault->line);
    return map != NULL && place != NULL && strncmp(place, number, strlen(number)) == 0 &&
           strcmp(slash == NULL ? fault->file : slash + 1, source_name) == 0 &&
           line_map_number(map, fault->line) != 0;
}

/* ---- What can be packed ----------------------------------------------------------------------*/

static enum numbers_packing outcome_packing(const struct case_outcome *outcome,
                                            const struct numbers_result *result,
                                            const struct case_data *data, const char *source_name,
                                            const struct line_map *map)
{
    const struct run_launch_result *launch = outcome->launch;
    if (outcome->status != CASE_EQUAL && outcome->status != CASE_WRONG)
        return NUMBERS_NOT_PACKED;
    if (launch == NULL) /* why not may name a line of the PTX */
        return map != NULL ? NUMBERS_NAME_LINES : NUMBERS_NOT_PACKED;
    if (launch->printed != NULL || launch->warning.kind[0] != '\0')
        return NUMBERS_NOT_PACKED;
    if (launch->status == RUN_FAULTED && result->run.executor == EXECUTOR_EMULATOR)
        return fault_can_pack(&launch->fault, source_name, map) ? NUMBERS_NAME_LINES
                                                                : NUMBERS_NOT_PACKED;
    if (launch->status != RUN_FINISHED || launch->output_count != 1 ||
        launch->outputs[0].data == NULL)
        return NUMBERS_NOT_PACKED;
    bool right = memcmp(launch->outputs[0].data, data->expected, launch->outputs[0].bytes) == 0;
    return outcome->status == CASE_EQUAL && !right ? NUMBERS_NOT_PACKED : NUMBERS_NAME_NONE;
}

enum numbers_packing numbers_can_pack(const struct numbers_result *result,
                                      const struct numbers *numbers, const struct line_map *map)
{
    enum numbers_packing least = NUMBERS_NAME_NONE;
    for (size_t i = 0; i < result->outcome_count; ++i) {
        enum numbers_packing one = outcome_packing(&result->outcomes[i], result, &numbers->cases[i],
                                                   numbers->lab->source_name, map);
        least = one < least ? one : least;
    }
    return result->outcome_count > 0 ? least : NUMBERS_NOT_PACKED;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void pack_direction(struct bytes *out, const struct traffic_direction *direction)
{
    pack_number(out, direction->known);
    pack_number(out, direction->load.requests);
    pack_number(out, direction->load.sectors);
    pack_number(out, direction->store.requests);
    pack_number(out, direction->store.sectors);
}

static void pack_timing(struct bytes *out, const struct run_timing *time)
{
    pack_number(out, time->known);
    pack_double(out, time->median_ns);
    pack_double(out, time->q1_ns);
    pack_double(out, time->q3_ns);
    pack_double(out, time->empty_ns);
    pack_number(out, time->samples_ns == NULL ? 0 : time->rounds);
    for (unsigned i = 0; time->samples_ns != NULL && i < time->rounds; ++i)
        pack_double(out, time->samples_ns[i]);
}

static void pack_launch(struct bytes *out, const struct run_launch_result *launch)
{
    pack_number(out, launch->input_changed);
    pack_number(out, launch->input_index);
    pack_number(out, launch->input_offset);
    pack_number(out, launch->later_launch_differs);
    pack_number(out, launch->warps_launched);
    pack_number(out, launch->warps_active);
    pack_signed(out, launch->device_registers);
    pack_signed(out, launch->device_local_bytes);
    pack_signed(out, launch->device_shared_bytes);
    pack_signed(out, launch->device_max_threads);
    pack_signed(out, launch->device_blocks_per_sm);
    pack_direction(out, &launch->traffic.global);
    pack_direction(out, &launch->traffic.local_array);
    pack_direction(out, &launch->traffic.spill);
    pack_timing(out, &launch->time);
}

/* The sentence in two, around the line. */
static void pack_fault(struct bytes *out, const struct run_fault *fault, const char *source_name,
                       const struct line_map *map)
{
    const char *place = find_place(fault->text, source_name);
    pack_number(out, line_map_number(map, fault->line));
    pack_bytes(out, fault->text, (size_t)(place - fault->text));
    pack_text(out, place + strspn(place, "0123456789"));
    pack_text(out, fault->kind);
    pack_number(out, fault->count);
}

/* What a case came to, before the rest of it. */
enum packed { PACKED_FINISHED, PACKED_FAULTED, PACKED_NOT_LAUNCHED };

void numbers_pack(struct bytes *out, const struct numbers_result *result,
                  const struct numbers *numbers, const struct line_map *map)
{
    pack_number(out, result->run.executor);
    pack_text(out, result->run.device);
    pack_number(out, result->run.device_cc);
    pack_number(out, result->outcome_count);
    for (size_t i = 0; i < result->outcome_count; ++i) {
        const struct case_outcome *outcome = &result->outcomes[i];
        const struct run_launch_result *launch = outcome->launch;
        bool faulted = launch != NULL && launch->status == RUN_FAULTED;
        pack_number(out, launch == NULL ? PACKED_NOT_LAUNCHED
                         : faulted      ? PACKED_FAULTED
                                        : PACKED_FINISHED);
        if (faulted) {
            pack_fault(out, &launch->fault, numbers->lab->source_name, map);
            continue;
        }
        pack_number(out, outcome->status);
        pack_number(out, outcome->compared);
        pack_number(out, outcome->mismatches);
        pack_number(out, outcome->first_index);
        pack_number(out, outcome->expected_bits);
        pack_number(out, outcome->got_bits);
        pack_text(out, outcome->problem);
        pack_text(out, outcome->remedy);
        if (launch != NULL)
            pack_launch(out, launch);
    }
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void unpack_direction(struct unpack *from, struct traffic_direction *ret)
{
    ret->known = unpack_below(from, 1) != 0;
    ret->load.requests = unpack_number(from);
    ret->load.sectors = unpack_number(from);
    ret->store.requests = unpack_number(from);
    ret->store.sectors = unpack_number(from);
}

static void unpack_timing(struct unpack *from, struct run_timing *ret)
{
    ret->known = unpack_below(from, 1) != 0;
    ret->median_ns = unpack_double(from);
    ret->q1_ns = unpack_double(from);
    ret->q3_ns = unpack_double(from);
    ret->empty_ns = unpack_double(from);
    ret->rounds = (unsigned)unpack_below(from, TIMING_ROUNDS_MAX);
    if (ret->rounds == 0)
        return;
    ret->samples_ns = calloc(ret->rounds, sizeof ret->samples_ns[0]);
    from->failed = from->failed || ret->samples_ns == NULL;
    for (unsigned i = 0; i < ret->rounds && !from->failed; ++i)
        ret->samples_ns[i] = unpack_double(from);
}

static void unpack_launch(struct unpack *from, struct run_launch_result *ret)
{
    ret->status = RUN_FINISHED;
    ret->input_changed = unpack_below(from, 1) != 0;
    ret->input_index = (unsigned)unpack_below(from, RUN_ARGUMENTS_MAX - 1);
    ret->input_offset = unpack_number(from);
    ret->later_launch_differs = unpack_below(from, 1) != 0;
    ret->warps_launched = unpack_number(from);
    ret->warps_active = unpack_number(from);
    ret->device_registers = unpack_signed(from);
    ret->device_local_bytes = unpack_signed(from);
    ret->device_shared_bytes = unpack_signed(from);
    ret->device_max_threads = unpack_signed(from);
    ret->device_blocks_per_sm = unpack_signed(from);
    unpack_direction(from, &ret->traffic.global);
    unpack_direction(from, &ret->traffic.local_array);
    unpack_direction(from, &ret->traffic.spill);
    unpack_timing(from, &ret->time);
}

static void unpack_fault(struct unpack *from, struct run_launch_result *ret,
                         const char *source_name, const struct line_map *map)
{
    struct run_fault *fault = &ret->fault;
    uint64_t number = unpack_below(from, map == NULL ? 0 : map->count);
    struct slice before = unpack_bytes(from);
    char after[sizeof fault->text];
    unpack_text_into(from, after, sizeof after);
    unpack_text_into(from, fault->kind, sizeof fault->kind);
    fault->count = unpack_number(from);
    from->failed =
        from->failed || map == NULL || number == 0 || before.length >= sizeof fault->text;
    if (from->failed)
        return;
    ret->status = RUN_FAULTED;
    fault->line = map->lines[number - 1];
    (void)snprintf(fault->file, sizeof fault->file, "%s", source_name);
    (void)snprintf(fault->text, sizeof fault->text, "%.*s%u%s", (int)before.length, before.text,
                   fault->line, after);
}

static void unpack_outcome(struct unpack *from, struct case_outcome *ret)
{
    uint64_t status = unpack_below(from, CASE_ERROR);
    ret->status = (enum case_status)status;
    from->failed = from->failed || (status != CASE_EQUAL && status != CASE_WRONG);
    ret->compared = unpack_number(from);
    ret->mismatches = unpack_number(from);
    ret->first_index = unpack_number(from);
    ret->expected_bits = (uint32_t)unpack_below(from, UINT32_MAX);
    ret->got_bits = (uint32_t)unpack_below(from, UINT32_MAX);
    unpack_text_into(from, ret->problem, sizeof ret->problem);
    unpack_text_into(from, ret->remedy, sizeof ret->remedy);
}

static void unpack_case(struct unpack *from, struct numbers_result *ret, size_t index,
                        const struct line_map *map)
{
    struct case_outcome *outcome = &ret->outcomes[index];
    struct run_launch_result *launch = &ret->run.launches[index];
    const struct numbers *numbers = ret->right_outputs;
    run_result_init(launch);
    switch ((enum packed)unpack_below(from, PACKED_NOT_LAUNCHED)) {
    case PACKED_FAULTED:
        outcome->launch = launch;
        unpack_fault(from, launch, numbers->lab->source_name, map);
        if (!from->failed)
            outcome_judge(outcome, numbers, &numbers->cases[index], 0, false);
        break;
    case PACKED_FINISHED:
        outcome->launch = launch;
        unpack_outcome(from, outcome);
        unpack_launch(from, launch);
        break;
    case PACKED_NOT_LAUNCHED:
        unpack_outcome(from, outcome);
        from->failed = from->failed || outcome->status != CASE_WRONG;
        break;
    }
}

bool numbers_unpack(struct numbers_result *ret, const struct numbers *numbers,
                    const struct line_map *map, struct unpack *from)
{
    size_t count = numbers->case_count;
    *ret = (struct numbers_result){.outcome_count = count,
                                   .outcomes = calloc(count, sizeof ret->outcomes[0]),
                                   .right_outputs = numbers};
    ret->run.launches = calloc(count, sizeof ret->run.launches[0]);
    from->failed = from->failed || ret->outcomes == NULL || ret->run.launches == NULL;
    ret->run.launch_count = ret->run.launches != NULL ? count : 0;
    ret->run.executor = (enum executor_kind)unpack_below(from, EXECUTOR_EMULATOR);
    unpack_text_into(from, ret->run.device, sizeof ret->run.device);
    ret->run.device_cc = (unsigned)unpack_below(from, 10000);
    from->failed = unpack_number(from) != count || from->failed;
    for (size_t i = 0; i < count && !from->failed; ++i)
        unpack_case(from, ret, i, map);
    if (unpack_done(from))
        return true;
    numbers_result_release(ret);
    return false;
}

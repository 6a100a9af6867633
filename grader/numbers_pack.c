#include "numbers_pack.h"

#include "timing.h"

bool numbers_can_pack(const struct numbers_result *result, const struct numbers *numbers)
{
    for (size_t i = 0; i < result->outcome_count; ++i) {
        const struct case_outcome *outcome = &result->outcomes[i];
        const struct run_launch_result *launch = outcome->launch;
        if (launch == NULL || launch->status != RUN_FINISHED || launch->warning.kind[0] != '\0' ||
            launch->printed != NULL || launch->output_count != 1 ||
            launch->outputs[0].data == NULL ||
            (outcome->status != CASE_EQUAL && outcome->status != CASE_WRONG))
            return false;
        if (outcome->status == CASE_EQUAL &&
            memcmp(launch->outputs[0].data, numbers->cases[i].expected, launch->outputs[0].bytes) !=
                0)
            return false;
    }
    return result->outcome_count > 0;
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

void numbers_pack(struct bytes *out, const struct numbers_result *result)
{
    pack_number(out, result->run.executor);
    pack_text(out, result->run.device);
    pack_number(out, result->run.device_cc);
    pack_number(out, result->outcome_count);
    for (size_t i = 0; i < result->outcome_count; ++i) {
        const struct case_outcome *outcome = &result->outcomes[i];
        pack_number(out, outcome->status);
        pack_number(out, outcome->compared);
        pack_number(out, outcome->mismatches);
        pack_number(out, outcome->first_index);
        pack_number(out, outcome->expected_bits);
        pack_number(out, outcome->got_bits);
        pack_text(out, outcome->problem);
        pack_text(out, outcome->remedy);
        pack_launch(out, outcome->launch);
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

bool numbers_unpack(struct numbers_result *ret, const struct numbers *numbers, struct unpack *from)
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
    for (size_t i = 0; i < count && !from->failed; ++i) {
        unpack_outcome(from, &ret->outcomes[i]);
        unpack_launch(from, &ret->run.launches[i]);
        ret->outcomes[i].launch = &ret->run.launches[i];
    }
    if (unpack_done(from))
        return true;
    numbers_result_release(ret);
    return false;
}

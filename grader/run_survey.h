/* run_survey.h - what GPUs this machine has, asked in a worker process: CUDA never lives in the
 * grader. */
#ifndef SPILLWAY_RUN_SURVEY_H
#define SPILLWAY_RUN_SURVEY_H

#include "errors.h"
#include "occupancy.h"

struct gpu_device {
    int ordinal;
    char name[128];
    unsigned major, minor;
    struct sm_limits sm; /* from the device's attributes */
    uint64_t memory_bytes;
};

struct gpu_survey {
    bool driver_present;
    int driver_version;  /* 13000 for CUDA 13.0; 0: none */
    int runtime_version; /* of the cudart linked in; 0: built without */
    struct gpu_device devices[16];
    size_t device_count;
    char why_none[256]; /* a sentence, when device_count == 0 */
};

/* Asks the driver. Never fails for lack of a GPU: why_none says it. -1 with *err when no worker can
 * be started, or the user interrupted. */
int run_survey_gpus(struct gpu_survey *out, struct error *err);

#endif

#include "grading_options.h"

#include <sys/random.h>

static int take_small(unsigned *ret, const char *option, const char *value, unsigned most,
                      struct error *err)
{
    uint64_t number = 0;
    if (options_number(&number, option, value, 0, most, "", err) != 0)
        return -1;
    *ret = (unsigned)number;
    return 0;
}

int grading_options_take(struct grading_options *options, int option, const char *value,
                         struct error *err)
{
    struct machine_options *machine = &options->machine;
    switch (option) {
    case GRADING_LAB:
        options->submission.lab_id = value;
        return 0;
    case GRADING_REV:
        options->submission.revision = value;
        return 0;
    case GRADING_ARCH:
        return choice_parse_archs(machine->archs, &machine->arch_count, value, err);
    case GRADING_EXECUTOR:
        return choice_parse_executor(&machine->executor, value, err);
    case GRADING_SEED:
        options->has_seed = true;
        return options_number(&options->seed, "--seed", value, 0, INT64_MAX, "", err);
    case GRADING_NVCC:
        machine->nvcc = value;
        return 0;
    case GRADING_SANDBOX:
        return sandbox_parse_mode(value, &machine->sandbox)
                   ? 0
                   : options_refuse(err, "--sandbox", value, "auto, on or off");
    case GRADING_ELEMENTS:
        return options_number(&options->elements, "--elements", value, 1, 16777216, "", err);
    case GRADING_THREADS:
        return take_small(&machine->threads, "--threads", value, 256, err);
    case GRADING_LAUNCH_SECONDS:
        return take_small(&machine->launch_seconds, "--launch-seconds", value, 86400, err);
    default:
        return -1;
    }
}

int grading_options_folder(struct grading_options *options, int argc, char **argv,
                           struct error *err)
{
    if (argc - optind > 1)
        return error_set(err, ERROR_USAGE, "one folder at a time: what is \"%s\"?",
                         argv[optind + 1]);
    if (optind < argc)
        options->submission.directory = argv[optind];
    return 0;
}

int grading_options_draw_seed(struct grading_options *options, struct error *err)
{
    uint32_t drawn = 0;
    if (options->has_seed)
        return 0;
    if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot draw a random seed");
    options->seed = drawn;
    return 0;
}

#include "choice.h"

#include "options.h"

int choice_parse_archs(struct arch *archs, size_t *count, const char *list, struct error *err)
{
    AUTO_FREE char *copy = strdup(list);
    if (copy == NULL)
        return error_no_memory(err);
    char *rest = copy;
    for (char *name; (name = strsep(&rest, ",")) != NULL;) {
        struct arch arch;
        if (!arch_parse(name, &arch))
            return options_refuse(err, "--arch", list, "names like sm_75, joined by commas");
        bool known = false;
        for (size_t i = 0; i < *count; ++i)
            known = known || arch_equal(archs[i], arch);
        if (known)
            continue;
        if (*count >= CHOICE_ARCHS_MAX)
            return options_refuse(err, "--arch", list, "at most 16 architectures");
        archs[(*count)++] = arch;
    }
    return 0;
}

int choice_parse_executor(const char **ret, const char *value, struct error *err)
{
    static const char *const executors[] = {"auto", "gpu", "emulator", "none"};
    *ret = value;
    for (size_t i = 0; i < COUNT_OF(executors); ++i)
        if (strcmp(value, executors[i]) == 0)
            return 0;
    return options_refuse(err, "--executor", value, "auto, gpu, emulator or none");
}

int choice_executor(struct choice *choice, const char *wish, const struct toolchain *toolchain,
                    struct error *err)
{
    if (strcmp(wish, "none") == 0) {
        choice->executor = EXECUTOR_NONE;
        (void)snprintf(choice->why, sizeof choice->why, "--executor none");
        return 0;
    }
    choice->executor = EXECUTOR_EMULATOR;
    if (strcmp(wish, "emulator") == 0) {
        (void)snprintf(choice->why, sizeof choice->why, "--executor emulator");
        return 0;
    }
    struct gpu_survey survey;
    if (run_survey_gpus(&survey, err) != 0)
        return -1;
    bool wanted = strcmp(wish, "gpu") == 0;
    if (survey.device_count > 0) {
        choice->gpu = survey.devices[0];
        struct arch arch = {.number = choice->gpu.major * 10 + choice->gpu.minor};
        if (toolchain_knows(toolchain, arch)) {
            choice->executor = EXECUTOR_GPU;
            (void)snprintf(choice->why, sizeof choice->why, "%s",
                           wanted ? "--executor gpu" : "there is a GPU");
            return 0;
        }
        (void)snprintf(choice->why, sizeof choice->why,
                       "nvcc %s does not compile for %.100s (sm_%u)", toolchain->version,
                       choice->gpu.name, arch.number);
    } else {
        (void)snprintf(choice->why, sizeof choice->why, "%s", survey.why_none);
    }
    if (wanted)
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "--executor gpu, but %s; `spillway doctor` tells more", choice->why);
    return 0;
}

static size_t add_arch(struct choice *choice, struct arch arch)
{
    for (size_t i = 0; i < choice->arch_count; ++i)
        if (arch_equal(choice->archs[i], arch))
            return i;
    choice->archs[choice->arch_count] = arch;
    return choice->arch_count++;
}

static void list_archs(const struct toolchain *toolchain, struct bytes *list)
{
    char name[ARCH_NAME_BYTES];
    for (size_t i = 0; i < toolchain->arch_count; ++i)
        bytes_printf(list, "%s%s", i == 0 ? "" : " ", arch_name(toolchain->archs[i], "sm_", name));
}

int choice_archs(struct choice *choice, const struct arch *wished, size_t count,
                 const struct toolchain *toolchain, const struct answers *answers,
                 struct error *err)
{
    const struct answer *answer = answers_find(answers, "build", "arch");
    struct arch declared = {0};
    bool has_declared =
        answer != NULL && !answer->duplicate && arch_parse(answer->value, &declared);
    bool declared_known = has_declared && toolchain_knows(toolchain, declared);
    struct arch gpu = {.number = choice->gpu.major * 10 + choice->gpu.minor};
    for (size_t i = 0; i < count; ++i) {
        if (!toolchain_knows(toolchain, wished[i])) {
            char name[ARCH_NAME_BYTES];
            char room[800];
            struct bytes known = bytes_in(room, sizeof room);
            list_archs(toolchain, &known);
            error_set(err, ERROR_USAGE, "nvcc %s does not compile for %s; it knows %s",
                      toolchain->version, arch_name(wished[i], "sm_", name), bytes_text(&known));
            return -1;
        }
        (void)add_arch(choice, wished[i]);
    }
    if (count == 0)
        (void)add_arch(choice, declared_known                     ? declared
                               : choice->executor == EXECUTOR_GPU ? gpu
                               : toolchain_knows(toolchain, (struct arch){.number = 75})
                                   ? (struct arch){.number = 75}
                                   : toolchain->archs[0]);
    choice->graded_count = choice->arch_count;
    choice->declared_arch = has_declared ? declared : (struct arch){0};
    choice->declared = has_declared && !declared_known ? SIZE_MAX
                       : declared_known                ? add_arch(choice, declared)
                                                       : 0;
    choice->executed = choice->executor == EXECUTOR_GPU ? add_arch(choice, gpu) : 0;
    return 0;
}

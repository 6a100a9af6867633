/* cmd_doctor.c - `spillway doctor`: prints what doctor.c found. */
#include "commands.h"

#include "doctor.h"
#include "files.h"
#include "json_text.h"
#include "options.h"
#include "out_text.h"

static const char usage[] =
    "usage: spillway doctor [--json] [--nvcc PATH]\n"
    "\n"
    "Looks at what this machine has for grading: toolkit, host compiler, driver,\n"
    "GPUs, processor, folders and libraries. Under each trouble stands what mends it.\n"
    "\n"
    "  --json       print the findings as JSON (schema spillway/doctor/v1)\n"
    "  --nvcc PATH  look at this compiler (default: CUDA_HOME, PATH, /usr/local/cuda)\n"
    "  --help       this text\n"
    "\n"
    "Exit status: 0 grading works here, 2 usage, 3 grading is impossible here,\n"
    "130 interrupted.\n"
    "\n"
    "Examples:\n"
    "  spillway doctor\n"
    "  spillway doctor --nvcc /usr/local/cuda-12.6/bin/nvcc --json\n";

/* ---- For people ------------------------------------------------------------------------------ */

static const char *executor_sentence(const struct doctor *doctor)
{
    if (!doctor_can_grade(doctor))
        return "Nothing can be graded here until each FAIL above is mended.";
    return doctor->executor == EXECUTOR_GPU ? "Grading works here: kernels run on the GPU."
                                            : "Grading works here: kernels run on the emulator.";
}

/* Breaks `text` at blanks so that it ends before column 80, under `indent`. */
static void print_wrapped(const char *text, int indent)
{
    int at = indent;
    for (bool first = true; *text != '\0'; first = false) {
        int word = (int)strcspn(text, " ");
        if (!first && at + 1 + word > 80) {
            (void)printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            (void)fputc(' ', stdout);
            ++at;
        }
        (void)printf("%.*s", word, text);
        at += word;
        text += word;
        text += strspn(text, " ");
    }
    (void)fputc('\n', stdout);
}

static void print_page(const struct doctor *doctor)
{
    static const char *const words[] = {"OK", "WARN", "FAIL"};
    static const char *const colours[] = {"\033[32m", "\033[33m", "\033[31m"};
    bool colour = out_text_wants_colour(stdout);
    for (size_t i = 0; i < doctor->count; ++i) {
        const struct doctor_finding *finding = &doctor->findings[i];
        (void)printf("%s%-5s%s ", colour ? colours[finding->status] : "", words[finding->status],
                     colour ? "\033[0m" : "");
        print_wrapped(finding->text, 6);
        /* On a line of its own and never broken: it is there to be copied. */
        if (finding->remedy[0] != '\0')
            (void)printf("      mend: %s\n", finding->remedy);
    }
    (void)printf("\n%s\n", executor_sentence(doctor));
}

/* ---- For programs ---------------------------------------------------------------------------- */

/* json_pack() returns NULL for text that is not UTF-8 (paths may be anything): `?` stands there. */
static json_t *text_of(const char *text)
{
    json_t *string = json_string(text);
    return string != NULL ? string : json_string("?");
}

static json_t *version_of(int version)
{
    return version == 0 ? json_null() : json_sprintf("%d.%d", version / 1000, version % 1000 / 10);
}

static json_t *whole(const struct doctor *doctor)
{
    static const char *const words[] = {"ok", "warn", "fail"};
    const struct toolchain *toolchain = &doctor->toolchain;
    json_t *findings = json_array(), *gpus = json_array(), *nvcc = json_null();
    for (size_t i = 0; i < doctor->count; ++i) {
        const struct doctor_finding *finding = &doctor->findings[i];
        (void)json_array_append_new(
            findings,
            json_pack("{s:s, s:s, s:o, s:o}", "id", finding->id, "status", words[finding->status],
                      "text", text_of(finding->text), "remedy",
                      finding->remedy[0] == '\0' ? json_null() : text_of(finding->remedy)));
    }
    for (size_t i = 0; i < doctor->survey.device_count; ++i) {
        const struct gpu_device *gpu = &doctor->survey.devices[i];
        (void)json_array_append_new(
            gpus, json_pack("{s:i, s:o, s:o}", "ordinal", gpu->ordinal, "name", text_of(gpu->name),
                            "arch", json_sprintf("sm_%u%u", gpu->major, gpu->minor)));
    }
    if (toolchain->nvcc != NULL)
        nvcc = json_pack("{s:o, s:o}", "path", text_of(toolchain->nvcc), "version",
                         toolchain->version[0] == '\0' ? json_null() : text_of(toolchain->version));
    return json_pack(
        "{s:s, s:b, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "spillway/doctor/v1", "can_grade",
        doctor_can_grade(doctor) ? 1 : 0, "executor", executor_word(doctor->executor), "nvcc", nvcc,
        "driver_cuda", version_of(doctor->survey.driver_version), "runtime_cuda",
        version_of(doctor->survey.runtime_version), "gpus", gpus, "findings", findings);
}

static int write_json(const struct doctor *doctor, struct error *err)
{
    struct bytes document = bytes_with_limit((size_t)1 << 20);
    int status = json_text_append(&document, whole(doctor), 0, err);
    if (status == 0)
        status = file_write("-", document.data, document.length, err);
    bytes_release(&document);
    return status;
}

int cmd_doctor(int argc, char **argv)
{
    enum { JSON = OPTIONS_HELP + 1, NVCC };
    static const struct option options[] = {
        /* clang-format off */
        {"json", no_argument,       NULL, JSON},
        {"nvcc", required_argument, NULL, NVCC},
        {"help", no_argument,       NULL, OPTIONS_HELP},
        {NULL, 0, NULL, 0},
        /* clang-format on */
    };
    bool json = false;
    const char *nvcc = NULL;
    struct error err = {0};
    optind = 0;
    for (int option; (option = options_next(argc, argv, options, "doctor", &err)) != OPTIONS_END;) {
        if (option == OPTIONS_WRONG)
            return error_report(&err);
        if (option == OPTIONS_HELP) {
            (void)fputs(usage, stdout);
            return EXIT_STATUS_DONE;
        }
        if (option == JSON)
            json = true;
        else
            nvcc = optarg;
    }
    if (optind < argc)
        error_set(&err, ERROR_USAGE, "doctor takes no argument: what is \"%s\"?", argv[optind]);
    struct doctor *doctor = calloc(1, sizeof *doctor);
    if (doctor == NULL)
        error_no_memory(&err);
    if (doctor == NULL || err.kind != ERROR_NONE) {
        free(doctor);
        return error_report(&err);
    }
    int status = doctor_examine(doctor, nvcc, &err);
    if (status == 0 && json)
        status = write_json(doctor, &err);
    else if (status == 0)
        print_page(doctor);
    bool fit = doctor_can_grade(doctor);
    doctor_release(doctor);
    free(doctor);
    if (status != 0)
        return error_report(&err);
    return fit ? EXIT_STATUS_DONE : EXIT_STATUS_INFRASTRUCTURE;
}

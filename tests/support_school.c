#include "support_school.h"

#include <fcntl.h>

#include "files.h"
#include "support_git.h"

#define REFERENCE "reference/day17-registers/"

/* ptxas has another report and cubin for the what-if of question 3. */
#define PTXAS                                                                                      \
    "echo x >> \"$here/ptxas-calls\"\n"                                                            \
    "name=module; grep -q 'maxntid 1024' \"$source\" && name=what-if\n"                            \
    "cat \"$here/$name.log\" >&2; cp \"$here/$name.cubin\" \"$out\"\n"
#define NVCC                                                                                       \
    "echo x >> \"$here/nvcc-calls\"\n"                                                             \
    "grep -q BROKEN \"$source\" && { echo \"$source(1): error: BROKEN\"; exit 1; }\n" FAKE_NVCC

static char *read_text(const char *path)
{
    struct bytes content;
    ck_assert_msg(file_read(&content, path, (size_t)1 << 20, true) == FILE_READ, "%s", path);
    return bytes_take(&content);
}

char *school_source(void)
{
    return read_text(REFERENCE "registers.cu");
}

char *school_answers(void)
{
    return read_text(REFERENCE "answers.ini");
}

static void make_toolkit(struct school *school, const char *delay)
{
    static const char *const names[][2] = {
        {"module.ptx", "day17.ptx"},
        {"module.log", "day17.log"},
        {"module.cubin", "day17.cubin"},
        {"what-if.log", "day17-what-if.log"},
        {"what-if.cubin", "day17-what-if.cubin"},
    };
    AUTO_FREE char *nvcc = NULL;
    ck_assert(asprintf(&nvcc, "%s\n" NVCC, delay) > 0);
    fake_toolkit_make(&school->toolkit, nvcc, PTXAS);
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        struct bytes content = testing_fixture(support_path("toolkit", names[i][1]));
        fake_toolkit_add(&school->toolkit, names[i][0], content.data, content.length);
        bytes_release(&content);
    }
    (void)snprintf(school->home, sizeof school->home, "CUDA_HOME=%s", school->toolkit.home);
}

const char *school_repo(const struct school *school, size_t student)
{
    char name[32];
    (void)snprintf(name, sizeof name, "s%03zu", student);
    return support_path(school->folder, name);
}

void school_hand_in(const struct school *school, size_t student, const char *source,
                    const char *answers)
{
    const struct git_file files[] = {{.path = "registers.cu", .data = source},
                                     {.path = "answers.ini", .data = answers}};
    support_git_commit(school_repo(school, student), files, answers != NULL ? 2 : 1, NULL);
}

static void enrol(const struct school *school, size_t student)
{
    AUTO_FREE char *source = school_source();
    AUTO_FREE char *answers = school_answers();
    AUTO_FREE char *own = NULL;
    static const struct git_file readme = {.path = "README.md", .data = "nothing yet\n"};
    support_git_init(school_repo(school, student), false);
    switch ((enum school_kind)((student - 1) % SCHOOL_KINDS)) {
    case SCHOOL_RIGHT:
        school_hand_in(school, student, source, answers);
        break;
    case SCHOOL_NEAR_COPY:
        ck_assert(asprintf(&own, "%s// student %zu\n", source, student) > 0);
        school_hand_in(school, student, own, answers);
        break;
    case SCHOOL_BLANK:
        school_hand_in(school, student, source, NULL);
        break;
    case SCHOOL_BROKEN:
        ck_assert(asprintf(&own, "BROKEN %zu\n%s", student, source) > 0);
        school_hand_in(school, student, own, answers);
        break;
    case SCHOOL_NO_SOURCE:
        support_git_commit(school_repo(school, student), &readme, 1, NULL);
        break;
    case SCHOOL_EMPTY:
    case SCHOOL_KINDS:
        break;
    }
}

void school_make(struct school *school, size_t students, const char *delay)
{
    *school = (struct school){.students = students};
    make_toolkit(school, delay);
    support_new_folder(school->folder);
    struct bytes roster = bytes_with_limit((size_t)1 << 20);
    bytes_append_text(&roster, "id,name,email,repo\n");
    for (size_t i = 1; i <= students; ++i) {
        enrol(school, i);
        bytes_printf(&roster, "s%03zu,Student %zu,s%03zu@example.org,%s\n", i, i, i,
                     school_repo(school, i));
    }
    (void)snprintf(school->roster, sizeof school->roster, "%s/roster.csv", school->folder);
    testing_write(school->roster, roster.data, roster.length);
    bytes_release(&roster);
}

struct process_result school_batch(const struct school *school, const char *out,
                                   const char *const *arguments)
{
    const char *all[40] = {"batch", school->roster, "--lab", "day17-registers", "--out",
                           out,     "--seed",       "17",    "--sandbox",       "off"};
    size_t count = 10;
    for (; *arguments != NULL; ++arguments) {
        ck_assert_uint_lt(count, COUNT_OF(all) - 1);
        all[count++] = *arguments;
    }
    const char *const environment[] = {school->home, NULL};
    return testing_spillway(all, environment);
}

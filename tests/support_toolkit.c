#include "support_toolkit.h"

#include <errno.h>
#include <sys/stat.h>

#include "files.h"

static const char nvcc_start[] =
    "#!/bin/sh\n"
    "here=$(dirname \"$0\")\n"
    "case \"$1\" in\n"
    "--version)\n"
    "  echo 'nvcc: NVIDIA (R) Cuda compiler driver'\n"
    "  echo 'Cuda compilation tools, release 13.0, V13.0.88'\n"
    "  exit 0;;\n"
    "--list-gpu-arch)\n"
    "  for number in 75 80 86 90 100 120; do echo compute_$number; done\n"
    "  exit 0;;\n"
    "esac\n";

static const char arguments[] = "before=\n"
                                "for argument; do\n"
                                "  case \"$before\" in -o) out=$argument;; esac\n"
                                "  case \"$argument\" in\n"
                                "  -arch=*) arch=${argument#-arch=};;\n"
                                "  *.cu|*.ptx) source=$argument;;\n"
                                "  esac\n"
                                "  before=$argument\n"
                                "done\n";

static const char control[] = "if [ \"$source\" = control.cu ]; then\n"
                              "  [ -e \"$here/broken\" ] && { echo 'no host compiler'; exit 1; }\n"
                              "  : > \"$out\"; exit 0\n"
                              "fi\n";

void support_folder(const char *path)
{
    AUTO_FREE char *copy = strdup(path);
    ck_assert_ptr_nonnull(copy);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ck_assert(mkdir(copy, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    ck_assert_msg(mkdir(copy, 0755) == 0 || errno == EEXIST, "%s: %s", path, strerror(errno));
}

void support_new_folder(char path[512])
{
    int length = snprintf(path, 512, "%s/support-XXXXXX", testing_temporary_folder());
    ck_assert(length > 0 && length < 512);
    ck_assert_ptr_nonnull(mkdtemp(path));
    ck_assert_int_eq(chmod(path, 0755), 0);
}

void support_open_to_all(void)
{
    AUTO_FREE char *path = strdup(testing_temporary_folder());
    ck_assert_ptr_nonnull(path);
    for (char *slash = strrchr(path, '/'); slash != NULL && slash != path;
         slash = strrchr(path, '/')) {
        struct stat info;
        ck_assert_int_eq(stat(path, &info), 0);
        if ((info.st_mode & S_ISVTX) != 0) /* /tmp or its like */
            return;
        ck_assert_int_eq(chmod(path, info.st_mode | 0055), 0);
        *slash = '\0';
    }
}

const char *support_path(const char *folder, const char *name)
{
    static char paths[8][1024];
    static unsigned next;
    char *path = paths[next++ % COUNT_OF(paths)];
    int length = snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    ck_assert(length > 0 && (size_t)length < sizeof paths[0]);
    return path;
}

void support_script(const char *path, const char *text)
{
    testing_write(path, text, strlen(text));
    ck_assert_int_eq(chmod(path, 0755), 0);
}

void fake_toolkit_make(struct fake_toolkit *out, const char *nvcc, const char *ptxas)
{
    char bin[520];
    support_new_folder(out->home);
    (void)snprintf(bin, sizeof bin, "%s/bin", out->home);
    support_folder(bin);
    (void)snprintf(out->nvcc, sizeof out->nvcc, "%s/nvcc", bin);
    (void)snprintf(out->ptxas, sizeof out->ptxas, "%s/ptxas", bin);
    struct bytes text = bytes_with_limit(100000);
    bytes_printf(&text, "%s%s%s%s", nvcc_start, arguments, control,
                 nvcc != NULL ? nvcc : FAKE_NVCC);
    support_script(out->nvcc, bytes_text(&text));
    bytes_clear(&text);
    bytes_printf(&text, "#!/bin/sh\nhere=$(dirname \"$0\")\n%s%s", arguments,
                 ptxas != NULL ? ptxas : FAKE_PTXAS);
    support_script(out->ptxas, bytes_text(&text));
    bytes_release(&text);
}

/* ptxas has another report and cubin for the what-if of question 3. */
static const char day17_ptxas[] =
    "name=module; grep -q 'maxntid 1024' \"$source\" && name=what-if\n"
    "cat \"$here/$name.log\" >&2; cp \"$here/$name.cubin\" \"$out\"\n";

void fake_toolkit_make_day17(struct fake_toolkit *out, const char *nvcc, const char *after_ptxas)
{
    static const char *const names[][2] = {
        {"module.ptx", "day17.ptx"},
        {"module.log", "day17.log"},
        {"module.cubin", "day17.cubin"},
        {"what-if.log", "day17-what-if.log"},
        {"what-if.cubin", "day17-what-if.cubin"},
    };
    char ptxas[1000];
    (void)snprintf(ptxas, sizeof ptxas, "%s%s", day17_ptxas,
                   after_ptxas != NULL ? after_ptxas : "");
    fake_toolkit_make(out, nvcc, ptxas);
    for (size_t i = 0; i < COUNT_OF(names); ++i) {
        struct bytes content = testing_fixture(support_path("toolkit", names[i][1]));
        fake_toolkit_add(out, names[i][0], content.data, content.length);
        bytes_release(&content);
    }
}

void fake_toolkit_add(const struct fake_toolkit *toolkit, const char *name, const void *data,
                      size_t length)
{
    char bin[520];
    (void)snprintf(bin, sizeof bin, "%s/bin", toolkit->home);
    testing_write(support_path(bin, name), data, length);
}

struct bytes fake_toolkit_note(const struct fake_toolkit *toolkit, const char *name)
{
    char bin[520];
    struct bytes content;
    (void)snprintf(bin, sizeof bin, "%s/bin", toolkit->home);
    (void)file_read(&content, support_path(bin, name), 100000, false);
    return content;
}

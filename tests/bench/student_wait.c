#include "student_wait.h"

#include <signal.h>
#include <sys/stat.h>

#include "files.h"
#include "process.h"
#include "tests/support_driven.h"

#define LAB "day17-registers"

static bool copy(const char *from, const char *to)
{
    struct bytes text;
    struct error err = {0};
    bool done = file_read(&text, from, (size_t)1 << 20, true) == FILE_READ &&
                file_write(to, text.data, text.length, &err) == 0;
    bytes_release(&text);
    return done;
}

/* In each round the compiler alone comes first: what else the machine does weighs on both. */
static bool measure(const struct bench *bench, struct driven *watched, const char *source,
                    const char *const *floor, struct student_wait *out)
{
    static const char *const versions[] = {"reference/" LAB "/registers.cu",
                                           "starter/" LAB "/registers.cu"};
    if (!driven_wait(watched, "all after"))
        return false;
    for (unsigned i = 0; i < bench->rounds; ++i) {
        out->compiled.values[i] = run_program(bench, floor);
        int64_t saved_ns = process_now_ns();
        if (!copy(versions[i % 2], source) || !driven_wait(watched, "shift.frame (was "))
            return false;
        out->first.values[i] = (double)(process_now_ns() - saved_ns);
        if (!driven_wait(watched, "Score: "))
            return false;
        out->all.values[i] = (double)(process_now_ns() - saved_ns);
        if (!driven_wait(watched, "all after"))
            return false;
    }
    return true;
}

bool bench_watch(const struct bench *bench, const char *const *floor, struct student_wait *out)
{
    const char *folder = bench->folder;
    AUTO_FREE char *mine = path_join(folder, "mine"), *source = NULL, *answers = NULL;
    static char path[4096], cache[4200], temporary[4200];
    const char *outer = getenv("PATH");
    (void)snprintf(path, sizeof path, "PATH=%s", outer != NULL ? outer : "/usr/bin:/bin");
    (void)snprintf(cache, sizeof cache, "SPILLWAY_CACHE=%s/cache", folder);
    (void)snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    if (mine == NULL || mkdir(mine, 0700) != 0)
        return false;
    source = path_join(mine, "registers.cu");
    answers = path_join(mine, "answers.ini");
    const char *const argv[] = {bench->spillway, "watch", mine,     "--executor", "emulator",
                                "--arch",        "sm_75", "--nvcc", bench->nvcc,  NULL};
    const char *const environment[] = {path, cache, temporary, "LC_ALL=C", NULL};
    struct driven watched;
    if (source == NULL || answers == NULL || !copy("starter/" LAB "/registers.cu", source) ||
        !copy("exercises/" LAB "/answers.ini", answers) ||
        !driven_start(&watched, argv, environment))
        return false;
    bool measured = measure(bench, &watched, source, floor, out);
    if (!measured)
        (void)fputs(bytes_text(&watched.said), stderr);
    (void)driven_stop(&watched, SIGINT);
    bytes_release(&watched.said);
    return measured;
}

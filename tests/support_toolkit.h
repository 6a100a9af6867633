/* support_toolkit.h - a CUDA toolkit made of shell scripts, so that what happens around a compiler
 * can be tried quickly, and where there is none.
 *
 * nvcc answers --version (13.0.88) and --list-gpu-arch (75 80 86 90 100 120) like the real one. A
 * compile runs a snippet of shell that finds $source, $out, $arch ("sm_75") and $here (the folder
 * of the scripts, for fixtures and notes). The compile of the control kernel works unless there is
 * a file $here/broken. */
#ifndef SPILLWAY_SUPPORT_TOOLKIT_H
#define SPILLWAY_SUPPORT_TOOLKIT_H

#include "testing.h"

struct fake_toolkit {
    char home[512]; /* what CUDA_HOME would be */
    char nvcc[560], ptxas[560];
};

/* What the snippets are when NULL is given: the fixtures of fake_toolkit_add(). */
#define FAKE_NVCC "cp \"$here/module.ptx\" \"$out\"\n"
#define FAKE_PTXAS "cat \"$here/report.log\" >&2\ncp \"$here/module.cubin\" \"$out\"\n"

/* Makes one in a folder of its own, which goes with the runner's. */
void fake_toolkit_make(struct fake_toolkit *out, const char *nvcc, const char *ptxas);

/* One that hands out what CUDA 13.0 makes of day17-registers' reference, for sm_75. `nvcc` as
 * above; `after_ptxas` runs at the end of a ptxas. Both may be NULL. */
void fake_toolkit_make_day17(struct fake_toolkit *out, const char *nvcc, const char *after_ptxas);

/* Puts a file into $here. */
void fake_toolkit_add(const struct fake_toolkit *toolkit, const char *name, const void *data,
                      size_t length);

/* What the scripts left in $here/NAME; "" when there is nothing. Release it. */
struct bytes fake_toolkit_note(const struct fake_toolkit *toolkit, const char *name);

/* An executable script; aborts the test on failure. */
void support_script(const char *path, const char *text);

/* "folder/name" in one of a few static arrays: for short use in one expression. */
const char *support_path(const char *folder, const char *name);

/* Makes a folder (and those above it); aborts the test on failure. */
void support_folder(const char *path);

/* Lets other users reach the runner's folder: for tests that change the user. */
void support_open_to_all(void);

/* A new folder below the runner's, in `path`. */
void support_new_folder(char path[512]);

#endif

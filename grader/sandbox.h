/* sandbox.h - what a compiler that reads a stranger's source, and a worker that runs a stranger's
 * kernel, can reach.
 *
 * A compile runs in bubblewrap where that works: namespaces of its own, no network, no capability,
 * and of the file system only the toolkit, the host compiler and one private folder. Where it does
 * not (not installed, or user namespaces are forbidden), Landlock and seccomp take its place as far
 * as the kernel has them. Limits on time, memory, file size, processes and open files hold in any
 * case. A worker needs no bubblewrap: it shuts itself in before it looks at the module.
 *
 * Only sandbox*.c know what namespaces, Landlock and seccomp are. */
#ifndef SPILLWAY_SANDBOX_H
#define SPILLWAY_SANDBOX_H

#include "bytes.h"
#include "errors.h"
#include "process.h"

enum sandbox_mode {
    SANDBOX_AUTO, /* the best that works here */
    SANDBOX_ON,   /* bubblewrap, or nothing is graded */
    SANDBOX_OFF,  /* limits alone */
};

enum sandbox_level { SANDBOX_LIMITS, SANDBOX_KERNEL, SANDBOX_BUBBLEWRAP };

struct sandbox {
    enum sandbox_level level;
    enum sandbox_mode mode;
    char bubblewrap[256];  /* its path; "": none found */
    char trouble[300];     /* why bubblewrap is not used, a clause; "" when it is */
    unsigned landlock_abi; /* of the kernel; 0: none */
    bool seccomp;
};

/* What this machine offers; found out once per process, by a trial run of a few milliseconds. */
const struct sandbox *sandbox_probe(void);

/* What `mode` gives here. -1 with *err (infrastructure, with the remedy) when SANDBOX_ON finds no
 * bubblewrap that works. */
int sandbox_choose(struct sandbox *out, enum sandbox_mode mode, struct error *err);
bool sandbox_parse_mode(const char *word, enum sandbox_mode *ret);
const char *sandbox_mode_word(enum sandbox_mode mode);

/* For people. The word is "bubblewrap", "landlock", "seccomp" or "limits"; the others are
 * sentences, "" when there is nothing to say. Each appends to *out. */
const char *sandbox_word(const struct sandbox *sandbox);
void sandbox_describe(const struct sandbox *sandbox, struct bytes *out); /* what holds */
void sandbox_lost(const struct sandbox *sandbox, struct bytes *out);     /* what does not */
void sandbox_remedy(const struct sandbox *sandbox, struct bytes *out);   /* how to get it */

/* ---- Compiles -------------------------------------------------------------------------------- */

struct sandbox_view {
    const char *folder;          /* private, absolute: the only place that can be written */
    const char *const *readable; /* absolute paths (folders or files) besides the system's own */
    size_t readable_count;
    const char *link, *link_target; /* a link to make there, absolute as both are; NULL: none */
};

/* What the program inside will call `folder`: for paths in its environment. */
const char *sandbox_folder(const struct sandbox *sandbox, const char *folder);

/* process_run() inside the sandbox: argv[0] is made a real path, the start is in view->folder, and
 * a program that a signal ended is reported as such also when it ran within bubblewrap. Fills in
 * the limits on processes and open files. -1 with *err as process_run(), and when the sandbox
 * itself could not be set up. */
int sandbox_run(struct process_result *result, const struct sandbox *sandbox,
                const struct process_spec *spec, const struct sandbox_view *view,
                struct error *err);

/* ---- Workers --------------------------------------------------------------------------------- */

enum sandbox_worker { SANDBOX_EMULATOR, SANDBOX_GPU };

/* Shuts the calling process in; call it at the start, while there is one thread. The emulator's
 * worker keeps its memory and open descriptors and nothing else; the GPU's can open the driver's
 * device nodes and read its libraries. What the kernel lacks is left out. -1 with *err when what it
 * has was refused. */
int sandbox_confine_worker(enum sandbox_worker worker, struct error *err);

/* ---- Readers of repos ------------------------------------------------------------------------ */

/* What is left to a process that looks into a stranger's git repo. */
struct sandbox_reader {
    const char *readable, *writable[2]; /* folders; NULL: none */
    bool network;                       /* IP, and the files that resolvers and TLS read */
    bool foreign_files;                 /* root may go on reading what is not its own */
    uint64_t memory_bytes, file_bytes, cpu_seconds;
};

/* Shuts the calling process in, as sandbox_confine_worker() does. */
int sandbox_confine_reader(const struct sandbox_reader *reader, struct error *err);

#endif

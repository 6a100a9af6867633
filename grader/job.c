/* job.c - lay out a run in shared memory, and open it on the other side.
 *
 * job_create() walks the request twice with one cursor: once to find every place, once to copy the
 * bytes there. Equal inputs (same pointer, same size) are stored once: cases that share their input
 * are common. */
#include "job.h"

#include "caps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- Laying out ------------------------------------------------------------------------------*/

struct layout {
    struct job_header header;
    struct job_launch *launches;    /* owned */
    struct job_argument *arguments; /* owned */
    uint64_t end;                   /* of the job so far */
    uint64_t result_end;            /* of the largest launch's results */
};

static struct job_span place(uint64_t *cursor, uint64_t bytes)
{
    struct job_span span = {.offset = *cursor, .bytes = bytes};
    *cursor += (bytes + (JOB_ALIGNMENT - 1)) / JOB_ALIGNMENT * JOB_ALIGNMENT;
    return span;
}

static int refuse(struct error *err, const char *what)
{
    return error_set(err, ERROR_INFRASTRUCTURE, "cannot run this: %s", what);
}

/* Text with its NUL. */
static struct job_span place_text(uint64_t *cursor, const char *text)
{
    return place(cursor, text == NULL ? 1 : strnlen(text, JOB_NAME_BYTES - 1) + 1);
}

static const struct job_argument *same_input(const struct layout *layout,
                                             const struct run_argument *const *sources,
                                             size_t count, const struct run_argument *argument)
{
    for (size_t i = 0; i < count; ++i)
        if (sources[i]->role == RUN_INPUT && sources[i]->data == argument->data &&
            sources[i]->bytes == argument->bytes)
            return &layout->arguments[i];
    return NULL;
}

static int lay_out_launch(struct layout *layout, const struct run_argument **sources,
                          const struct run_launch *launch, struct job_launch *into, size_t *next,
                          bool twice, struct error *err)
{
    uint64_t results = 0;
    *into = (struct job_launch){
        .kernel = place_text(&layout->end, launch->kernel),
        .symbol = place_text(&layout->end, launch->symbol),
        .shared_bytes = launch->shared_bytes,
        .timing_group = launch->timing_group,
        .first_argument = (uint32_t)*next,
        .argument_count = (uint32_t)launch->argument_count,
        .frame_bytes = launch->frame_bytes > 0 ? (uint64_t)launch->frame_bytes : 0,
        .shared_static_bytes =
            launch->shared_static_bytes > 0 ? (uint64_t)launch->shared_static_bytes : 0};
    for (size_t i = 0; i < 3; ++i) {
        into->grid[i] = launch->grid[i];
        into->block[i] = launch->block[i];
    }
    for (size_t i = 0; i < launch->argument_count; ++i, ++*next) {
        const struct run_argument *from = &launch->arguments[i];
        const struct job_argument *same = same_input(layout, sources, *next, from);
        sources[*next] = from;
        struct job_argument *to = &layout->arguments[*next];
        *to = (struct job_argument){.role = (uint32_t)from->role,
                                    .name = place_text(&layout->end, from->name)};
        if (from->role == RUN_SCALAR) {
            if (from->scalar_bytes != 4 && from->scalar_bytes != 8)
                return refuse(err, "a scalar argument is neither 4 nor 8 bytes wide");
            to->scalar = from->scalar;
            to->scalar_bytes = from->scalar_bytes;
            continue;
        }
        if (from->bytes > LIMIT_RUN_ARENA_BYTES || layout->end > LIMIT_RUN_ARENA_BYTES ||
            results > LIMIT_RUN_ARENA_BYTES)
            return refuse(err, "the buffers are larger than the limit of 2 GiB");
        to->bytes = from->bytes;
        if (from->role == RUN_INPUT)
            to->data = same != NULL ? same->data : place(&layout->end, from->bytes);
        to->first = place(&results, from->bytes).offset;
        if (from->role == RUN_OUTPUT && twice)
            to->second = place(&results, from->bytes).offset;
    }
    if (results > layout->result_end)
        layout->result_end = results;
    return 0;
}

static int lay_out(struct layout *layout, const struct run_request *request,
                   const struct run_argument **sources, size_t argument_count, struct error *err)
{
    layout->end = 0;
    (void)place(&layout->end, sizeof layout->header);
    layout->header = (struct job_header){
        .magic = JOB_MAGIC,
        .version = JOB_VERSION,
        .executor = (uint32_t)request->executor,
        .device = (uint32_t)request->device,
        .threads = request->threads,
        .timing_rounds = request->timing_rounds,
        .launch_count = (uint32_t)request->launch_count,
        .argument_count = (uint32_t)argument_count,
        .poison_seed = request->poison_seed,
        .guards_only = request->guards_only,
        .wall_ns = request->launch_wall_ns > 0 ? (uint64_t)request->launch_wall_ns
                                               : (uint64_t)LIMIT_LAUNCH_SECONDS * 1000000000,
        .launches = place(&layout->end, request->launch_count * sizeof *layout->launches),
        .arguments = place(&layout->end, argument_count * sizeof *layout->arguments),
        .module = place(&layout->end, request->module_bytes),
        .scrub_module = place(&layout->end, request->scrub_module_bytes)};
    size_t next = 0;
    for (size_t i = 0; i < request->launch_count; ++i)
        if (lay_out_launch(layout, sources, &request->launches[i], &layout->launches[i], &next,
                           request->executor == EXECUTOR_GPU, err) != 0)
            return -1;
    /* A timing group fills the samples of all its launches in one task: each has its own place,
     * behind the room that the launches share. */
    for (size_t i = 0; i < request->launch_count; ++i)
        if (request->launches[i].timing_group != 0)
            layout->launches[i].samples =
                place(&layout->result_end, JOB_SAMPLES_MAX * sizeof(double)).offset;
    if (layout->end > LIMIT_RUN_ARENA_BYTES || layout->result_end > LIMIT_RUN_ARENA_BYTES)
        return refuse(err, "the buffers are larger than the limit of 2 GiB");
    layout->header.total_bytes = layout->end;
    layout->header.result_bytes = layout->result_end > 0 ? layout->result_end : JOB_ALIGNMENT;
    return 0;
}

/* ---- Writing ---------------------------------------------------------------------------------*/

static void put(unsigned char *base, struct job_span span, const void *data)
{
    if (span.bytes > 0 && data != NULL)
        memcpy(base + span.offset, data, span.bytes);
}

static void put_text(unsigned char *base, struct job_span span, const char *text)
{
    if (text != NULL)
        memcpy(base + span.offset, text, span.bytes - 1); /* the NUL is there: the file was empty */
}

static void fill(unsigned char *base, const struct layout *layout,
                 const struct run_request *request, const struct run_argument *const *sources)
{
    memcpy(base, &layout->header, sizeof layout->header);
    put(base, layout->header.launches, layout->launches);
    put(base, layout->header.arguments, layout->arguments);
    put(base, layout->header.module, request->module);
    put(base, layout->header.scrub_module, request->scrub_module);
    for (size_t i = 0; i < request->launch_count; ++i) {
        put_text(base, layout->launches[i].kernel, request->launches[i].kernel);
        put_text(base, layout->launches[i].symbol, request->launches[i].symbol);
    }
    for (size_t i = 0; i < layout->header.argument_count; ++i) {
        put_text(base, layout->arguments[i].name, sources[i]->name);
        put(base, layout->arguments[i].data, sources[i]->data);
    }
}

/* A memfd of this size. -1 with *err. */
static int memory_file(const char *name, uint64_t bytes, struct error *err)
{
    AUTO_CLOSE int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE,
                               "cannot get %llu bytes of shared memory for a run",
                               (unsigned long long)bytes);
    return steal_fd(&fd);
}

static void *map(int fd, uint64_t bytes, int protection, int flags, struct error *err)
{
    void *base = mmap(NULL, bytes, protection, flags, fd, 0);
    if (base != MAP_FAILED)
        return base;
    error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot map the shared memory of a run");
    return NULL;
}

static void attach(struct job *job, void *base)
{
    job->base = base;
    job->header = base;
    job->launches = (const void *)(job->base + job->header->launches.offset);
    job->arguments = (const void *)(job->base + job->header->arguments.offset);
}

static int write_job(struct job *out, const struct layout *layout,
                     const struct run_request *request, const struct run_argument *const *sources,
                     struct error *err)
{
    const struct job_header *header = &layout->header;
    out->job_fd = memory_file("spillway-job", header->total_bytes, err);
    if (out->job_fd < 0)
        return -1;
    void *base = map(out->job_fd, header->total_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, err);
    if (base == NULL)
        return -1;
    fill(base, layout, request, sources);
    (void)munmap(base, header->total_bytes);
    out->result_fd = memory_file("spillway-results", header->result_bytes, err);
    if (out->result_fd < 0)
        return -1;
    /* Neither file can shrink under a reader's feet, and nobody changes the job again. Not
     * F_SEAL_WRITE: that fails while any process has the file mapped for writing, and a child that
     * another thread of ours has forked but that has not reached its exec yet still has. */
    if (fcntl(out->job_fd, F_ADD_SEALS, JOB_SEALS | F_SEAL_SEAL) != 0 ||
        fcntl(out->result_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot seal the memory of a run");
    /* A write-sealed file may be mapped privately on every kernel, shared on new ones only. */
    base = map(out->job_fd, header->total_bytes, PROT_READ, MAP_PRIVATE, err);
    if (base == NULL)
        return -1;
    attach(out, base);
    out->results = map(out->result_fd, header->result_bytes, PROT_READ, MAP_SHARED, err);
    return out->results != NULL ? 0 : -1;
}

int job_create(struct job *out, const struct run_request *request, struct error *err)
{
    *out = (struct job){.job_fd = -1, .result_fd = -1};
    size_t count = 0;
    if (request->launch_count > JOB_LAUNCHES_MAX)
        return refuse(err, "there are too many launches");
    for (size_t i = 0; i < request->launch_count; ++i) {
        if (request->launches[i].argument_count > RUN_ARGUMENTS_MAX)
            return refuse(err, "a kernel has too many arguments");
        count += request->launches[i].argument_count;
    }
    if (request->module_bytes > LIMIT_CUBIN_BYTES ||
        request->scrub_module_bytes > LIMIT_CUBIN_BYTES)
        return refuse(err, "the compiled module is larger than 64 MiB");
    AUTO_FREE struct job_launch *launches = calloc(request->launch_count + 1, sizeof *launches);
    AUTO_FREE struct job_argument *arguments = calloc(count + 1, sizeof *arguments);
    AUTO_FREE const struct run_argument **sources = calloc(count + 1, sizeof *sources);
    if (launches == NULL || arguments == NULL || sources == NULL)
        return error_no_memory(err);
    struct layout layout = {.launches = launches, .arguments = arguments};
    if (lay_out(&layout, request, sources, count, err) == 0 &&
        write_job(out, &layout, request, sources, err) == 0)
        return 0;
    job_release(out);
    return -1;
}

void job_release(struct job *job)
{
    if (job == NULL)
        return;
    if (job->results != NULL)
        (void)munmap(job->results, job->header->result_bytes);
    if (job->base != NULL)
        (void)munmap((void *)(uintptr_t)job->base, job->header->total_bytes);
    if (job->result_fd >= 0)
        (void)close(job->result_fd);
    if (job->job_fd >= 0)
        (void)close(job->job_fd);
    *job = (struct job){.job_fd = -1, .result_fd = -1};
}

/* ---- Opening (the worker's side) -------------------------------------------------------------*/

static bool inside(uint64_t total, struct job_span span)
{
    return span.offset <= total && span.bytes <= total - span.offset;
}

static bool array_inside(uint64_t total, struct job_span span, size_t count, size_t element_bytes)
{
    return inside(total, span) && span.offset % JOB_ALIGNMENT == 0 &&
           span.bytes / element_bytes == count && span.bytes % element_bytes == 0;
}

static bool text_inside(const struct job *job, struct job_span span)
{
    return inside(job->header->total_bytes, span) && span.bytes > 0 &&
           span.bytes <= JOB_NAME_BYTES &&
           memchr(job->base + span.offset, 0, span.bytes) ==
               job->base + span.offset + span.bytes - 1;
}

static bool argument_fits(const struct job *job, const struct job_argument *argument)
{
    const struct job_header *header = job->header;
    if (!text_inside(job, argument->name))
        return false;
    switch (argument->role) {
    case RUN_SCALAR:
        return argument->scalar_bytes == 4 || argument->scalar_bytes == 8;
    case RUN_INPUT:
        return inside(header->total_bytes, argument->data) &&
               argument->data.bytes == argument->bytes &&
               inside(header->result_bytes,
                      (struct job_span){.offset = argument->first, .bytes = argument->bytes});
    case RUN_OUTPUT:
        return inside(header->result_bytes,
                      (struct job_span){.offset = argument->first, .bytes = argument->bytes}) &&
               inside(header->result_bytes,
                      (struct job_span){.offset = argument->second, .bytes = argument->bytes});
    }
    return false;
}

static bool job_fits(const struct job *job)
{
    const struct job_header *header = job->header;
    for (size_t i = 0; i < header->argument_count; ++i)
        if (!argument_fits(job, &job->arguments[i]))
            return false;
    for (size_t i = 0; i < header->launch_count; ++i) {
        const struct job_launch *launch = &job->launches[i];
        if (!text_inside(job, launch->kernel) || !text_inside(job, launch->symbol) ||
            launch->argument_count > RUN_ARGUMENTS_MAX ||
            launch->first_argument > header->argument_count ||
            launch->argument_count > header->argument_count - launch->first_argument)
            return false;
        if (launch->timing_group != 0 &&
            !array_inside(header->result_bytes,
                          (struct job_span){.offset = launch->samples,
                                            .bytes = JOB_SAMPLES_MAX * sizeof(double)},
                          JOB_SAMPLES_MAX, sizeof(double)))
            return false;
    }
    return true;
}

static int open_files(struct job *out, struct error *err)
{
    struct stat job_file, result_file;
    if (fstat(out->job_fd, &job_file) != 0 || fstat(out->result_fd, &result_file) != 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot read the job");
    int wanted = JOB_SEALS;
    int seals = fcntl(out->job_fd, F_GET_SEALS);
    uint64_t total = (uint64_t)job_file.st_size;
    if (seals < 0 || (seals & wanted) != wanted || total < sizeof(struct job_header))
        return error_set(err, ERROR_INFRASTRUCTURE, "the job is not sealed");
    void *base = map(out->job_fd, total, PROT_READ, MAP_PRIVATE, err);
    if (base == NULL)
        return -1;
    const struct job_header *header = base;
    if (header->magic != JOB_MAGIC || header->version != JOB_VERSION ||
        header->total_bytes != total || header->result_bytes != (uint64_t)result_file.st_size ||
        header->launch_count > JOB_LAUNCHES_MAX ||
        header->argument_count > JOB_LAUNCHES_MAX * RUN_ARGUMENTS_MAX ||
        !array_inside(total, header->launches, header->launch_count, sizeof(struct job_launch)) ||
        !array_inside(total, header->arguments, header->argument_count,
                      sizeof(struct job_argument)) ||
        !inside(total, header->module) || !inside(total, header->scrub_module)) {
        (void)munmap(base, total);
        return error_set(err, ERROR_INFRASTRUCTURE, "the job's header is not one of ours");
    }
    attach(out, base);
    if (!job_fits(out))
        return error_set(err, ERROR_INFRASTRUCTURE, "the job points outside itself");
    out->results =
        map(out->result_fd, header->result_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, err);
    return out->results != NULL ? 0 : -1;
}

int job_open(struct job *out, int job_fd, int result_fd, struct error *err)
{
    *out = (struct job){.job_fd = job_fd, .result_fd = result_fd};
    if (open_files(out, err) == 0)
        return 0;
    job_release(out);
    return -1;
}

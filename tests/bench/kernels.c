/* kernels.c - the kernels of kernels.cu beside native loops of the same work, on one thread each:
 * the loops take one turn a CUDA thread. Then two threads beside one, and checks on beside off. */
#include "bench.h"

#include "files.h"
#include "native.h"
#include "process.h"

#define SIDE 256 /* of the matrices */
#define ELEMENTS (1 << 21)
#define BLOCKS 256
#define THREADS 256
#define PICTURE 384
#define TURNS 256

enum work { PRODUCT, REDUCE, MANDELBROT, WORKS };

static const struct {
    const char *entry, *what;
    double bar;
} works[] = {{"product", "tiled matrix product / native loops", 15},
             {"reduce", "reduction by shuffles / native loops", 15},
             {"mandelbrot", "divergent Mandelbrot / native loops", 15}};

struct data {
    struct emulator *emulator;
    float *a, *b, *c; /* owned, as the rest */
    int *in, *out;
    uint64_t device_a, device_b, device_c, device_in, device_out;
};

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if (memory == NULL)
        give_up("out of memory");
    return memory;
}

static uint64_t copy_in(struct emulator *emulator, const void *from, size_t bytes)
{
    const uint64_t address = emulator_allocate(emulator, bytes, "data");
    if (address == 0 || emulator_copy_in(emulator, address, from, bytes) != 0)
        give_up("out of memory");
    return address;
}

static void prepare(struct bench *bench, struct data *data)
{
    const size_t matrix = (size_t)SIDE * SIDE * sizeof(float);
    const size_t picture = (size_t)PICTURE * PICTURE * sizeof(int);
    AUTO_FREE char *path = path_join(bench->folder, "kernels.ptx");
    const char *const compile[] = {bench->nvcc,   "-std=c++17", "-O3",
                                   "-arch=sm_75", "-lineinfo",  "-ptx",
                                   "-o",          path,         "tests/bench/kernels.cu",
                                   NULL};
    struct bytes ptx;
    struct error err = {0};
    (void)run_program(bench, compile);
    if (file_read(&ptx, path, (size_t)16 << 20, false) != FILE_READ)
        give_up("cannot read the PTX");
    *data = (struct data){.emulator = emulator_create(ptx.data, ptx.length, &err)};
    if (data->emulator == NULL)
        give_up(err.text);
    bytes_release(&ptx);
    data->a = take(matrix);
    data->b = take(matrix);
    data->c = take(matrix);
    data->in = take(ELEMENTS * sizeof(int));
    data->out = take(picture);
    for (int i = 0; i < SIDE * SIDE; ++i) {
        data->a[i] = (float)(i % 7) - 3.0f;
        data->b[i] = (float)(i % 5) * 0.5f;
    }
    for (int i = 0; i < ELEMENTS; ++i)
        data->in[i] = i % 1013 - 500;
    data->device_a = copy_in(data->emulator, data->a, matrix);
    data->device_b = copy_in(data->emulator, data->b, matrix);
    data->device_c = copy_in(data->emulator, data->c, matrix);
    data->device_in = copy_in(data->emulator, data->in, ELEMENTS * sizeof(int));
    data->device_out = copy_in(data->emulator, data->out, picture);
}

static double run_native(const struct data *data, enum work work)
{
    const int64_t began = process_now_ns();
    if (work == PRODUCT)
        native_product(data->a, data->b, data->c, SIDE, 0, SIDE);
    else if (work == REDUCE)
        native_reduce(data->in, data->out, ELEMENTS, BLOCKS, THREADS, 0, BLOCKS);
    else
        native_mandelbrot(data->out, PICTURE, TURNS, 0, PICTURE);
    return (double)(process_now_ns() - began);
}

static double run_emulated(const struct data *data, enum work work, unsigned threads, bool checks,
                           uint64_t *instructions)
{
    const int side = SIDE, elements = ELEMENTS, picture = PICTURE, turns = TURNS;
    const void *const product[] = {&data->device_a, &data->device_b, &data->device_c, &side};
    const void *const reduce[] = {&data->device_in, &data->device_out, &elements};
    const void *const mandelbrot[] = {&data->device_out, &picture, &turns};
    static const size_t sizes[WORKS][4] = {{8, 8, 8, 4}, {8, 8, 4, 0}, {8, 4, 4, 0}};
    static const struct emulator_launch launches[] = {
        {.entry = "product", .grid = {SIDE / 16, SIDE / 16, 1}, .block = {16, 16, 1}},
        {.entry = "reduce", .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}},
        {.entry = "mandelbrot", .grid = {PICTURE / 128, PICTURE, 1}, .block = {128, 1, 1}}};
    struct emulator_launch launch = launches[work];
    launch.arguments = work == PRODUCT ? product : work == REDUCE ? reduce : mandelbrot;
    launch.argument_bytes = sizes[work];
    launch.argument_count = work == PRODUCT ? 4 : 3;
    const struct emulator_options options = {.threads = threads, .no_checks = !checks};
    struct emulator_result result;
    struct error err = {0};
    const int64_t began = process_now_ns();
    if (emulator_launch(data->emulator, &launch, &options, &result, &err) != 0)
        give_up(err.text);
    const double wall_ns = (double)(process_now_ns() - began);
    if (result.status != EMULATOR_FINISHED || result.fault_count > 0)
        give_up(result.fault_count > 0 ? result.faults[0].text : result.refusal);
    *instructions = result.warp_instructions;
    emulator_result_release(&result);
    return wall_ns;
}

/* The emulator and the native loops must agree: on numbers that are exact in f32. */
static void compare(const struct data *data, enum work work)
{
    const size_t count = work == PRODUCT  ? (size_t)SIDE * SIDE
                         : work == REDUCE ? BLOCKS
                                          : (size_t)PICTURE * PICTURE;
    uint32_t *got = take(count * sizeof *got);
    const void *wanted = work == PRODUCT ? (const void *)data->c : data->out;
    (void)run_native(data, work);
    if (emulator_copy_out(data->emulator, work == PRODUCT ? data->device_c : data->device_out, got,
                          count * sizeof *got) != 0)
        give_up("cannot read the emulated output");
    if (memcmp(got, wanted, count * sizeof *got) != 0) {
        (void)fprintf(stderr, "bench: %s and its native twin differ\n", works[work].entry);
        exit(1);
    }
    free(got);
}

void bench_kernels(struct bench *bench)
{
    struct data data;
    uint64_t instructions = 0;
    char text[96];
    prepare(bench, &data);
    for (enum work work = PRODUCT; work < WORKS; ++work) {
        struct series one, two, unchecked, native;
        (void)run_emulated(&data, work, 1, true, &instructions);
        compare(&data, work);
        for (unsigned i = 0; i < bench->rounds; ++i) {
            one.values[i] = run_emulated(&data, work, 1, true, &instructions);
            native.values[i] = run_native(&data, work);
            two.values[i] = run_emulated(&data, work, 2, true, &instructions);
            unchecked.values[i] = run_emulated(&data, work, 1, false, &instructions);
        }
        print_ratio(bench, works[work].what, &one, &native, works[work].bar);
        (void)snprintf(text, sizeof text, "  %s: two threads / one", works[work].entry);
        print_ratio(bench, text, &two, &one, 1 / 1.8);
        (void)snprintf(text, sizeof text, "  %s: checks on / off", works[work].entry);
        print_ratio(bench, text, &one, &unchecked, 2);
        print_time("emulator, all checks, 1 thread", &one, bench->rounds);
        (void)printf("  %-44s %9.0f M a second\n", "warp instructions",
                     (double)instructions * 1e3 / median_of(one, bench->rounds));
    }
    emulator_free(data.emulator);
    free(data.a);
    free(data.b);
    free(data.c);
    free(data.in);
    free(data.out);
}

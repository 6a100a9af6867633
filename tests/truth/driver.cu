// driver.cu - runs the launches of launches.inc, and the rows of the instruction table, on a GPU.
//
//   driver launches CUBIN_FOLDER GROUP OUT_FOLDER     writes GROUP.tsv, .bin and .printed
//   driver rows ROWS.cubin ROWS.tsv OUT_FOLDER        writes rows.bin: 2048 results of 8 bytes each;
//                                                     and rows_hash.tsv: what golden.sh takes
//   driver probes PROBES.cubin OUT_FOLDER             for the profiler: patterns drawn from a seed
//   driver turns PROBES.cubin OUT_FOLDER              the same: those of turns.h
//
// Build: nvcc -O1 -o driver driver.cu truth.c rows_inputs… (record.sh does all of it).
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "truth.h"
#include "turns.h"

extern "C" void rows_inputs(const char *type, unsigned operand, uint64_t *values, size_t count);

#define ROW_VALUES 2048

static void check(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *text = "?";
    cuGetErrorName(result, &text);
    std::fprintf(stderr, "%s: %s\n", what, text);
    std::exit(1);
}

static CUdeviceptr upload(const void *data, size_t bytes)
{
    CUdeviceptr address = 0;
    check(cuMemAlloc(&address, bytes + 256), "cuMemAlloc");
    if (bytes > 0)
        check(cuMemcpyHtoD(address, data, bytes), "cuMemcpyHtoD");
    return address;
}

static void run_launch(const truth_launch *launch, CUmodule module, FILE *list, FILE *raw)
{
    truth_argument arguments[TRUTH_ARGUMENTS_MAX];
    CUdeviceptr addresses[TRUTH_ARGUMENTS_MAX] = {};
    void *pointers[TRUTH_ARGUMENTS_MAX] = {};
    const char *bad = "";
    int count = truth_arguments(launch, arguments, &bad);
    if (count < 0) {
        std::fprintf(stderr, "%s: %s\n", launch->name, bad);
        std::exit(1);
    }
    for (int i = 0; i < count; ++i) {
        pointers[i] = arguments[i].data;
        if (arguments[i].is_buffer) {
            addresses[i] = upload(arguments[i].data, arguments[i].bytes);
            pointers[i] = &addresses[i];
        }
    }
    CUfunction function;
    check(cuModuleGetFunction(&function, module, launch->entry), launch->entry);
    check(cuLaunchKernel(function, launch->grid[0], launch->grid[1], launch->grid[2],
                         launch->block[0], launch->block[1], launch->block[2],
                         launch->shared_bytes, nullptr, pointers, nullptr),
          launch->name);
    check(cuCtxSynchronize(), launch->name);
    for (int i = 0; i < count; ++i) {
        if (!arguments[i].is_buffer)
            continue;
        if (arguments[i].is_compared) {
            check(cuMemcpyDtoH(arguments[i].data, addresses[i], arguments[i].bytes), "copy back");
            std::fprintf(list, "%s\t%d\t%zu\t%016llx\n", launch->name, i, arguments[i].bytes,
                         (unsigned long long)truth_hash(arguments[i].data, arguments[i].bytes));
            if (arguments[i].bytes <= 256 << 10)
                std::fwrite(arguments[i].data, 1, arguments[i].bytes, raw);
        }
        cuMemFree(addresses[i]);
    }
    truth_release(arguments, count);
}

static int run_launches(char **argv)
{
    const truth_group *group = nullptr;
    for (size_t g = 0; g < truth_group_count; ++g)
        if (std::strcmp(truth_groups[g].name, argv[3]) == 0)
            group = &truth_groups[g];
    const std::string out = std::string(argv[4]) + "/" + argv[3];
    FILE *list = std::fopen((out + ".tsv").c_str(), "w");
    FILE *raw = std::fopen((out + ".bin").c_str(), "wb");
    /* What kernels print comes out of this process's standard output. */
    if (group == nullptr || list == nullptr || raw == nullptr ||
        std::freopen((out + ".printed").c_str(), "w", stdout) == nullptr)
        return 1;
    const std::string path = std::string(argv[2]) + "/" + group->ptx + ".cubin";
    check(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 16384), "stack");
    for (size_t i = 0; i < truth_launch_count; ++i) {
        if (std::strcmp(truth_launches[i].file, group->file) != 0)
            continue;
        /* A fresh module each time: module variables begin anew. */
        CUmodule module;
        check(cuModuleLoad(&module, path.c_str()), path.c_str());
        run_launch(&truth_launches[i], module, list, raw);
        check(cuModuleUnload(module), "unload");
    }
    std::fclose(list);
    std::fclose(raw);
    return 0;
}

static int run_rows(char **argv)
{
    CUmodule module;
    check(cuModuleLoad(&module, argv[2]), argv[2]);
    FILE *list = std::fopen(argv[3], "r");
    FILE *raw = std::fopen((std::string(argv[4]) + "/rows.bin").c_str(), "wb");
    FILE *hashes = std::fopen((std::string(argv[4]) + "/rows_hash.tsv").c_str(), "w");
    if (list == nullptr || raw == nullptr || hashes == nullptr)
        return 1;
    char line[512];
    std::vector<uint64_t> values(ROW_VALUES), results(ROW_VALUES);
    while (std::fgets(line, sizeof line, list) != nullptr) {
        char kernel[32], text[128], types[64];
        if (std::sscanf(line, "%31s %127s %63s", kernel, text, types) != 3)
            return 1;
        CUdeviceptr buffers[5];
        char *type = types;
        for (unsigned k = 0; k < 4; ++k) {
            char *comma = std::strchr(type, ',');
            if (comma != nullptr)
                *comma = '\0';
            std::fill(values.begin(), values.end(), 0);
            if (type[0] != '\0')
                rows_inputs(type, k, values.data(), ROW_VALUES);
            buffers[k] = upload(values.data(), ROW_VALUES * 8);
            type = comma != nullptr ? comma + 1 : type + std::strlen(type);
        }
        buffers[4] = upload(results.data(), ROW_VALUES * 8);
        unsigned n = ROW_VALUES;
        void *pointers[] = {&buffers[0], &buffers[1], &buffers[2], &buffers[3], &buffers[4], &n};
        CUfunction function;
        check(cuModuleGetFunction(&function, module, kernel), kernel);
        check(cuLaunchKernel(function, ROW_VALUES / 128, 1, 1, 128, 1, 1, 0, nullptr, pointers,
                             nullptr),
              text);
        check(cuMemcpyDtoH(results.data(), buffers[4], ROW_VALUES * 8), text);
        std::fwrite(results.data(), 8, ROW_VALUES, raw);
        line[std::strcspn(line, "\n")] = '\0';
        std::fprintf(hashes, "%s\t%016llx\n", std::strchr(line, '\t') + 1,
                     (unsigned long long)truth_hash(results.data(), ROW_VALUES * 8));
        for (CUdeviceptr buffer : buffers)
            cuMemFree(buffer);
    }
    std::fclose(raw);
    std::fclose(list);
    return 0;
}

/* One warp each. What is launched, and with which indices, is printed; the profiler counts. */
static int run_probes(char **argv)
{
    static const struct {
        const char *entry;
        unsigned patterns, range;
    } probes[] = {{"probe_red", 40, 32},      {"probe_red", 12, 128},  {"probe_atom", 12, 32},
                  {"probe_red", 20, 256},     {"probe_red", 20, 1024}, {"probe_red", 12, 8192},
                  {"probe_red64", 16, 16},    {"probe_load_32", 12, 256},
                  {"probe_load_64", 24, 256}, {"probe_load_128", 24, 256},
                  {"probe_store_32", 12, 256}, {"probe_store_64", 24, 256},
                  {"probe_store_128", 24, 256}, {"probe_load_8", 8, 256}, {"probe_load_16", 8, 256},
                  {"probe_store_8", 8, 256},  {"probe_store_16", 8, 256},
                  {"probe_local_f64", 2, 32}, {"probe_local_u8", 2, 32}, {"probe_local_u16", 2, 32},
                  {"probe_local_u32", 2, 32}};
    CUmodule module;
    check(cuModuleLoad(&module, argv[2]), argv[2]);
    FILE *list = std::fopen((std::string(argv[3]) + "/probes.tsv").c_str(), "w");
    if (list == nullptr)
        return 1;
    uint64_t state = 88172645463325252ull;
    for (const auto &probe : probes)
        for (unsigned pattern = 0; pattern < probe.patterns; ++pattern) {
            int idx[32];
            std::fprintf(list, "%s\t%u\t", probe.entry, pattern);
            for (int k = 0; k < 32; ++k) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                /* From many lanes at one place to all at different ones. */
                unsigned range = pattern % 4 == 0   ? probe.range
                                 : pattern % 4 == 1 ? probe.range / 4
                                 : pattern % 4 == 2 ? probe.range / 2
                                                    : probe.range;
                idx[k] = (int)((state >> 20) % range);
                if (pattern % 4 == 3)
                    idx[k] = (int)((k * (pattern / 4 + 1) + (state >> 40) % 2) % probe.range);
                if (std::strncmp(probe.entry, "probe_red", 9) == 0 && pattern % 5 == 4 && k % 3 == 1)
                    idx[k] = -1;
                std::fprintf(list, "%d%s", idx[k], k < 31 ? "," : "\n");
            }
            CUdeviceptr index = upload(idx, sizeof idx), data = 0, out = 0;
            check(cuMemAlloc(&data, 65536), "data");
            check(cuMemAlloc(&out, 65536), "out");
            check(cuMemsetD8(data, 0, 65536), "clear");
            void *pointers[] = {&index, &data, &out};
            CUfunction function;
            check(cuModuleGetFunction(&function, module, probe.entry), probe.entry);
            check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, pointers, nullptr),
                  probe.entry);
            check(cuCtxSynchronize(), probe.entry);
            cuMemFree(index);
            cuMemFree(data);
            cuMemFree(out);
        }
    std::fclose(list);
    return 0;
}

static int run_turns(char **argv)
{
    CUmodule module;
    check(cuModuleLoad(&module, argv[2]), argv[2]);
    FILE *list = std::fopen((std::string(argv[3]) + "/turns.tsv").c_str(), "w");
    if (list == nullptr)
        return 1;
    CUdeviceptr index = 0, data = 0, out = 0;
    check(cuMemAlloc(&index, 65536), "index");
    check(cuMemAlloc(&data, TURNS_BYTES), "data");
    check(cuMemAlloc(&out, 65536), "out");
    check(cuMemsetD8(data, 0, TURNS_BYTES), "clear");
    int words[TURNS_LANES];
    const char *entry;
    for (unsigned pattern = 0; (entry = turns_pattern(pattern, words)) != nullptr; ++pattern) {
        std::fprintf(list, "%s\t%u\t", entry, pattern);
        for (int k = 0; k < TURNS_LANES; ++k)
            std::fprintf(list, "%d%s", words[k], k < TURNS_LANES - 1 ? "," : "\n");
        check(cuMemcpyHtoD(index, words, sizeof words), "words");
        const bool is_shared = std::strncmp(entry, "probe_some", 10) == 0 ||
                               std::strncmp(entry, "probe_put", 9) == 0;
        void *pointers[] = {&index, is_shared ? &out : &data, &out};
        CUfunction function;
        check(cuModuleGetFunction(&function, module, entry), entry);
        check(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, pointers, nullptr), entry);
        check(cuCtxSynchronize(), entry);
    }
    std::fprintf(stderr, "data at %llx\n", (unsigned long long)data);
    std::fclose(list);
    return 0;
}

int main(int argc, char **argv)
{
    check(cuInit(0), "cuInit");
    CUdevice device;
    CUcontext context;
    check(cuDeviceGet(&device, 0), "cuDeviceGet");
    check(cuDevicePrimaryCtxRetain(&context, device), "context");
    check(cuCtxSetCurrent(context), "context");
    if (argc == 5 && std::strcmp(argv[1], "launches") == 0)
        return run_launches(argv);
    if (argc == 5 && std::strcmp(argv[1], "rows") == 0)
        return run_rows(argv);
    if (argc == 4 && std::strcmp(argv[1], "probes") == 0)
        return run_probes(argv);
    if (argc == 4 && std::strcmp(argv[1], "turns") == 0)
        return run_turns(argv);
    std::fprintf(stderr, "driver launches|rows|probes|turns …: see driver.cu\n");
    return 2;
}

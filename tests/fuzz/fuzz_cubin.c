/* fuzz_cubin.c - libFuzzer target: the cubin reader takes any bytes.
 *
 * The corpus holds small cubins of several architectures and toolkits. */
#include "cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cubin cubin;
    struct error err = {0};
    if (cubin_parse(&cubin, data, size, &err) == 0) {
        for (size_t i = 0; i < cubin.kernel_count; ++i) {
            struct cubin_kernel *kernel = &cubin.kernels[i];
            (void)cubin_settle_spills(kernel, size % 300);
            const struct cubin_kernel *found = cubin_find(&cubin, kernel->symbol);
            /* What is known is not negative, and spills are part of all local accesses. */
            if (found == NULL || kernel->callee_count > size ||
                kernel->spill_store_instructions > kernel->local_store_instructions ||
                kernel->spill_load_bytes > kernel->local_load_bytes ||
                (kernel->spills_known && kernel->spill_store_bytes < 0))
                abort();
        }
    } else if (err.kind == ERROR_NONE || cubin.kernels != NULL) {
        abort();
    }
    cubin_release(&cubin);
    return 0;
}

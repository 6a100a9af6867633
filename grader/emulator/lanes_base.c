/* lanes_base.c - the lane-wise handlers for any x86-64; fma is the C library's, which is exact. */
#define LANES_NAME lanes_base
#include "emulator/lanes_body.h"

const struct lanes *lanes_best(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &lanes_avx2
                                                                           : &lanes_base;
}

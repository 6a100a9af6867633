/* caps.h - every cap of the PTX front end and the emulator, in one place. PTX text is hostile: each
 * count, size and depth that it controls is held against one of these. */
#ifndef SPILLWAY_EMULATOR_CAPS_H
#define SPILLWAY_EMULATOR_CAPS_H

#include <stddef.h>
#include <stdint.h>

/* Text */
#define CAP_TEXT_BYTES ((size_t)32 << 20)
#define CAP_NAME_BYTES ((size_t)64 << 10) /* mangled names of templates are long */
#define CAP_SCOPE_DEPTH 64
#define CAP_OPERAND_DEPTH 4 /* [ { a, b } ] */
#define CAP_OPERANDS 1024   /* of one instruction, lists included */
#define CAP_MODIFIERS 24    /* .a.b.c of one instruction */
#define CAP_EXPRESSION_DEPTH 16
#define CAP_FILES 65536
#define CAP_ARENA_BYTES ((size_t)1 << 30) /* memory of one parsed module */

/* Counts */
#define CAP_FUNCTIONS 65536
#define CAP_PARAMETERS 4096
#define CAP_PARAMETER_BYTES (32u << 10)    /* of one function, all parameters */
#define CAP_VARIABLES 262144               /* of one module, those inside functions included */
#define CAP_REGISTERS (1u << 20)           /* declared in one function */
#define CAP_INSTRUCTIONS 4000000           /* of one module */
#define CAP_FUNCTION_INSTRUCTIONS 1000000u /* of one function that is to run */
#define CAP_ARRAY_RANK 16

/* Memory of one emulator */
#define CAP_VARIABLE_BYTES ((uint64_t)1 << 40) /* declared: parsed, refused when it has to run */
#define CAP_MODULE_MEMORY_BYTES                                                                    \
    ((uint64_t)256 << 20)                    /* .global and .const of a module that runs           \
                                              */
#define CAP_BUFFER_BYTES ((uint64_t)4 << 30) /* of one emulator_allocate() */
#define CAP_BUFFERS 65536
#define CAP_REGISTER_FILE_BYTES (8u << 20) /* of one warp, one call frame */
#define CAP_LOCAL_BYTES (512u << 10)       /* of one thread, all call frames */
#define CAP_WARP_MEMORY_BYTES                                                                      \
    (256u << 20)                             /* registers and local memory of the warps of a block \
                                              */
#define CAP_SHARED_BYTES (256u << 10)        /* of one block, static and dynamic */
#define CAP_SHARED_VARIABLES 1024            /* of one kernel */
#define CAP_CALL_DEPTH 1024                  /* frames of one thread */
#define CAP_HEAP_BYTES ((uint64_t)8 << 20)   /* device malloc, as cudaLimitMallocHeapSize has it */
#define CAP_PRINTED_BYTES ((size_t)64 << 10) /* what one launch may print */
#define CAP_BLOCK_THREADS 1024

/* Time and reports of one launch */
#define CAP_WARP_INSTRUCTIONS ((uint64_t)2000000000)
#define CAP_FAULT_LINES 64        /* different faults (kind and line) that one launch keeps */
#define CAP_THREADS 256           /* host threads */
#define CAP_RESIDENT_BLOCKS 4224u /* under way together: 132 SMs with 32 each, as on an H200 … */
#define CAP_RESIDENT_THREADS 270336u /* … and 2,048 threads */

#endif

/* caps.h - every cap on what comes from outside, in one place. (Not limits.h: the <limits.h> of gcc
 * includes the next file of that name, wherever it lies.) */
#ifndef SPILLWAY_CAPS_H
#define SPILLWAY_CAPS_H

/* Submissions */
#define LIMIT_SOURCE_BYTES ((size_t)1 << 20) /* a .cu file; the lab's own is 10 KiB */
#define LIMIT_ANSWERS_BYTES ((size_t)64 << 10)
#define LIMIT_ANSWERS_LINE_BYTES 190 /* inih cuts at 200 and calls the rest another key */
#define LIMIT_ANSWERS_KEYS 200
#define LIMIT_ANSWER_VALUE_BYTES 120

/* Compilers */
#define LIMIT_COMPILER_OUTPUT_BYTES ((size_t)4 << 20)
#define LIMIT_PTX_BYTES ((size_t)32 << 20)
#define LIMIT_CUBIN_BYTES ((size_t)64 << 20)
#define LIMIT_COMPILE_SECONDS 60
#define LIMIT_COMPILE_MEMORY_BYTES ((uint64_t)1 << 30) /* a file that sorts by thrust takes 0.7 */
#define LIMIT_COMPILE_PROCESSES 256                    /* beside what runs already */
#define LIMIT_COMPILE_OPEN_FILES 256

/* Reports */
#define LIMIT_REPORT_BYTES ((size_t)256 << 20)
#define LIMIT_REPORT_NAME_BYTES ((size_t)64 << 10)
#define LIMIT_REPORT_KERNELS 100000
#define LIMIT_REPORT_FUNCTIONS 500000 /* callee blocks, all kernels together */
#define LIMIT_REPORT_MESSAGES 10000   /* of warnings, and of errors */
#define LIMIT_DEMANGLE_BYTES 4096     /* the demangler recurses over the name */
#define LIMIT_DEMANGLED_BYTES ((size_t)32 << 10)

/* Messages that quote a student's bytes */
#define LIMIT_QUOTE_BYTES 200
#define LIMIT_MESSAGE_BYTES 4096

/* Grades that are read back */
#define LIMIT_RESULT_BYTES ((size_t)64 << 20)
#define LIMIT_RESULT_KERNELS 1000
#define LIMIT_RESULT_ARCHS 64
#define LIMIT_RESULT_NOTES 2000
#define LIMIT_RESULT_PATH_BYTES 8192

/* What other systems hand over */
#define LIMIT_METADATA_BYTES ((size_t)16 << 20) /* holds the results of earlier submissions */
#define LIMIT_SUMMARY_BYTES ((size_t)16 << 20)  /* a step's summary that a page is added to */

/* Runs */
#define LIMIT_MODULE_VARIABLE_BYTES ((size_t)128 << 20) /* one __device__ array */
#define LIMIT_RUN_ARENA_BYTES ((uint64_t)2 << 30)
#define LIMIT_LAUNCH_SECONDS 20       /* wall clock without a word from the worker, per launch */
#define LIMIT_WORKER_START_SECONDS 60 /* a first CUDA context can cost seconds */
#define LIMIT_GPU_WAIT_SECONDS 600    /* until another run lets go of the device */
#define LIMIT_KERNEL_PRINT_BYTES ((size_t)64 << 10)

/* Repos */
#define LIMIT_REPO_URL_BYTES 2000
#define LIMIT_REPO_BYTES ((uint64_t)256 << 20) /* of one fetch */
#define LIMIT_REPO_OBJECTS UINT64_C(200000)    /* of one fetch */
#define LIMIT_REPO_COMMITS 100000              /* walked back to find the one in time */
#define LIMIT_REPO_TREE_BYTES ((size_t)8 << 20)
#define LIMIT_REPO_COMMIT_BYTES ((size_t)1 << 20)
#define LIMIT_REPO_TREE_ENTRIES 20000 /* looked at for a file that is in another folder */
#define LIMIT_REPO_REFS 20000         /* what one remote may list */
#define LIMIT_REPO_TAGS 2000          /* that match --tag */
#define LIMIT_REPO_TAG_DEPTH 16       /* tags of tags */
#define LIMIT_REPO_PUSHES 10000       /* of one student, in a push log */
#define LIMIT_REPO_MEMORY_BYTES ((uint64_t)1 << 30)
#define LIMIT_REPO_CPU_SECONDS 120
#define LIMIT_REPO_SILENCE_SECONDS 30
#define LIMIT_REPO_SECONDS 300 /* one attempt as a whole */
#define LIMIT_REPO_ATTEMPTS 3
#define LIMIT_PUBLISH_BYTES ((size_t)16 << 20) /* of one student's feedback */

/* Classes */
#define LIMIT_CSV_BYTES ((size_t)64 << 20)
#define LIMIT_CSV_ROWS 200000
#define LIMIT_CSV_COLUMNS 2000
#define LIMIT_CSV_CELL_BYTES ((size_t)64 << 10)
#define LIMIT_PROBLEMS 200 /* that are shown of one file; the rest is counted */
#define LIMIT_STUDENT_ID_BYTES 64
#define LIMIT_STUDENT_TEXT_BYTES 200 /* a name, an address, a group, a ref */
#define LIMIT_REASON_BYTES 1000      /* of an override */
#define LIMIT_EXTENSION_HOURS 9000
#define LIMIT_LATE_DAYS 10000
#define LIMIT_ZONES 64                /* time zones in one run */
#define LIMIT_EXPLANATION_BYTES 32000 /* what one cell of a spreadsheet holds */
#define LIMIT_ATTEMPT_BYTES ((size_t)64 << 20)

/* Caches and shards */
#define LIMIT_CACHE_FILE_BYTES ((size_t)160 << 20) /* PTX, words and cubin at their own caps */

#endif

#include "remedies.h"

#include "base.h"
#include "run.h"

#define LEFT_ITS_ARRAY                                                                             \
    "An index left the array that the kernel itself declares: take it modulo the array's length, " \
    "all of it, as in (a + b) % LENGTH, and see that it is never negative (in C++, -1 % 64 is "    \
    "-1)."
#define FAILED_ASSERTION                                                                           \
    "Print the values that the assertion compares, and mend what makes it fail."
#define FAILED_ASSERTION_IN_LAB                                                                    \
    "Print the values that the assertion compares in your own `make run`, mend what makes it "     \
    "fail, "                                                                                       \
    "and leave it in if you like: one that holds costs no mark."
#define ENDLESS_LOOP                                                                               \
    "Look for a loop whose counter never reaches its end: in the wrong direction, or changed "     \
    "inside the loop."
#define MISSED_BARRIER                                                                             \
    "Let every thread of the block reach the same __syncthreads(): none inside an `if` that only " \
    "some threads enter."
#define WILD_POINTER                                                                               \
    "Call functions by their names, or look at where the function pointer gets its value."
#define WILD_POINTER_IN_LAB "Call functions by their names; this lab needs no function pointer."

/* The first row that fits. */
static const struct {
    const char *kind; /* of struct run_fault, by the emulator or the GPU */
    const char *said; /* a part of the sentence; NULL: whatever it is */
    const char *remedy;
    const char *in_lab; /* to somebody who works on a lab; NULL: the same */
} remedies[] = {
    /* clang-format off */
    {"out of bounds", "null pointer",
     "Look at where this pointer gets its value: it is 0, or something small was added to 0.", NULL},
    {"out of bounds", "an unsigned index",
     "An unsigned index, such as threadIdx.x - 1, is never negative: below zero it is 4,294,967,295. "
     "Compare before you subtract, or make it an int and use it only from 0 on.", NULL},
    {"out of bounds", "of which the launch gives it none",
     "Launch the kernel with as many bytes of dynamic shared memory as it uses (the third value "
     "between <<< and >>>, --shared here).",
     "Give the array a length where it is declared: the lab launches its kernels without dynamic "
     "shared memory."},
    {"out of bounds", " dynamic shared memory",
     "End every index where the array ends, or launch the kernel with more bytes of dynamic shared "
     "memory (the third value between <<< and >>>, --shared here).", NULL},
    {"out of bounds", " at local address ", LEFT_ITS_ARRAY, NULL},
    {"out of bounds", " at shared address ", LEFT_ITS_ARRAY, NULL},
    {"out of bounds", "may only read",
     "Store to another place: constant memory and parameters are the same for the whole launch.", NULL},
    {"out of bounds", NULL,
     "Keep `if (i < n)` around all that reads and writes, and let every index end where its array ends.",
     "Keep `if (i < n)` around all that reads and writes, and let every index end where its array "
     "ends: an input has n + taps - 1 elements, an output n."},
    {"illegal address", NULL,
     "Run it once on the emulator: that names the line, the thread and the buffer. Then look at the "
     "guard `if (i < n)` and at each index.",
     "Grade it once with --executor emulator: that names the line, the thread and the buffer. Then look "
     "at the guard `if (i < n)` and at each index."},
    {"misaligned", NULL,
     "See that the address is a multiple of the type's size: 16 for a float4, 4 for a float.",
     "Read floats one by one, or see that the address is a multiple of the type's size."},
    {"uninitialised read", "global memory",
     "What an output holds before the kernel stores to it is nobody's: store with `=`, not with `+=`, "
     "and read only what was stored.", NULL},
    {"uninitialised read", NULL,
     "Write every element of an array before it is read; an index that goes past what was written "
     "reads what somebody else left there.", NULL},
    {"uninitialised register", NULL, "Give the variable a value when it is declared.", NULL},
    {"undefined value", NULL,
     "Take values only from lanes that reach the same shuffle, and that have one.", NULL},
    {"use after free", NULL, "Do not touch memory after free().",
     "Do not touch memory after free(); this lab needs no heap at all."},
    {"double free", NULL, "Free memory once.", "Free memory once; this lab needs no heap at all."},
    {"bad free", NULL, "Free only what malloc() gave.",
     "Free only what malloc() gave; this lab needs no heap at all."},
    {"leak", NULL, "Free what malloc() gave.",
     "Free what malloc() gave; this lab needs no heap at all."},
    {"trap", NULL, "Take out the __trap() or the condition that leads to it.", NULL},
    {"assert", NULL, FAILED_ASSERTION, FAILED_ASSERTION_IN_LAB},
    {"assertion", NULL, FAILED_ASSERTION, FAILED_ASSERTION_IN_LAB},
    {"time out", NULL, ENDLESS_LOOP, NULL},
    {"time limit", NULL, ENDLESS_LOOP, NULL},
    {"instruction limit", NULL,
     ENDLESS_LOOP " If it only takes long, --max-instructions allows more.", ENDLESS_LOOP},
    {"stack overflow", NULL,
     "Look for a function that calls itself, or for an array that is far too large.", NULL},
    {"launch refused", NULL,
     "Bound the kernel for as many threads as a block is launched with, and no tighter: a block's "
     "registers must fit the SM too.", NULL},
    {"out of memory", NULL,
     "Make the array smaller: every thread that can be resident gets its own copy.", NULL},
    {"shared memory race", NULL,
     "If each thread is to have values of its own, declare them without __shared__. If threads are to "
     "share them, put a __syncthreads() between what one writes and what another reads.", NULL},
    {"global memory race", NULL,
     "Let each element be written by one thread only, and read by others in a later launch; or use "
     "atomics.",
     "Let each element be written by one thread only."},
    {"barrier divergence", NULL, MISSED_BARRIER, NULL},
    {"barrier never met", NULL, MISSED_BARRIER, NULL},
    {"bad barrier", NULL, "Use __syncthreads() as it is, without a number or a count of your own.", NULL},
    {"bad mbarrier", NULL,
     "Let one thread initialise it once, with the number of arrivals, before a __syncthreads() and all "
     "other uses; and let nothing else store there.", NULL},
    {"divergent exchange", NULL,
     "Let all lanes that the mask names reach the same __shfl or vote.", NULL},
    {"bad mask", NULL, "Name in the mask exactly those lanes that reach the instruction.", NULL},
    {"bad atomic", NULL,
     "Use atomics on global or shared memory, never on a thread's own variables.", NULL},
    {"wild call", NULL, WILD_POINTER, WILD_POINTER_IN_LAB},
    {"wild branch", NULL, WILD_POINTER, WILD_POINTER_IN_LAB},
    /* clang-format on */
};

#define UNKNOWN_BOUNDS                                                                             \
    "Compare the word behind `void` with __launch_bounds__, letter by letter: one that nvcc does " \
    "not know is taken for the name of a variable."

/* Messages that name what nvcc stumbled over, not what somebody did. */
static const struct {
    const char *said; /* a part of the error */
    const char *remedy;
} compiler_remedies[] = {
    /* clang-format off */
    {"attributes are not permitted in a function definition",
     "Put __launch_bounds__(…) between `void` and the kernel's name: behind the parameters it is not "
     "allowed."},
    {"incomplete type \"void\"", UNKNOWN_BOUNDS},
    {"incomplete type is not allowed", UNKNOWN_BOUNDS}, /* CUDA 12.0 to 12.4 */
    {"is undefined",
     "Compare that name with where it is declared, letter by letter; small and capital letters differ."},
    {"uses too much shared data",
     "Declare an array of which each thread needs its own without __shared__: it then lies in registers "
     "or local memory."},
    {"expected a",
     "Mend that line, or the one above it: what is missing, a semicolon or a parenthesis, often belongs "
     "at the end of the one above."},
    /* clang-format on */
};

const char *remedy_for_compiler(const char *first_error)
{
    for (size_t i = 0; i < COUNT_OF(compiler_remedies); ++i)
        if (strstr(first_error, compiler_remedies[i].said) != NULL)
            return compiler_remedies[i].remedy;
    return NULL;
}

const char *remedy_for_fault(const char *kind, const char *text, enum remedy_reader reader)
{
    for (size_t i = 0; i < COUNT_OF(remedies); ++i)
        if (strcmp(remedies[i].kind, kind) == 0 &&
            (remedies[i].said == NULL || strstr(text, remedies[i].said) != NULL))
            return reader == REMEDY_IN_LAB && remedies[i].in_lab != NULL ? remedies[i].in_lab
                                                                         : remedies[i].remedy;
    return NULL;
}

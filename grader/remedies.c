#include "remedies.h"

#include "base.h"
#include "run.h"

static const struct {
    const char *kind; /* of struct run_fault, by the emulator or the GPU */
    const char *remedy;
} remedies[] = {
    /* clang-format off */
    {"out of bounds", "Keep `if (i < n)` around all that reads and writes, and let every index end "
                      "where its array ends: an input has n + taps - 1 elements, an output n."},
    {"illegal address", "Grade it once with --executor emulator: that names the line, the thread and "
                        "the buffer. Then look at the guard `if (i < n)` and at each index."},
    {"misaligned", "Read floats one by one, or see that the address is a multiple of the type's size."},
    {"uninitialised read", "Write every element of an array before it is read; an index that goes "
                           "past what was written reads what somebody else left there."},
    {"uninitialised register", "Give the variable a value when it is declared."},
    {"use after free", "Do not touch memory after free(); this lab needs no heap at all."},
    {"double free", "Free memory once; this lab needs no heap at all."},
    {"bad free", "Free only what malloc() gave; this lab needs no heap at all."},
    {"leak", "Free what malloc() gave; this lab needs no heap at all."},
    {"trap", "Take out the __trap() or the condition that leads to it."},
    {"assert", "Print the values that the assertion compares in your own `make run`, mend what makes "
               "it fail, and leave it in if you like: one that holds costs no mark."},
    {"assertion", "Print the values that the assertion compares in your own `make run`, mend what "
                  "makes it fail, and leave it in if you like: one that holds costs no mark."},
    {"time out", "Look for a loop whose counter never reaches its end: in the wrong direction, or "
                 "changed inside the loop."},
    {RUN_NOT_LAUNCHED_AGAIN, "Look for a loop whose counter never reaches its end: in the wrong "
                             "direction, or changed inside the loop."},
    {"time limit", "Look for a loop whose counter never reaches its end: in the wrong direction, or "
                   "changed inside the loop."},
    {"instruction limit", "Look for a loop whose counter never reaches its end: in the wrong "
                          "direction, or changed inside the loop."},
    {"stack overflow", "Look for a function that calls itself, or for an array that is far too large."},
    {"launch refused", "Bound the kernel for as many threads as a block is launched with, and no "
                       "tighter: a block's registers must fit the SM too."},
    {"out of memory", "Make the array smaller: every thread that can be resident gets its own copy."},
    {"shared memory race", "If each thread is to have values of its own, declare them without "
                           "__shared__. If threads are to share them, put a __syncthreads() between "
                           "what one writes and what another reads."},
    {"global memory race", "Let each element be written by one thread only."},
    {"barrier divergence", "Let every thread of the block reach the same __syncthreads(): none inside "
                           "an `if` that only some threads enter."},
    {"barrier never met", "Let every thread of the block reach the same __syncthreads(): none inside "
                          "an `if` that only some threads enter."},
    {"bad barrier", "Use __syncthreads() as it is, without a number or a count of your own."},
    {"divergent exchange", "Let all lanes that the mask names reach the same __shfl or vote."},
    {"bad mask", "Name in the mask exactly those lanes that reach the instruction."},
    {"bad atomic", "Use atomics on global or shared memory, never on a thread's own variables."},
    {"wild call", "Call functions by their names; this lab needs no function pointer."},
    {"wild branch", "Call functions by their names; this lab needs no function pointer."},
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

const char *remedy_for_fault(const char *kind, const char *text)
{
    if (strcmp(kind, "out of bounds") == 0 &&
        (strstr(text, "its local memory") != NULL || strstr(text, "its shared memory") != NULL))
        return "An index left the array that the kernel itself declares: take it modulo the "
               "array's length, all of it, as in (a + b) % LENGTH, and see that it is never "
               "negative.";
    if (strcmp(kind, "uninitialised read") == 0 && strstr(text, "global memory") != NULL)
        return "What an output holds before the kernel stores to it is nobody's: store with `=`, "
               "not with `+=`, and read only what was stored.";
    for (size_t i = 0; i < COUNT_OF(remedies); ++i)
        if (strcmp(remedies[i].kind, kind) == 0)
            return remedies[i].remedy;
    return NULL;
}

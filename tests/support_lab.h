/* support_lab.h - a lab of two small kernels with one criterion of every kind: what the grader's
 * stages are tried on. Its PTX, cubin and report for sm_75 lie in fixtures/toolkit/tiny.*. */
#ifndef SPILLWAY_SUPPORT_LAB_H
#define SPILLWAY_SUPPORT_LAB_H

#include "testing.h"

#include "emulator/ptx.h"
#include "labs/lab.h"

enum { TINY_TWICE, TINY_PICK, TINY_KERNELS };
/* The last is drawn, from -3 to 40. */
enum { TINY_CASE_TWICE, TINY_CASE_PICK, TINY_CASE_PICK_AGAIN, TINY_CASE_DRAWN, TINY_CASES };
enum {
    TINY_BUILD,
    TINY_NUMBERS,       /* twice */
    TINY_NUMBERS_PICK,  /* pick, and equal to twice's case where both have equal inputs */
    TINY_FRAME,         /* pick: exactly 64 bytes */
    TINY_NO_SPILLS,     /* pick */
    TINY_LAUNCH_BOUNDS, /* pick: 64 threads, 2 blocks */
    TINY_BUDGET,        /* pick: 64 threads, 16 blocks: 64 registers */
    TINY_BLOCKS,        /* pick: 16 blocks of 64 threads */
    TINY_COUNT,         /* [registers] twice */
    TINY_WORD,          /* [q] word: "spills" or "fits", by pick's spill bytes */
    TINY_NUMBER,        /* [q] number: twice's registers */
    TINY_WHAT_IF,       /* [q] what_if: the registers of twice under a bound of 1024 */
    TINY_UNJUDGED,      /* [q] unjudged: nobody can tell */
    TINY_CRITERIA
};

extern const struct lab support_lab;

#define PTX_HEADER ".version 8.0\n.target sm_75\n.address_size 64\n"
/* Entries with the lab's names and parameters, and an empty body. */
#define PTX_TWICE                                                                                  \
    ".visible .entry _Z5twicePKfPfm(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }\n"
#define PTX_PICK_HEAD                                                                              \
    ".visible .entry _Z4pickPKfPfmi(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 d)\n"
#define PTX_PICK PTX_PICK_HEAD "{ ret; }\n"

/* Aborts the test when the text is no PTX. Free it. */
struct ptx_module *support_parse(const char *text);

#endif

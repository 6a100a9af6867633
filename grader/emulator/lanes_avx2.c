/* lanes_avx2.c - the same handlers for processors with AVX2 and FMA (Makefile: its own flags). */
#define LANES_NAME lanes_avx2
#include "emulator/lanes_body.h"

/* scalar.h - what one lane computes, where an expression in instructions.inc is not enough.
 * Semantics: PTX ISA, chapter 9.7, by the name of the instruction. */
#ifndef SPILLWAY_EMULATOR_SCALAR_H
#define SPILLWAY_EMULATOR_SCALAR_H

#include "emulator/scalar_float.h"
#include "emulator/scalar_integer.h"
#include "emulator/scalar_video.h"

#endif

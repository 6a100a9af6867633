/* mistakes.h - common mistakes in the kernels of day17-registers: see struct lab_mistake. */
#ifndef SPILLWAY_DAY17_MISTAKES_H
#define SPILLWAY_DAY17_MISTAKES_H

#include "labs/lab.h"

#define DAY17_MISTAKE_COUNT 16
extern const struct lab_mistake day17_mistakes[DAY17_MISTAKE_COUNT];

void day17_mistaken(unsigned kernel, size_t mistake, const struct reference_call *call);

#endif

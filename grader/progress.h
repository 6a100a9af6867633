/* progress.h - one line on a terminal that says what is being done, and vanishes when it is done.
 * Nothing is printed when standard error is no terminal. */
#ifndef SPILLWAY_PROGRESS_H
#define SPILLWAY_PROGRESS_H

#include "base.h"

void progress_show(const char *format, ...) PRINTF_LIKE(1, 2);
void progress_clear(void);

#endif

/* report_prefix.h - what build tools and CI put in front of a compiler's words. Internal to
 * report*.c. */
#ifndef SPILLWAY_REPORT_PREFIX_H
#define SPILLWAY_REPORT_PREFIX_H

#include "report_line.h"

/* Length of one such prefix at the beginning of the line ("1>", "[3/10]", a time stamp, blanks);
 * 0 when there is none. Looks at no more than a few hundred bytes. */
size_t report_prefix(struct slice line);

#endif

/* datadir.h - where the labs' own files (hints, published figures) are found at run time. */
#ifndef SPILLWAY_DATADIR_H
#define SPILLWAY_DATADIR_H

#include "errors.h"

/* Path of `relative` ("labs/day17-registers/hints") below the first of these folders that has it:
 * $SPILLWAY_DATA, PREFIX/share/spillway beside the program, the source tree or bundle around the
 * program. Owned by the caller; NULL with *err (infrastructure) that names where it was looked for.
 */
char *data_path(const char *relative, struct error *err);

#endif

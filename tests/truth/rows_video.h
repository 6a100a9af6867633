/* rows_video.h - the video instructions, as cases of rows_ptx.h: each operation with types, parts
 * and steps of every kind. */
#ifndef SPILLWAY_ROWS_VIDEO_H
#define SPILLWAY_ROWS_VIDEO_H

#include "rows_ptx.h"

size_t rows_video_count(void);
/* Fills all but the kernel's name. */
void rows_video_at(size_t index, struct rows_case *ret);

#endif

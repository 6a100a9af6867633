/* line_map.h - the same code on other lines: what blank lines and lines of comments do to PTX.
 *
 * A source is taken as its lines that hold code; the PTX that nvcc made of it names them by number
 * in its .loc entries, and (unless the code asks for __LINE__) nowhere else. With these numbers
 * replaced by places among the lines of code, the PTX of two such sources is the same text. */
#ifndef SPILLWAY_LINE_MAP_H
#define SPILLWAY_LINE_MAP_H

#include "bytes.h"
#include "slice.h"

struct line_map {
    uint32_t *lines; /* owned; the number, from 1, of each line that holds code, ascending: or, of
                        line_map_of_ptx(), in the order in which they come */
    size_t count;
};

/* Takes canonical_source()'s text apart: *code gets the lines of code alone. False without memory;
 * both are to be released in any case. */
bool line_map_make(struct line_map *map, struct bytes *code, const struct bytes *canonical);
void line_map_release(struct line_map *map);

/* No line of code has the number that it has in the other. Both have equally many. */
bool line_map_all_differ(const struct line_map *a, const struct line_map *b);

/* Rewrites the .loc entries of PTX (which canonical_ptx() takes) that are about `source_name`: from
 * numbers to places, and back. Line 0, which stands for none, stays. False when an entry names no
 * line of code, or the file table is not understood: then nothing is known. */
bool line_map_to_places(struct bytes *out, struct slice ptx, const char *source_name,
                        const struct line_map *map);
bool line_map_to_lines(struct bytes *out, struct slice ptx, const char *source_name,
                       const struct line_map *map);

/* The same for PTX alone, when nobody knows the lines of code: *text is the PTX with the lines of
 * `source_name` numbered in the order in which they come, from 1, without columns and without the
 * source's path; and *map says which line each number stands for. PTX of two sources that differ in
 * lines and names gives the same text, with as many lines, and its k-th number is the one's k-th
 * line where it is the other's. False: nothing is known. Both are to be released in any case. */
bool line_map_of_ptx(struct line_map *map, struct bytes *text, struct slice ptx,
                     const char *source_name);
/* The number that stands for this line; 0: none does. */
size_t line_map_number(const struct line_map *map, uint64_t line);

#endif

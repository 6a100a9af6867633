/* canonical.h - texts that compile to the same, made the same: keys for caches, never compiled.
 *
 * Two students' files that differ in comments and trailing blanks alone give the same PTX, and two
 * PTX texts that differ in line tables alone give the same machine code. Hostile students look for
 * two texts that are made the same here and mean different things to the compiler, so that one's
 * result passes for the other's: whatever is not certain is left as it is, and the caller keys the
 * exact bytes. */
#ifndef SPILLWAY_CANONICAL_H
#define SPILLWAY_CANONICAL_H

#include "bytes.h"

/* In place of a line end inside a comment: a file without the comment but with the same lines is
 * another file, since a directive would end there. */
#define CANONICAL_JOINED_LINES '\x01'

/* CUDA C++ source without the words of its comments: every byte of them becomes a blank (a line end
 * inside one, a mark of its own), blanks at the end of lines and of the file go. Tokens, their
 * lines and columns stay. False, and *out is empty, when the text holds what a scan of this kind
 * could misread: raw strings, lines that a backslash joins, trigraphs, quotes that do not close,
 * block comments in #include lines or across the lines of a directive, NUL. */
bool canonical_source(struct bytes *out, const char *source, size_t length);

/* PTX without its .loc and .file lines. False, and *out is empty, when it holds inline assembly,
 * pragmas, strings or block comments: those could hold such lines for another purpose. */
bool canonical_ptx(struct bytes *out, const char *ptx, size_t length);

#endif

/* result_read.h - a grade from the JSON that out_json.c wrote (schema spillway/result/v1;
 * FORMATS.md has its keys). The file is hostile input: anybody may have written it. */
#ifndef SPILLWAY_RESULT_READ_H
#define SPILLWAY_RESULT_READ_H

#include "grade.h"

/* `lab` is the one that it must be of; NULL: whichever it names. Fills *ret, which owns what it
 * holds. Keys that are not known are passed over. -1 with *err (usage), and *ret empty: no such
 * document, a lab that is not here, or marks that are not this lab's or do not add up. Numbers and
 * lengths are bounded, texts made printable; what the lab itself says (titles, reasons, hints) is
 * taken from the lab. */
int result_read(struct grade *ret, const char *text, size_t length, const struct lab *lab,
                struct error *err);

#endif

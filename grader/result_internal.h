/* result_internal.h - what the readers of a grade's JSON share. Internal to result_*.c.
 *
 * Absent and null are one thing. Each result_take_…() leaves its target alone when the value is
 * absent, and when it is wrong: then the first complaint is in reader->err, which is looked at once
 * in a while with result_failed(). */
#ifndef SPILLWAY_RESULT_INTERNAL_H
#define SPILLWAY_RESULT_INTERNAL_H

#include <jansson.h>

#include "grade.h"

/* Which object is being read, for messages, and whether anything was wrong. */
struct result_reader {
    struct error *err;
    const char *where; /* "marks", "kernels" … */
};

bool result_failed(const struct result_reader *reader);
/* `expected`: "a number". */
void result_complain(const struct result_reader *reader, const char *key, const char *expected);
bool result_is_absent(const json_t *value);

/* ---- One value (result_value.c) ---------------------------------------------------------------
 */

/* False when there is none; then nothing is said, and the caller decides. */
bool result_take_integer(const struct result_reader *reader, const json_t *object, const char *key,
                         int64_t least, int64_t most, int64_t *ret);
/* Finite and not negative. */
void result_take_number(const struct result_reader *reader, const json_t *object, const char *key,
                        double *ret);
/* Borrowed; NULL when absent. */
const char *result_take_words(const struct result_reader *reader, const json_t *object,
                              const char *key);
/* Printable, cut to the size. */
void result_take_array(const struct result_reader *reader, const json_t *object, const char *key,
                       char *into, size_t size);
/* An owned printable copy of at most `most` bytes, with its lines; NULL with a complaint. */
char *result_copy(const struct result_reader *reader, const char *text, size_t most);
/* The same of a member, which *ret owns. */
void result_take_text(const struct result_reader *reader, const json_t *object, const char *key,
                      size_t most, char **ret);
void result_take_arch(const struct result_reader *reader, const char *key, const json_t *value,
                      struct arch *ret);
/* "0x3f800000"; 0 when absent. */
void result_take_bits(const struct result_reader *reader, const json_t *object, const char *key,
                      uint32_t *ret);
/* Index of the word among `words`; -1 with a complaint. */
int result_take_choice(const struct result_reader *reader, const json_t *object, const char *key,
                       const char *const *words, size_t count);

/* ---- Parts (result_kernels.c) -----------------------------------------------------------------
 */

/* `kernels` of the document, into the grade, whose lab is known. */
void result_read_kernels(struct result_reader *reader, const json_t *root, struct grade *grade);

#endif

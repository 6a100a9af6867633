/* html.h - HTML pages that stand alone: no scripts, no other files, well-formed as XML too.
 *
 * Texts come from students, compilers and kernels: html_escape() is the one way in which they get
 * onto a page. Trouble is in out->failed. */
#ifndef SPILLWAY_HTML_H
#define SPILLWAY_HTML_H

#include "bytes.h"

/* Everything up to the page's content; html_end() closes it. */
void html_begin(struct bytes *out, const char *title);
void html_end(struct bytes *out);

/* The text, printable and with nothing in it that a browser would take for markup. NULL: "". */
void html_escape(struct bytes *out, const char *text);

/* <name attributes>text</name>; `attributes` is "" or begins with a blank, and is our own. */
void html_element(struct bytes *out, const char *name, const char *attributes, const char *text);

#endif

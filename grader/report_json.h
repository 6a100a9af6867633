/* report_json.h - a report as JSON, schema spillway/report/v1. */
#ifndef SPILLWAY_REPORT_JSON_H
#define SPILLWAY_REPORT_JSON_H

#include "report.h"

/* The document, ending in a newline, owned by the caller; NULL with *err when out of memory.
 * Numbers that the log did not print are null. */
char *report_json_text(const struct report *report, struct error *err);

#endif

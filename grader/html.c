#include "html.h"

#include "text.h"

static const char style[] =
    "<style>\n"
    ".spillway { font: 14px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; "
    "max-width: 60em; padding: 1em; }\n"
    ".spillway table { border-collapse: collapse; margin: 0.8em 0; }\n"
    ".spillway th, .spillway td { padding: 0.2em 0.7em; text-align: left; vertical-align: top; "
    "border-bottom: 1px solid #ddd; }\n"
    ".spillway td.n { text-align: right; font-variant-numeric: tabular-nums; }\n"
    ".spillway .word { font-weight: 600; padding: 0 0.4em; border: 1px solid; border-radius: 3px; "
    "}\n"
    ".spillway .passed { color: #1a6334; }\n"
    ".spillway .failed { color: #a11616; }\n"
    ".spillway .skipped, .spillway .error { color: #7a5200; }\n"
    ".spillway pre { white-space: pre-wrap; margin: 0.3em 0 0.6em; }\n"
    "</style>\n";

void html_escape(struct bytes *out, const char *text)
{
    AUTO_FREE char *printable = text_printable(text == NULL ? "" : text);
    if (printable == NULL) {
        out->failed = true;
        return;
    }
    for (const char *p = printable; *p != '\0'; ++p) {
        const char *entity = *p == '&'    ? "&amp;"
                             : *p == '<'  ? "&lt;"
                             : *p == '>'  ? "&gt;"
                             : *p == '"'  ? "&quot;"
                             : *p == '\'' ? "&#39;"
                                          : NULL;
        if (entity != NULL)
            bytes_append_text(out, entity);
        else
            bytes_append(out, p, 1);
    }
}

void html_element(struct bytes *out, const char *name, const char *attributes, const char *text)
{
    bytes_printf(out, "<%s%s>", name, attributes);
    html_escape(out, text);
    bytes_printf(out, "</%s>\n", name);
}

void html_begin(struct bytes *out, const char *title)
{
    bytes_append_text(out,
                      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n");
    html_element(out, "title", "", title);
    bytes_append_text(out, style);
    bytes_append_text(out, "</head>\n<body>\n<div class=\"spillway\">\n");
}

void html_end(struct bytes *out)
{
    bytes_append_text(out, "</div>\n</body>\n</html>\n");
}

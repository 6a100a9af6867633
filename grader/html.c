#include "html.h"

#include "text.h"

/* Colours have a contrast of at least 4.5 with what lies behind them, in both schemes; none of them
 * says anything that a word beside it does not. */
static const char style[] =
    "<style>\n"
    ".spillway { --ink: #1a1a1a; --paper: #fff; --line: #ccc; --band: #f3f3f3; --good: #1a6334; "
    "--bad: #a11616; --open: #7a5200; }\n"
    "@media (prefers-color-scheme: dark) { .spillway { --ink: #e4e4e4; --paper: #181818; "
    "--line: #4a4a4a; --band: #262626; --good: #7ed49b; --bad: #ff9d94; --open: #e9bd6a; } }\n"
    ".spillway { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); "
    "background: var(--paper); max-width: 60em; padding: 1em; overflow-wrap: break-word; }\n"
    ".spillway h1 { font-size: 1.6em; line-height: 1.2; margin: 0.3em 0; }\n"
    ".spillway .score { font-size: 1.3em; font-weight: 600; margin: 0.3em 0; }\n"
    ".spillway .plain { white-space: pre-line; margin: 0.5em 0; }\n"
    ".spillway .wide { overflow-x: auto; }\n"
    ".spillway table { border-collapse: collapse; margin: 0.8em 0; }\n"
    ".spillway caption { text-align: left; font-size: 1.15em; font-weight: 600; "
    "padding: 0.4em 0; }\n"
    ".spillway th, .spillway td { padding: 0.25em 0.7em; text-align: left; vertical-align: top; "
    "border-bottom: 1px solid var(--line); }\n"
    ".spillway .group th { background: var(--band); }\n"
    ".spillway td.n { text-align: right; font-variant-numeric: tabular-nums; "
    "white-space: nowrap; }\n"
    ".spillway .word { font-weight: 600; padding: 0 0.4em; border: 1px solid; border-radius: 3px; "
    "white-space: nowrap; }\n"
    ".spillway .passed { color: var(--good); }\n"
    ".spillway .failed { color: var(--bad); }\n"
    ".spillway .skipped, .spillway .error { color: var(--open); }\n"
    ".spillway dl { display: grid; grid-template-columns: max-content 1fr; column-gap: 0.8em; "
    "margin: 0.3em 0 0.5em; }\n"
    ".spillway dt { font-weight: 600; }\n"
    ".spillway dd { margin: 0; min-width: 0; white-space: pre-line; overflow-wrap: anywhere; }\n"
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
                      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                      "<meta name=\"viewport\" content=\"width=device-width\"/>\n"
                      "<meta name=\"color-scheme\" content=\"light dark\"/>\n");
    html_element(out, "title", "", title);
    bytes_append_text(out, style);
    bytes_append_text(out, "</head>\n<body>\n<div class=\"spillway\">\n");
}

void html_end(struct bytes *out)
{
    bytes_append_text(out, "</div>\n</body>\n</html>\n");
}

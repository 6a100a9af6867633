#include "errors.h"

#include <errno.h>
#include <stdarg.h>

#include "bytes.h"
#include "text.h"
#include "wrap.h"

/* Messages quote paths and options, which may hold anything: what is kept is one printable line,
 * and one that was cut shows it. */
static void make_printable(struct error *err, bool cut)
{
    static const char mark[] = "…";
    if (cut) {
        size_t end = sizeof err->text - sizeof mark;
        while (end > 0 && ((unsigned char)err->text[end] & 0xC0) == 0x80)
            --end; /* not in the middle of a character */
        memcpy(err->text + end, mark, sizeof mark);
    }
    text_clean(err->text);
}

static int fill(struct error *err, enum error_kind kind, int sys_errno, const char *format,
                va_list arguments)
{
    if (err == NULL || err->kind != ERROR_NONE)
        return -1;
    err->kind = kind;
    int used = vsnprintf(err->text, sizeof err->text, format, arguments);
    if (used < 0)
        err->text[0] = '\0';
    if (sys_errno != 0 && used >= 0 && (size_t)used < sizeof err->text)
        used += snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s",
                         strerror(sys_errno));
    make_printable(err, used >= (int)sizeof err->text);
    return -1;
}

int error_set(struct error *err, enum error_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fill(err, kind, 0, format, arguments);
    va_end(arguments);
    return -1;
}

int error_set_errno(struct error *err, enum error_kind kind, const char *format, ...)
{
    int saved = errno;
    va_list arguments;
    va_start(arguments, format);
    (void)fill(err, kind, saved, format, arguments);
    va_end(arguments);
    return -1;
}

int error_context(struct error *err, const char *format, ...)
{
    if (err == NULL)
        return -1;
    struct error whole = {.kind = err->kind, .no_memory = err->no_memory};
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(whole.text, sizeof whole.text, format, arguments);
    va_end(arguments);
    if (used < 0 || (size_t)used >= sizeof whole.text)
        return -1;
    used += snprintf(whole.text + used, sizeof whole.text - (size_t)used, ": %s", err->text);
    make_printable(&whole, used >= (int)sizeof whole.text);
    *err = whole;
    return -1;
}

int error_no_memory(struct error *err)
{
    if (err != NULL && err->kind == ERROR_NONE)
        err->no_memory = true;
    return error_set(err, ERROR_INFRASTRUCTURE, "out of memory");
}

/* Broken at 80 columns for somebody who looks at it; whole for who searches it or keeps it. */
static void print_sentence(const char *text)
{
    struct bytes page = bytes_with_limit((size_t)64 << 10);
    if (isatty(STDERR_FILENO) == 1)
        wrap_text(&page, 0, "spillway: ", text);
    if (page.length > 0 && !page.failed)
        (void)fputs(bytes_text(&page), stderr);
    else
        (void)fprintf(stderr, "spillway: %s\n", text);
    bytes_release(&page);
}

int error_report(const struct error *err)
{
    if (err->kind == ERROR_NONE)
        return EXIT_STATUS_DONE;
    print_sentence(err->text);
    return err->kind == ERROR_USAGE         ? EXIT_STATUS_USAGE
           : err->kind == ERROR_INTERRUPTED ? EXIT_STATUS_INTERRUPTED
                                            : EXIT_STATUS_INFRASTRUCTURE;
}

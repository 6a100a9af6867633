#include "errors.h"

#include <errno.h>
#include <stdarg.h>

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
        (void)snprintf(err->text + used, sizeof err->text - (size_t)used, ": %s",
                       strerror(sys_errno));
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
    struct error whole = {.kind = err->kind};
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(whole.text, sizeof whole.text, format, arguments);
    va_end(arguments);
    if (used < 0 || (size_t)used >= sizeof whole.text)
        return -1;
    (void)snprintf(whole.text + used, sizeof whole.text - (size_t)used, ": %s", err->text);
    *err = whole;
    return -1;
}

int error_no_memory(struct error *err)
{
    return error_set(err, ERROR_INFRASTRUCTURE, "out of memory");
}

int error_report(const struct error *err)
{
    switch (err->kind) {
    case ERROR_USAGE:
        (void)fprintf(stderr, "spillway: %s\n", err->text);
        return EXIT_STATUS_USAGE;
    case ERROR_INTERRUPTED:
        (void)fprintf(stderr, "spillway: %s\n", err->text);
        return EXIT_STATUS_INTERRUPTED;
    case ERROR_NONE:
        return EXIT_STATUS_DONE;
    case ERROR_INFRASTRUCTURE:
        break;
    }
    (void)fprintf(stderr, "spillway: %s\n", err->text);
    return EXIT_STATUS_INFRASTRUCTURE;
}

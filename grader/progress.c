#include "progress.h"

#include <stdarg.h>

static bool shown;

void progress_show(const char *format, ...)
{
    if (!isatty(STDERR_FILENO))
        return;
    va_list arguments;
    va_start(arguments, format);
    (void)fputs("\r\033[K", stderr);
    (void)vfprintf(stderr, format, arguments);
    (void)fflush(stderr);
    va_end(arguments);
    shown = true;
}

void progress_clear(void)
{
    if (!shown)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    shown = false;
}

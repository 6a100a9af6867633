#include "batch_progress.h"

#include <stdarg.h>
#include <sys/ioctl.h>

#include "caps.h"
#include "process.h"
#include "progress.h"
#include "text.h"

#define REDRAW_NS INT64_C(150000000)
#define SECOND_NS INT64_C(1000000000)
#define BAR_MOST 30

void batch_progress_begin(struct batch_progress *progress, size_t total)
{
    *progress = (struct batch_progress){.terminal = isatty(STDERR_FILENO) != 0,
                                        .began_ns = process_now_ns(),
                                        .total = total,
                                        .waiting = total};
}

/* If it goes on as it did. "" while nobody can tell: what has not changed takes no time. */
static void time_left(const struct batch_progress *progress, int64_t now_ns, char into[40])
{
    size_t graded = progress->done - progress->unchanged;
    size_t left = progress->total - progress->done;
    into[0] = '\0';
    if (graded < 2 || left == 0)
        return;
    int64_t elapsed = now_ns - progress->began_ns;
    int64_t seconds = (int64_t)((double)elapsed / (double)progress->done * (double)left / 1e9) + 1;
    if (seconds < 100)
        (void)snprintf(into, 40, ", %lld s left", (long long)seconds);
    else if (seconds < 100 * 60)
        (void)snprintf(into, 40, ", %lld min left", (long long)(seconds + 59) / 60);
    else
        (void)snprintf(into, 40, ", %lld h left", (long long)(seconds + 3599) / 3600);
}

const char *batch_progress_text(const struct batch_progress *progress, int64_t now_ns,
                                size_t columns, char into[BATCH_PROGRESS_BYTES])
{
    char words[160], left[40], bar[BAR_MOST + 1];
    time_left(progress, now_ns, left);
    unsigned percent =
        progress->total == 0 ? 100 : (unsigned)(100 * progress->done / progress->total);
    (void)snprintf(words, sizeof words, "%3u%%  %zu done, %zu running, %zu waiting, %zu failed%s",
                   percent, progress->done, progress->running, progress->waiting, progress->failed,
                   left);
    size_t used = strlen(words) + 4;
    size_t room = columns > used + 4 ? columns - used : 0;
    room = room > BAR_MOST ? BAR_MOST : room;
    size_t full = progress->total == 0 ? room : room * progress->done / progress->total;
    for (size_t i = 0; i < room; ++i)
        bar[i] = i < full ? '#' : '.';
    bar[room] = '\0';
    (void)snprintf(into, BATCH_PROGRESS_BYTES, "%s%s%s%.*s", room > 0 ? "[" : "", bar,
                   room > 0 ? "] " : "", (int)columns, words);
    return into;
}

void batch_progress_show(struct batch_progress *progress, bool now)
{
    int64_t now_ns = process_now_ns();
    if (!progress->terminal || (!now && now_ns - progress->shown_ns < REDRAW_NS))
        return;
    progress->shown_ns = now_ns;
    struct winsize size = {0};
    size_t columns =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
    char text[BATCH_PROGRESS_BYTES];
    progress_show("%s", batch_progress_text(progress, now_ns, columns - 1, text));
}

void batch_progress_line(struct batch_progress *progress, const char *student, const char *format,
                         ...)
{
    if (progress->terminal)
        return;
    char words[LIMIT_MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    text_clean(words);
    (void)printf("%-16s %s\n", student, words);
    (void)fflush(stdout);
}

void batch_progress_end(struct batch_progress *progress)
{
    if (progress->terminal)
        progress_clear();
}

#include "watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdalign.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "process.h"

#define QUIET_MS 15 /* a save of which no end was heard is over when nothing happens so long */
#define GAPS_MAX 40 /* of QUIET_MS: who saves without a pause is graded all the same */
#define LOOK_MS 1000

static struct watch_stamp stamp_of(const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return (struct watch_stamp){0};
    return (struct watch_stamp){.device = info.st_dev,
                                .inode = info.st_ino,
                                .bytes = info.st_size,
                                .modified = info.st_mtim,
                                .changed = info.st_ctim};
}

static bool same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same_stamp(const struct watch_stamp *a, const struct watch_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->bytes == b->bytes &&
           same_time(a->modified, b->modified) && same_time(a->changed, b->changed);
}

void watch_open(struct watch *out)
{
    *out = (struct watch){.fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
}

void watch_close(struct watch *watch)
{
    for (size_t i = 0; i < watch->count; ++i)
        free(watch->paths[i]);
    if (watch->fd >= 0)
        (void)close(watch->fd);
    *watch = (struct watch){.fd = -1};
}

int watch_add(struct watch *watch, const char *path, struct error *err)
{
    static const uint32_t events = IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE |
                                   IN_CREATE | IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF;
    for (size_t i = 0; i < watch->count; ++i)
        if (strcmp(watch->paths[i], path) == 0)
            return 0;
    char *copy = strdup(path);
    AUTO_FREE char *folder = strdup(path);
    if (watch->count == WATCH_FILES_MAX || copy == NULL || folder == NULL) {
        free(copy);
        return error_no_memory(err);
    }
    char *slash = strrchr(folder, '/');
    if (slash != NULL)
        slash[slash == folder] = '\0';
    /* Too many watches, or a file system without: then there is still the look once a second. */
    if (watch->fd >= 0)
        (void)inotify_add_watch(watch->fd, slash != NULL ? folder : ".", events);
    watch->paths[watch->count] = copy;
    watch->stamps[watch->count++] = stamp_of(path);
    return 0;
}

bool watch_changed(const struct watch *watch)
{
    for (size_t i = 0; i < watch->count; ++i) {
        struct watch_stamp now = stamp_of(watch->paths[i]);
        if (!same_stamp(&now, &watch->stamps[i]))
            return true;
    }
    return false;
}

/* What happened in the watched folders, to the last of it. */
enum heard {
    HEARD_NOTHING,
    HEARD_SOMETHING,
    HEARD_WHOLE_SAVE, /* one of the files was closed by its writer, or moved to its place */
};

static bool is_watched(const struct watch *watch, const char *name)
{
    for (size_t i = 0; i < watch->count; ++i) {
        const char *slash = strrchr(watch->paths[i], '/');
        if (strcmp(slash != NULL ? slash + 1 : watch->paths[i], name) == 0)
            return true;
    }
    return false;
}

/* The last word on the files counts: who closes one and writes the next is not done. */
static enum heard read_events(const struct watch *watch, enum heard heard)
{
    alignas(struct inotify_event) char room[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
    for (ssize_t got; (got = read(watch->fd, room, sizeof room)) > 0;)
        for (const char *at = room; at < room + got;) {
            const struct inotify_event *event = (const void *)at;
            at += sizeof *event + event->len;
            if (heard == HEARD_NOTHING)
                heard = HEARD_SOMETHING;
            if (event->len == 0 || !is_watched(watch, event->name))
                continue;
            if ((event->mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0)
                heard = HEARD_WHOLE_SAVE;
            else if ((event->mask & IN_ATTRIB) == 0)
                heard = HEARD_SOMETHING;
        }
    return heard;
}

/* Waits for anything. */
static enum heard wait_for_event(const struct watch *watch, int timeout_ms)
{
    struct pollfd fds[] = {{.fd = watch->fd, .events = POLLIN},
                           {.fd = process_interrupt_fd(), .events = POLLIN}};
    if (poll(fds, 2, timeout_ms) <= 0 || (fds[0].revents & POLLIN) == 0)
        return HEARD_NOTHING;
    return read_events(watch, HEARD_NOTHING);
}

void watch_look(const struct watch *watch, struct watch_stamp stamps[WATCH_FILES_MAX])
{
    for (size_t i = 0; i < watch->count; ++i)
        stamps[i] = stamp_of(watch->paths[i]);
}

int watch_wait(struct watch *watch, int64_t *noticed_ns, struct error *err)
{
    enum heard heard = HEARD_NOTHING;
    while (!watch_changed(watch) && !process_interrupted())
        heard = wait_for_event(watch, LOOK_MS);
    *noticed_ns = process_now_ns();
    for (int gap = 0; heard != HEARD_WHOLE_SAVE && gap < GAPS_MAX && !process_interrupted(); ++gap)
        if ((heard = wait_for_event(watch, QUIET_MS)) == HEARD_NOTHING)
            break;
    watch_look(watch, watch->stamps);
    return process_interrupted() ? error_set(err, ERROR_INTERRUPTED, "interrupted") : 0;
}

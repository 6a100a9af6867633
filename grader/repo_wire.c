/* repo_wire.c - the bytes between libgit2 and a server.
 *
 * https, http and git are libgit2's own transports. For ssh it gets one that reads and writes a
 * descriptor: the parent has started OpenSSH's client beside this process, whose other end is
 * there. So every kind of key works (libssh2 1.10 makes no RSA signature that a present sshd
 * takes), known_hosts, ~/.ssh/config and jump hosts are ssh's business, and no key ever comes near
 * the bytes of a student's repo.
 *
 * Around each of them lies a listener: libgit2 1.5 ends at the same "error parsing REF pkt-line"
 * for a shallow repo and for one of SHA-256, so what the server lists is looked at on its way in
 * (gitprotocol-pack(5), "Reference Discovery"). */
#include "repo_talk.h"

#include <errno.h>
#include <git2/sys/transport.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h>
#endif
#include <sys/socket.h>

/* ---- ssh ------------------------------------------------------------------------------------- */

struct pipe_transport {
    git_smart_subtransport base;
    struct pipe_stream {
        git_smart_subtransport_stream base;
        int fd; /* borrowed from the work */
    } stream;
};

static int pipe_read(git_smart_subtransport_stream *base, char *buffer, size_t room, size_t *got)
{
    const struct pipe_stream *stream = (const struct pipe_stream *)(const void *)base;
    ssize_t count = 0;
    do
        count = recv(stream->fd, buffer, room, 0);
    while (count < 0 && errno == EINTR);
    *got = count > 0 ? (size_t)count : 0;
    if (count < 0)
        git_error_set_str(GIT_ERROR_NET, "ssh broke off");
    return count < 0 ? -1 : 0;
}

static int pipe_write(git_smart_subtransport_stream *base, const char *buffer, size_t length)
{
    const struct pipe_stream *stream = (const struct pipe_stream *)(const void *)base;
    while (length > 0) {
        ssize_t count = send(stream->fd, buffer, length, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            git_error_set_str(GIT_ERROR_NET, "ssh broke off");
            return -1;
        }
        buffer += count;
        length -= (size_t)count;
    }
    return 0;
}

static void pipe_free_stream(git_smart_subtransport_stream *stream)
{
    (void)stream; /* part of the transport */
}

/* The service was chosen when ssh was started: one stream is all there is. */
static int pipe_action(git_smart_subtransport_stream **ret, git_smart_subtransport *base,
                       const char *url, git_smart_service_t service)
{
    struct pipe_transport *transport = (struct pipe_transport *)(void *)base;
    (void)url, (void)service;
    *ret = &transport->stream.base;
    return 0;
}

static int pipe_close(git_smart_subtransport *base)
{
    (void)base;
    return 0;
}

static void pipe_free(git_smart_subtransport *base)
{
    free(base);
}

static int make_pipe(git_smart_subtransport **ret, const struct repo_work *work)
{
    struct pipe_transport *transport = calloc(1, sizeof *transport);
    if (transport == NULL)
        return -1;
    transport->base = (git_smart_subtransport){pipe_action, pipe_close, pipe_free};
    transport->stream.base =
        (git_smart_subtransport_stream){&transport->base, pipe_read, pipe_write, pipe_free_stream};
    transport->stream.fd = work->ssh;
    *ret = &transport->base;
    return 0;
}

/* ---- The listener ---------------------------------------------------------------------------- */

/* A "shallow" line of the listing, whose length is always the same, and a capability. */
static const char shallow_line[] = "0035shallow ", sha256_word[] = "object-format=sha256";
#define KEPT_BYTES (sizeof sha256_word - 2) /* a word may be cut between two readings */

struct listener {
    git_smart_subtransport base;
    git_smart_subtransport *inner; /* owned */
    struct repo_work *work;
    struct heard {
        git_smart_subtransport_stream base;
        git_smart_subtransport_stream *inner; /* owned; NULL: this one is free */
        struct listener *listener;
        bool listing;
        char window[KEPT_BYTES + 65536];
        size_t kept;
    } heard;
};

static void look_for(struct heard *heard, const char *data, size_t length)
{
    struct repo_work *work = heard->listener->work;
    while (length > 0) {
        size_t room = sizeof heard->window - heard->kept, count = length < room ? length : room;
        memcpy(heard->window + heard->kept, data, count);
        size_t all = heard->kept + count;
        if (memmem(heard->window, all, shallow_line, sizeof shallow_line - 1) != NULL)
            work->reply.traits |= REPO_TRAIT_SHALLOW;
        if (memmem(heard->window, all, sha256_word, sizeof sha256_word - 1) != NULL)
            work->sha256 = true;
        heard->kept = all < KEPT_BYTES ? all : KEPT_BYTES;
        memmove(heard->window, heard->window + all - heard->kept, heard->kept);
        data += count;
        length -= count;
    }
}

static int heard_read(git_smart_subtransport_stream *base, char *buffer, size_t room, size_t *got)
{
    struct heard *heard = (struct heard *)(void *)base;
    int code = heard->inner->read(heard->inner, buffer, room, got);
    if (code == 0 && heard->listing)
        look_for(heard, buffer, *got);
    return code;
}

static int heard_write(git_smart_subtransport_stream *base, const char *buffer, size_t length)
{
    struct heard *heard = (struct heard *)(void *)base;
    heard->listing = false; /* the client has taken the listing, and asks */
    return heard->inner->write(heard->inner, buffer, length);
}

static void heard_free(git_smart_subtransport_stream *base)
{
    struct heard *heard = (struct heard *)(void *)base;
    heard->inner->free(heard->inner);
    heard->inner = NULL;
}

/* libgit2 has one stream open at a time: the same one again (git, ssh), or the next (http). */
static int listener_action(git_smart_subtransport_stream **ret, git_smart_subtransport *base,
                           const char *url, git_smart_service_t service)
{
    struct listener *listener = (struct listener *)(void *)base;
    struct heard *heard = &listener->heard;
    git_smart_subtransport_stream *inner = NULL;
    int code = listener->inner->action(&inner, listener->inner, url, service);
    if (code != 0)
        return code;
    if (heard->inner == NULL) {
        heard->base = (git_smart_subtransport_stream){base, heard_read, heard_write, heard_free};
        heard->listener = listener;
        heard->kept = 0;
    }
    heard->inner = inner;
    heard->listing = service == GIT_SERVICE_UPLOADPACK_LS;
    *ret = &heard->base;
    return 0;
}

static int listener_close(git_smart_subtransport *base)
{
    struct listener *listener = (struct listener *)(void *)base;
    return listener->inner->close(listener->inner);
}

static void listener_free(git_smart_subtransport *base)
{
    struct listener *listener = (struct listener *)(void *)base;
    listener->inner->free(listener->inner);
    free(listener);
}

static int make_listener(git_smart_subtransport **ret, git_transport *owner, void *context)
{
    struct repo_work *work = context;
    struct listener *listener = calloc(1, sizeof *listener);
    if (listener == NULL)
        return -1;
    int code = 0;
    if (work->task->through_ssh)
        code = make_pipe(&listener->inner, work);
    else if (strncmp(work->task->address, "git://", 6) == 0)
        code = git_smart_subtransport_git(&listener->inner, owner, NULL);
    else
        code = git_smart_subtransport_http(&listener->inner, owner, NULL);
    if (code != 0) {
        free(listener);
        return code;
    }
    listener->base = (git_smart_subtransport){listener_action, listener_close, listener_free};
    listener->work = work;
    *ret = &listener->base;
    return 0;
}

int repo_wire_transport(git_transport **ret, git_remote *owner, void *work)
{
    bool stateless = strncmp(((struct repo_work *)work)->task->address, "http", 4) == 0;
    git_smart_subtransport_definition definition = {make_listener, stateless, work};
    return git_transport_smart(ret, owner, &definition);
}

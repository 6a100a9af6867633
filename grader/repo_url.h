/* repo_url.h - where a student's repo is: which kind of address, taken apart, and fit to be shown.
 *
 * Nothing here allocates or touches the file system or the network. Addresses come from a roster,
 * often out of a form that students filled in, so they are hostile: what could be taken for an
 * option of ssh, for a remote helper ("ext::sh -c …") or for a password is refused. */
#ifndef SPILLWAY_REPO_URL_H
#define SPILLWAY_REPO_URL_H

#include "base.h"
#include "caps.h"

enum repo_kind {
    REPO_PATH,
    REPO_FILE_URL,
    REPO_HTTPS,
    REPO_HTTP, /* of this machine only: nothing else may travel unencrypted */
    REPO_GIT,  /* git://, of this machine only */
    REPO_SSH,  /* ssh:// or scp-like, user@host:path */
};

struct repo_url {
    enum repo_kind kind;
    char user[64];  /* "": none given */
    char host[256]; /* "" for REPO_PATH and REPO_FILE_URL; an IPv6 address has no brackets */
    unsigned port;  /* 0: the kind's own */
    char path[LIMIT_REPO_URL_BYTES + 1]; /* of a file (%xx undone) or as the server takes it */
};

/* Takes an address apart. False with `problem`, a clause that says what is wrong and what to write
 * instead; it never quotes a credential. */
bool repo_url_parse(struct repo_url *ret, const char *text, char problem[300]) MUST_CHECK;

/* The same for who only wants the kind. */
bool repo_classify(const char *text, enum repo_kind *ret, char problem[300]) MUST_CHECK;

/* True for addresses on this machine's disks. */
bool repo_kind_is_local(enum repo_kind kind);

/* Blanks in place everything between "://" and "@" in a message of somebody else's (a library, ssh,
 * a server), and every copy of `secret` (NULL or "": none). Never makes the text longer. */
void repo_url_redact(char *text, const char *secret);

#endif

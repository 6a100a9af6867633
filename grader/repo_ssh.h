/* repo_ssh.h - OpenSSH's client, started beside the child that speaks git with it.
 *
 * It never asks anything (BatchMode): a server that is in no known_hosts, a key with a passphrase
 * that no agent holds, and a password are refusals. What ~/.ssh/config says holds. The child of
 * ours holds the other end of its input and output, and nothing else of it: keys and the agent's
 * socket are ssh's alone.
 *
 * Life cycle: repo_ssh_start(), hand over `descriptor`, repo_ssh_stop(), repo_ssh_explain(). */
#ifndef SPILLWAY_REPO_SSH_H
#define SPILLWAY_REPO_SSH_H

#include "bytes.h"
#include "errors.h"
#include "repo_reason.h"
#include "repo_url.h"

struct repo_ssh {
    pid_t pid;      /* 0: not running */
    int descriptor; /* its input and output; the caller's once taken (steal_fd()) */
    int said;       /* its standard error */
    int exit_code;  /* after repo_ssh_stop(); -1: it was killed */
};

#define REPO_SSH_NONE ((struct repo_ssh){.descriptor = -1, .said = -1})

/* `key` and `config` are files or NULL: ssh's own choice. `push`: git-receive-pack instead of
 * git-upload-pack. -1 with *err (infrastructure): there is no ssh, or it cannot be started. */
int repo_ssh_start(struct repo_ssh *ssh, const struct repo_url *url, const char *key,
                   const char *config, bool push, struct error *err);

/* Gives it a moment to end by itself, then kills its process group. Fine when nothing runs. */
void repo_ssh_stop(struct repo_ssh *ssh);

/* After repo_ssh_stop(): what its words mean, REPO_FINE when they mean nothing. `detail` gets a
 * sentence. Closes `said`. */
enum repo_reason repo_ssh_explain(struct repo_ssh *ssh, char detail[500]);

/* The table behind it, for tests: what these words of ssh or of a server's git mean. */
enum repo_reason repo_ssh_meaning(const char *words, char detail[500]);

#endif

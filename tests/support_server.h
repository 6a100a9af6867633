/* support_server.h - real servers on loopback, which end with the test that started them: git
 * daemon, sshd, and git http-backend behind a few lines of HTTP. */
#ifndef SPILLWAY_SUPPORT_SERVER_H
#define SPILLWAY_SUPPORT_SERVER_H

#include "testing.h"

/* Serves the repos below `root` by the git protocol, for pushing too. Returns its port. */
unsigned server_git(const char *root);

enum server_http {
    SERVER_PLAIN,      /* git http-backend, open to all */
    SERVER_PASSWORD,   /* the same, for SERVER_USER with SERVER_TOKEN only */
    SERVER_SILENT,     /* accepts, reads and says nothing */
    SERVER_HANGS_UP,   /* closes in the middle of each answer that is not small */
    SERVER_FAILS_ONCE, /* closes the first connection, then is as SERVER_PLAIN */
    SERVER_STATUS,     /* answers with the status that is the first component of the path */
    SERVER_PAGE,       /* answers each request with a web page */
    SERVER_DUMB,       /* hands out files, as a server without git does */
    SERVER_REDIRECT,   /* sends on to `target` */
    SERVER_DRIPS,      /* one byte a second, for ever */
};

#define SERVER_USER "x-access-token"
#define SERVER_TOKEN "s3cret-t0ken"

/* Serves the repos below `root`, or what the kind says. `target` is for SERVER_REDIRECT. */
unsigned server_http(enum server_http kind, const char *root, const char *target);
/* Requests that reached servers of server_http() so far, and those that bore a credential. */
unsigned server_requests(void);
unsigned server_credentials(void);

struct server_ssh {
    unsigned port;
    char config[400]; /* an ssh_config that knows the server's key and has a key that it takes */
    char stranger_config[400]; /* the same with an empty known_hosts */
    char key[400];             /* the private key, RSA */
    char other_key[400];       /* one that the server does not take */
};

/* Starts an sshd with keys of its own. False where there is none: TEST_SKIP("no sshd"). */
bool server_ssh(struct server_ssh *ret);

#endif

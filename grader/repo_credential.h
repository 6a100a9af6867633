/* repo_credential.h - a user's name and a secret for an https server, without asking anybody.
 *
 * A token from the environment goes to one host only: addresses come from students, and a token
 * that is sent to whoever asks for it is a token lost. */
#ifndef SPILLWAY_REPO_CREDENTIAL_H
#define SPILLWAY_REPO_CREDENTIAL_H

#include "errors.h"
#include "repo_url.h"

struct repo_credential {
    char user[64];
    char secret[1024]; /* "": none */
};

/* SPILLWAY_GIT_TOKEN, if the URL's host is SPILLWAY_GIT_TOKEN_HOST (github.com when that is not
 * set). False: none for this host. `why` (200 bytes) is "" or says that there is one for another.
 */
bool repo_credential_from_environment(struct repo_credential *ret, const struct repo_url *url,
                                      char why[200]);

/* What git's credential helpers know (`git credential fill`, run without a terminal and outside of
 * any repo). False with an empty *ret: nothing, or no git; *err is
 * filled only when the user interrupted. */
bool repo_credential_from_helper(struct repo_credential *ret, const struct repo_url *url,
                                 struct error *err);

void repo_credential_wipe(struct repo_credential *credential);

#endif

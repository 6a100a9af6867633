/* libraries.h - the versions of the libraries that this program runs with. Never fails. */
#ifndef SPILLWAY_LIBRARIES_H
#define SPILLWAY_LIBRARIES_H

struct libraries {
    char libgit2[32]; /* as loaded */
    char jansson[32]; /* as loaded where jansson can tell (2.13 and newer), else as built with */
    char sqlite[32];  /* as loaded */
    char inih[32];    /* as built with: the library cannot be asked */
};

void libraries_ask(struct libraries *ret);

#endif

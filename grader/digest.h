/* digest.h - SHA-256 of bytes and of lists of parts: names for content that nobody can choose to
 * collide.
 *
 * Students choose what is hashed, and a hit in a cache makes one student's result another's, so the
 * hash has to resist collisions: libgit2's own (SHA-1) does not. libcrypto is what libgit2's ssh
 * transport already brings into the process, it uses the processor's SHA instructions, and every
 * distribution has it. */
#ifndef SPILLWAY_DIGEST_H
#define SPILLWAY_DIGEST_H

#include "errors.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX_BYTES 65

struct digest {
    unsigned char bytes[DIGEST_BYTES];
};

/* A list of parts: each goes in with its length, so that ("ab", "c") and ("a", "bc") differ. Begin,
 * add, end; trouble (no memory) shows at the end. */
struct digester {
    struct evp_md_ctx_st *context; /* owned until digester_end() */
    bool failed;
};

void digester_begin(struct digester *digester);
void digester_add(struct digester *digester, const void *data, size_t length);
void digester_add_text(struct digester *digester, const char *text); /* NULL is not "" */
void digester_add_number(struct digester *digester, uint64_t number);
void digester_add_digest(struct digester *digester, const struct digest *digest);
/* Call it in any case. -1 with *err: no memory. */
int digester_end(struct digester *digester, struct digest *ret, struct error *err);

/* SHA-256 of these bytes alone, as sha256sum has it. */
int digest_bytes(struct digest *ret, const void *data, size_t length, struct error *err);
/* The same of a file's content, of whatever size. */
int digest_file(struct digest *ret, const char *path, struct error *err);

static inline bool digest_equal(const struct digest *a, const struct digest *b)
{
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

/* The id that git gives a blob of these bytes (SHA-1, in hex): a name that people can look for in
 * their repository, never a key. Starting libgit2 for it would read the system's certificates. */
#define DIGEST_GIT_BLOB_BYTES 41
int digest_git_blob(char ret[DIGEST_GIT_BLOB_BYTES], const void *data, size_t length,
                    struct error *err);

/* Lower-case hex. Returns `into`. */
const char *digest_hex(const struct digest *digest, char into[DIGEST_HEX_BYTES]);

#endif

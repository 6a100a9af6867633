#include <openssl/evp.h> /* first: OpenSSL 3.0.2 has a member of a name that base.h poisons */

#include "digest.h"

#include <errno.h>
#include <fcntl.h>

void digester_begin(struct digester *digester)
{
    *digester = (struct digester){.context = EVP_MD_CTX_new()};
    digester->failed =
        digester->context == NULL || EVP_DigestInit_ex(digester->context, EVP_sha256(), NULL) != 1;
}

static void add_raw(struct digester *digester, const void *data, size_t length)
{
    if (!digester->failed && length > 0)
        digester->failed = EVP_DigestUpdate(digester->context, data, length) != 1;
}

/* The same bytes on every machine: a cache or a shard may be shared between several. */
static void add_length(struct digester *digester, uint64_t length)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; ++i)
        bytes[i] = (unsigned char)(length >> (8 * i));
    add_raw(digester, bytes, sizeof bytes);
}

void digester_add(struct digester *digester, const void *data, size_t length)
{
    add_length(digester, length);
    add_raw(digester, data, length);
}

void digester_add_text(struct digester *digester, const char *text)
{
    if (text == NULL)
        add_length(digester, UINT64_MAX);
    else
        digester_add(digester, text, strlen(text));
}

void digester_add_number(struct digester *digester, uint64_t number)
{
    add_length(digester, sizeof number);
    add_length(digester, number);
}

void digester_add_digest(struct digester *digester, const struct digest *digest)
{
    digester_add(digester, digest->bytes, sizeof digest->bytes);
}

int digester_end(struct digester *digester, struct digest *ret, struct error *err)
{
    struct digest made = {{0}};
    unsigned length = 0;
    bool failed =
        digester->failed || EVP_DigestFinal_ex(digester->context, made.bytes, &length) != 1;
    EVP_MD_CTX_free(digester->context);
    *digester = (struct digester){.failed = true};
    if (failed || length != sizeof made.bytes)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot compute a SHA-256: out of memory?");
    *ret = made;
    return 0;
}

int digest_bytes(struct digest *ret, const void *data, size_t length, struct error *err)
{
    struct digester digester;
    digester_begin(&digester);
    add_raw(&digester, data, length);
    return digester_end(&digester, ret, err);
}

int digest_file(struct digest *ret, const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    AUTO_FREE char *chunk = malloc((size_t)1 << 16);
    if (fd < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot read %s", path);
    if (chunk == NULL)
        return error_no_memory(err);
    struct digester digester;
    digester_begin(&digester);
    ssize_t got = 0;
    do {
        got = read(fd, chunk, (size_t)1 << 16);
        if (got > 0)
            add_raw(&digester, chunk, (size_t)got);
    } while (got > 0 || (got < 0 && errno == EINTR));
    if (got < 0)
        error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot read %s", path);
    int status = digester_end(&digester, ret, err);
    return got < 0 ? -1 : status;
}

static void write_hex(const unsigned char *bytes, size_t count, char *into)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; ++i) {
        into[2 * i] = digits[bytes[i] >> 4];
        into[2 * i + 1] = digits[bytes[i] & 15];
    }
    into[2 * count] = '\0';
}

const char *digest_hex(const struct digest *digest, char into[DIGEST_HEX_BYTES])
{
    write_hex(digest->bytes, DIGEST_BYTES, into);
    return into;
}

int digest_git_blob(char ret[DIGEST_GIT_BLOB_BYTES], const void *data, size_t length,
                    struct error *err)
{
    char header[32];
    unsigned char made[EVP_MAX_MD_SIZE];
    unsigned made_length = 0;
    int header_length = snprintf(header, sizeof header, "blob %zu", length) + 1; /* and its NUL */
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done = context != NULL && EVP_DigestInit_ex(context, EVP_sha1(), NULL) == 1 &&
                EVP_DigestUpdate(context, header, (size_t)header_length) == 1 &&
                (length == 0 || EVP_DigestUpdate(context, data, length) == 1) &&
                EVP_DigestFinal_ex(context, made, &made_length) == 1 &&
                2 * (size_t)made_length + 1 == DIGEST_GIT_BLOB_BYTES;
    EVP_MD_CTX_free(context);
    if (!done)
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot compute a SHA-1: out of memory?");
    write_hex(made, made_length, ret);
    return 0;
}

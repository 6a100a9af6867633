#include "recall_internal.h"

#include <sys/stat.h>

#include "canonical.h"
#include "caps.h"
#include "numbers_pack.h"

#define CONTENT_VERSION 2 /* of everything below: raise it when a format or a meaning changes */

/* ---- Identities ------------------------------------------------------------------------------ */

/* A file by what changes when it is replaced: reading a compiler whole would take longer than
 * compiling. */
static void add_file(struct digester *digester, const char *path)
{
    AUTO_FREE char *real = path == NULL ? NULL : realpath(path, NULL);
    struct stat info = {0};
    digester_add_text(digester, real);
    if (real == NULL || stat(real, &info) != 0)
        return;
    digester_add_number(digester, (uint64_t)info.st_size);
    digester_add_number(digester, (uint64_t)info.st_mtim.tv_sec);
    digester_add_number(digester, (uint64_t)info.st_mtim.tv_nsec);
}

/* The front end's own compiler, and the host compiler that does the preprocessing. */
static void add_helpers(struct digester *digester, const char *nvcc)
{
    static const char *const beside[] = {"cicc", "../nvvm/bin/cicc", "cudafe++", "nvcc.profile"};
    const char *slash = strrchr(nvcc, '/');
    AUTO_FREE char *folder = slash == NULL ? NULL : strndup(nvcc, (size_t)(slash - nvcc));
    for (size_t i = 0; folder != NULL && i < COUNT_OF(beside); ++i) {
        AUTO_FREE char *path = path_join(folder, beside[i]);
        add_file(digester, path);
    }
    static const char *const host[] = {"gcc", "g++"};
    for (size_t i = 0; i < COUNT_OF(host); ++i) {
        AUTO_FREE char *path = program_find(host[i]);
        add_file(digester, path);
    }
}

int recall_open(struct recall *out, struct cache *cache, const struct toolchain *toolchain,
                struct error *err)
{
    *out = (struct recall){.cache = cache};
    struct digester digester;
    digester_begin(&digester);
    digester_add_number(&digester, CONTENT_VERSION);
    digester_add_text(&digester, toolchain->version);
    add_file(&digester, toolchain->nvcc);
    add_file(&digester, toolchain->ptxas);
    add_helpers(&digester, toolchain->nvcc);
    digester_add_number(&digester, toolchain->sandbox.level);
    if (digester_end(&digester, &out->toolkit, err) != 0)
        return -1;
    return digest_file(&out->program, "/proc/self/exe", err);
}

/* ---- Claims ---------------------------------------------------------------------------------- */

int recall_key(struct digest *ret, const struct recall *recall, const char *kind,
               const struct digest *context, const void *text, size_t length)
{
    struct error ignored = {0};
    struct digester digester;
    digester_begin(&digester);
    digester_add_text(&digester, kind);
    digester_add_digest(&digester, &recall->toolkit);
    digester_add_digest(&digester, context);
    digester_add(&digester, text, length);
    return digester_end(&digester, ret, &ignored);
}

/* Takes the claim on the canonical text, and where that says so (or there is none) on the exact
 * bytes. True: *content holds a result, behind its first number. */
bool recall_claim_text(struct recall_claim *claim, const struct recall *recall, const char *kind,
                       const struct digest *context, struct slice exact,
                       const struct bytes *canonical, struct bytes *content)
{
    AUTO_FREE char *exact_kind = NULL;
    *content = (struct bytes){0};
    if (asprintf(&exact_kind, "%s, exact", kind) < 0 ||
        recall_key(&claim->exact, recall, exact_kind, context, exact.text, exact.length) != 0)
        return false; /* without memory nothing is shared */
    claim->cache = recall->cache;
    claim->key = claim->exact;
    if (canonical != NULL && recall_key(&claim->key, recall, kind, context, bytes_text(canonical),
                                        canonical->length) == 0) {
        claim->shared = true;
        if (cache_claim(recall->cache, &claim->key, content) == CACHE_MINE)
            return false;
        struct unpack from = unpack_from(bytes_text(content), content->length);
        if (unpack_number(&from) == CONTENT_RESULT)
            return true;
        bytes_release(content);
        claim->key = claim->exact;
        claim->shared = false;
    }
    return cache_claim(recall->cache, &claim->exact, content) == CACHE_HIT;
}

/* *content is empty where there is nothing to keep. */
void recall_settle(struct recall_claim *claim, enum recall_outcome outcome,
                   const struct bytes *content)
{
    if (claim->cache == NULL)
        return;
    const char *data = content->failed || outcome == RECALL_FAILED ? NULL : content->data;
    if (claim->shared && outcome == RECALL_OWN) {
        /* Those who wait need not go on one after another: each to its own bytes. */
        struct bytes elsewhere = bytes_with_limit(8);
        pack_number(&elsewhere, CONTENT_NOT_SHARED);
        if (data != NULL)
            cache_settle(claim->cache, &claim->exact, data, content->length);
        cache_settle(claim->cache, &claim->key, elsewhere.data, elsewhere.length);
        bytes_release(&elsewhere);
    } else {
        cache_settle(claim->cache, &claim->key, data, content->length);
    }
    claim->cache = NULL;
}

bool recall_context(struct digest *ret, const char *text, struct arch arch)
{
    struct error ignored = {0};
    char name[ARCH_NAME_BYTES];
    struct digester digester;
    digester_begin(&digester);
    digester_add_text(&digester, text);
    digester_add_text(&digester, arch_name(arch, "sm_", name));
    return digester_end(&digester, ret, &ignored) == 0;
}

bool recall_take_bytes(struct bytes *out, struct slice from, size_t limit)
{
    *out = bytes_with_limit(limit);
    return from.length <= limit && bytes_append(out, from.text, from.length) == 0;
}

/* ---- PTX → machine code ---------------------------------------------------------------------- */

bool recall_image(struct recall_claim *claim, const struct recall *recall, struct arch arch,
                  const char *ptx, size_t length, struct bytes *words, struct bytes *cubin)
{
    *claim = (struct recall_claim){0};
    struct digest context;
    if (recall == NULL || !recall_context(&context, "ptxas -v -w", arch))
        return false;
    struct bytes canonical, content;
    bool shared = canonical_ptx(&canonical, ptx, length);
    bool found = recall_claim_text(claim, recall, "image", &context, (struct slice){ptx, length},
                                   shared ? &canonical : NULL, &content);
    struct unpack from = unpack_from(bytes_text(&content), content.length);
    (void)unpack_number(&from);
    struct slice said = unpack_bytes(&from), code = unpack_bytes(&from);
    found = found && unpack_done(&from) && recall_take_bytes(words, said, said.length + 1);
    if (found && !recall_take_bytes(cubin, code, code.length + 1)) {
        bytes_release(words);
        found = false;
    }
    bytes_release(&canonical);
    bytes_release(&content);
    return found;
}

void recall_keep_image(struct recall_claim *claim, enum recall_outcome outcome,
                       const struct bytes *words, const struct bytes *cubin)
{
    struct bytes content = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    if (outcome == RECALL_SHARED && claim->cache != NULL) {
        pack_number(&content, CONTENT_RESULT);
        pack_bytes(&content, words->data, words->length);
        pack_bytes(&content, cubin->data, cubin->length);
    }
    recall_settle(claim, outcome, &content);
    bytes_release(&content);
}

/* ---- PTX → run ------------------------------------------------------------------------------- */

static bool digest_of_run(struct digest *ret, const struct recall *recall,
                          const struct numbers *numbers, const struct numbers_options *options,
                          const char *device)
{
    struct error ignored = {0};
    char name[ARCH_NAME_BYTES];
    struct digester digester;
    digester_begin(&digester);
    digester_add_digest(&digester, &recall->program);
    digester_add_text(&digester, numbers->lab->id);
    digester_add_number(&digester, numbers->seed);
    for (size_t i = 0; i < numbers->case_count; ++i)
        digester_add_number(&digester, numbers->cases[i].n);
    digester_add_text(&digester, executor_word(options->executor));
    digester_add_text(&digester, device);
    digester_add_text(&digester, arch_name(options->arch, "sm_", name));
    digester_add_number(&digester, options->threads);
    digester_add_number(&digester, options->timing_rounds);
    digester_add_number(&digester, options->launch_seconds);
    return digester_end(&digester, ret, &ignored) == 0;
}

static const struct line_map *run_map(const struct recall_claim *claim)
{
    return claim->mapped ? &claim->map : NULL;
}

bool recall_run(struct recall_claim *claim, const struct recall *recall,
                const struct numbers *numbers, const struct build_target *target,
                const struct numbers_options *options, const char *device,
                struct numbers_result *result)
{
    *claim = (struct recall_claim){0};
    struct digest context;
    if (recall == NULL || options->executor == EXECUTOR_NONE || !target->image.assembled ||
        !digest_of_run(&context, recall, numbers, options, device))
        return false;
    struct slice exact = {bytes_text(&target->ptx), target->ptx.length};
    struct bytes canonical, places = {0}, content;
    bool shared = canonical_ptx(&canonical, exact.text, exact.length);
    /* Where an outcome names lines, the same code on other lines will do. */
    claim->mapped =
        shared && line_map_of_ptx(&claim->map, &places, exact, numbers->lab->source_name);
    bool found = recall_claim_text(
        claim, recall, "run", &context,
        claim->mapped ? (struct slice){bytes_text(&places), places.length} : exact,
        shared ? &canonical : NULL, &content);
    struct unpack from = unpack_from(bytes_text(&content), content.length);
    (void)unpack_number(&from);
    found = found && numbers_unpack(result, numbers, run_map(claim), &from);
    if (found)
        line_map_release(&claim->map);
    bytes_release(&canonical);
    bytes_release(&places);
    bytes_release(&content);
    return found;
}

void recall_keep_run(struct recall_claim *claim, const struct numbers *numbers,
                     const struct numbers_result *result)
{
    struct bytes content = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    enum recall_outcome outcome = RECALL_FAILED;
    if (result != NULL && claim->cache != NULL) {
        enum numbers_packing packing = numbers_can_pack(result, numbers, run_map(claim));
        outcome = packing == NUMBERS_NAME_NONE ? RECALL_SHARED : RECALL_OWN;
        if (packing != NUMBERS_NOT_PACKED) {
            pack_number(&content, CONTENT_RESULT);
            numbers_pack(&content, result, numbers, run_map(claim));
        }
    }
    recall_settle(claim, outcome, &content);
    line_map_release(&claim->map);
    bytes_release(&content);
}

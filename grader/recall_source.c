/* recall_source.c - source → PTX: equal but for comments, and equal but for the lines it stands on.
 *
 * For the second kind the cache remembers, under the lines of code alone, the PTX with places
 * instead of line numbers (line_map.h). Whether that PTX holds for other lines is not believed but
 * seen: the second such source is compiled all the same, and only when all its lines of code have
 * other numbers and the PTX is the same text do the third and later ones go without the compiler.
 * Code that asks for __LINE__ on the device gives another text there. */
#include "recall_internal.h"

#include "canonical.h"
#include "caps.h"

enum code_state {
    CODE_SEEN_ONCE = 1,
    CODE_PROVEN,
    CODE_DEPENDS, /* on its lines, or cannot be told */
};

static bool unpack_target(struct build_target *target, const struct bytes *content)
{
    struct unpack from = unpack_from(bytes_text(content), content->length);
    (void)unpack_number(&from);
    unpack_text_into(&from, target->problem, sizeof target->problem);
    target->error_line = (unsigned)unpack_below(&from, UINT32_MAX);
    struct slice words = unpack_bytes(&from), ptx = unpack_bytes(&from);
    bool good = unpack_done(&from) && recall_take_bytes(&target->words, words, words.length + 1) &&
                recall_take_bytes(&target->ptx, ptx, ptx.length + 1);
    if (!good) {
        bytes_release(&target->words);
        bytes_release(&target->ptx);
        target->problem[0] = '\0';
        target->error_line = 0;
    }
    return good;
}

static void pack_target(struct bytes *content, const struct build_target *target)
{
    *content = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    pack_number(content, CONTENT_RESULT);
    pack_text(content, target->problem);
    pack_number(content, target->error_line);
    pack_bytes(content, target->words.data, target->words.length);
    pack_bytes(content, target->ptx.data, target->ptx.length);
}

static bool is_silent(const struct build_target *target)
{
    return target->words.length == 0 && target->problem[0] == '\0' && !target->stopped;
}

/* ---- The same code on other lines ------------------------------------------------------------*/

static bool unpack_code(struct recall_claim *claim, const struct bytes *content,
                        enum code_state *state)
{
    struct unpack from = unpack_from(bytes_text(content), content->length);
    *state = (enum code_state)unpack_below(&from, CODE_DEPENDS);
    claim->first.count = unpack_below(&from, LIMIT_SOURCE_BYTES);
    claim->first.lines = calloc(claim->first.count + 1, sizeof claim->first.lines[0]);
    for (size_t i = 0; claim->first.lines != NULL && i < claim->first.count; ++i)
        claim->first.lines[i] = (uint32_t)unpack_below(&from, UINT32_MAX);
    struct slice places = unpack_bytes(&from);
    return claim->first.lines != NULL && unpack_done(&from) &&
           recall_take_bytes(&claim->places, places, places.length + 1);
}

static void store_code(const struct recall_claim *claim, enum code_state state,
                       const struct bytes *places)
{
    struct bytes content = bytes_with_limit(LIMIT_CACHE_FILE_BYTES);
    pack_number(&content, state);
    pack_number(&content, claim->map.count);
    for (size_t i = 0; i < claim->map.count; ++i)
        pack_number(&content, claim->map.lines[i]);
    pack_bytes(&content, places->data, places->length);
    cache_settle(claim->cache, &claim->code, content.failed ? NULL : content.data, content.length);
    bytes_release(&content);
}

/* True: the PTX is known from other lines. */
static bool recall_code(struct recall_claim *claim, const struct recall *recall,
                        const struct digest *context, const struct bytes *canonical,
                        const char *source_name, struct build_target *target)
{
    struct bytes code = {0}, content = {0};
    enum code_state state = CODE_DEPENDS;
    bool known = false;
    if (line_map_make(&claim->map, &code, canonical) &&
        recall_key(&claim->code, recall, "code", context, bytes_text(&code), code.length) == 0) {
        claim->code_mine = cache_claim(recall->cache, &claim->code, &content) == CACHE_MINE;
        if (!claim->code_mine && unpack_code(claim, &content, &state)) {
            claim->code_seen = state == CODE_SEEN_ONCE;
            known =
                state == CODE_PROVEN &&
                line_map_to_lines(&target->ptx,
                                  (struct slice){bytes_text(&claim->places), claim->places.length},
                                  source_name, &claim->map);
        }
    }
    bytes_release(&code);
    bytes_release(&content);
    return known;
}

static void keep_code(struct recall_claim *claim, const struct build_target *target,
                      const char *source_name, bool worked)
{
    struct bytes places = {0};
    if (!claim->code_mine && !(claim->code_seen && worked))
        return;
    bool told =
        worked && is_silent(target) &&
        line_map_to_places(&places, (struct slice){bytes_text(&target->ptx), target->ptx.length},
                           source_name, &claim->map);
    bool same = claim->code_seen && told && places.length == claim->places.length &&
                memcmp(bytes_text(&places), bytes_text(&claim->places), places.length) == 0;
    if (!worked)
        cache_settle(claim->cache, &claim->code, NULL, 0);
    else if (claim->code_mine)
        store_code(claim, told ? CODE_SEEN_ONCE : CODE_DEPENDS, &places);
    else if (!same)
        store_code(claim, CODE_DEPENDS, &places);
    else if (line_map_all_differ(&claim->map, &claim->first))
        store_code(claim, CODE_PROVEN, &places);
    bytes_release(&places);
}

static void release_code(struct recall_claim *claim)
{
    line_map_release(&claim->map);
    line_map_release(&claim->first);
    bytes_release(&claim->places);
    claim->code_mine = claim->code_seen = false;
}

/* ---- The two calls ---------------------------------------------------------------------------*/

bool recall_source(struct recall_claim *claim, const struct recall *recall,
                   const struct submission *submission, struct build_target *target)
{
    *claim = (struct recall_claim){0};
    struct digest context;
    const char *name = submission->lab->source_name;
    if (recall == NULL || !recall_context(&context, name, target->arch))
        return false;
    const struct bytes *source = &submission->source.content;
    struct bytes canonical, content;
    bool shared = canonical_source(&canonical, bytes_text(source), source->length);
    bool found = recall_claim_text(claim, recall, "source", &context,
                                   (struct slice){bytes_text(source), source->length},
                                   shared ? &canonical : NULL, &content);
    found = found && unpack_target(target, &content);
    bytes_release(&content);
    if (!found && claim->shared && recall_code(claim, recall, &context, &canonical, name, target)) {
        pack_target(&content, target);
        recall_settle(claim, RECALL_SHARED, &content);
        bytes_release(&content);
        found = true;
    }
    if (found)
        release_code(claim);
    bytes_release(&canonical);
    return found;
}

void recall_keep_source(struct recall_claim *claim, const struct build_target *target,
                        const char *source_name, bool worked)
{
    struct bytes content = {0};
    if (claim->cache == NULL)
        return;
    keep_code(claim, target, source_name, worked);
    release_code(claim);
    /* What a clock or a memory limit stopped may go through another time. */
    if (worked && !target->stopped)
        pack_target(&content, target);
    recall_settle(claim,
                  !worked             ? RECALL_FAILED
                  : is_silent(target) ? RECALL_SHARED
                                      : RECALL_OWN,
                  &content);
    bytes_release(&content);
}

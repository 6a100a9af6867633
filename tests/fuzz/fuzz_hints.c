/* fuzz_hints.c - any bytes are a ladder of hints or an error with its line, and any bytes what was
 * seen of it. */
#include <assert.h>

#include "hints.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void check_item(const struct hints *hints, const struct hint_item *item)
{
    assert(hints_find(hints, item->id) == item && item->title[0] != '\0');
    for (size_t i = 0; i < item->deferral_count; ++i)
        assert(item->deferrals[i].mark[0] != '\0' && item->deferrals[i].facts.count >= 1);
    for (size_t i = 0; i < item->trigger_count; ++i)
        assert(item->triggers[i].text != NULL && item->triggers[i].facts.count >= 1);
    assert(item->count >= 1 && item->count <= HINTS_RUNGS_MAX);
    for (size_t i = 0; i < item->count; ++i)
        assert(item->rungs[i][0] != '\0' && text_is_utf8(item->rungs[i], strlen(item->rungs[i])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct hints hints;
    struct error err = {0};
    struct hint_progress progress = {0};
    if (hints_parse(&hints, (const char *)data, length, &err) != 0) {
        assert(err.kind != ERROR_NONE && hints.items == NULL);
        return 0;
    }
    hints_read_progress(&hints, &progress, (const char *)data, length);
    for (size_t i = 0; i < hints.count; ++i) {
        check_item(&hints, &hints.items[i]);
        assert(progress.seen[i] <= hints.items[i].count);
    }
    hints_release(&hints);
    return 0;
}

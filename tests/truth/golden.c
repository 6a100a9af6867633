/* golden.c - see golden.h. */
#include "truth/golden.h"

#include "testing.h"

const char *const golden_counter_names[GOLDEN_COUNTER_COUNT] = {
    "global load requests",  "global load sectors",
    "global store requests", "global store sectors",
    "local load requests",   "local load sectors",
    "local store requests",  "local store sectors",
    "reduction requests",    "reduction sectors",
    "atomic requests",       "atomic sectors",
    "shared loads",          "shared load wavefronts",
    "shared stores",         "shared store wavefronts",
    "shared atomics",        "instructions",
};

void golden_read(struct golden *ret)
{
    *ret = (struct golden){.counters = testing_fixture("truth/golden/counters.tsv"),
                           .outputs = testing_fixture("truth/golden/outputs.tsv"),
                           .raw = testing_fixture("truth/golden/approximate.bin"),
                           .rows = testing_fixture("truth/golden/rows.tsv"),
                           .fused = testing_fixture("truth/golden/fused.tsv"),
                           .rows_raw = testing_fixture("truth/golden/rows_approximate.bin")};
}

void golden_release(struct golden *golden)
{
    bytes_release(&golden->counters);
    bytes_release(&golden->outputs);
    bytes_release(&golden->raw);
    bytes_release(&golden->rows);
    bytes_release(&golden->rows_raw);
    bytes_release(&golden->fused);
}

/* The text after "key\t" at the beginning of a line; NULL: no such line. */
static const char *find_key(const struct bytes *text, const char *key)
{
    const size_t length = strlen(key);
    const char *at = bytes_text(text);
    for (; at != NULL && *at != '\0'; at = strchr(at, '\n'), at = at != NULL ? at + 1 : NULL)
        if (strncmp(at, key, length) == 0 && (at[length] == '\t' || at[length] == '\n'))
            return at + length + 1;
    return NULL;
}

static const char *find_line(const struct bytes *text, const char *group, const char *launch)
{
    char key[160];
    (void)snprintf(key, sizeof key, "%s\t%s", group, launch);
    return find_key(text, key);
}

bool golden_counters(const struct golden *golden, const char *group, const char *launch,
                     uint64_t ret[GOLDEN_COUNTER_COUNT])
{
    const char *at = find_line(&golden->counters, group, launch);
    for (unsigned i = 0; at != NULL && i < GOLDEN_COUNTER_COUNT; ++i) {
        char *end = NULL;
        ret[i] = strtoull(at, &end, 10);
        ck_assert_msg(end != at, "%s, %s: %u counters only", group, launch, i);
        at = end;
    }
    return at != NULL;
}

bool golden_is_fused(const struct golden *golden, const char *group, const char *launch)
{
    return find_line(&golden->fused, group, launch) != NULL;
}

bool golden_output(const struct golden *golden, const char *group, const char *launch, int argument,
                   struct golden_output *ret)
{
    char key[128];
    (void)snprintf(key, sizeof key, "%s\t%d", launch, argument);
    const char *at = find_line(&golden->outputs, group, key);
    if (at == NULL)
        return false;
    unsigned long long hash = 0;
    long offset = -1;
    ck_assert_int_eq(sscanf(at, "%zu %llx %ld", &ret->bytes, &hash, &offset), 3);
    ret->hash = hash;
    ck_assert(offset < 0 || (size_t)offset + ret->bytes <= golden->raw.length);
    ret->raw = offset < 0 ? NULL : (const unsigned char *)bytes_text(&golden->raw) + offset;
    return true;
}

bool golden_row(const struct golden *golden, const char *key, struct golden_output *ret)
{
    const char *at = find_key(&golden->rows, key);
    if (at == NULL)
        return false;
    unsigned long long hash = 0;
    long offset = -1;
    ck_assert_int_eq(sscanf(at, "%llx %ld", &hash, &offset), 2);
    *ret = (struct golden_output){.hash = hash, .bytes = offset < 0 ? 0 : 4096};
    ck_assert(offset < 0 || (size_t)offset + ret->bytes <= golden->rows_raw.length);
    ret->raw = offset < 0 ? NULL : (const unsigned char *)bytes_text(&golden->rows_raw) + offset;
    return true;
}

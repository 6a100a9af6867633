/* check_cache.c - keys and contents of the cache: hashes, packed fields, files, and what of a text
 * is left out of its key. */
#include "testing.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "cache.h"
#include "canonical.h"
#include "files.h"
#include "line_map.h"
#include "pack.h"
#include "support_toolkit.h"

/* ---- digest ----------------------------------------------------------------------------------*/

START_TEST(digest_is_sha256)
{
    /* FIPS 180-2, appendix B.1 */
    struct digest digest;
    struct error err = {0};
    char hex[DIGEST_HEX_BYTES];
    ck_assert_int_eq(digest_bytes(&digest, "abc", 3, &err), 0);
    ck_assert_str_eq(digest_hex(&digest, hex),
                     "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "abc");
    testing_write(path, "abc", 3);
    struct digest of_file;
    ck_assert_int_eq(digest_file(&of_file, path, &err), 0);
    ck_assert(digest_equal(&digest, &of_file));
    ck_assert_int_eq(digest_file(&of_file, support_path(folder, "none"), &err), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
}
END_TEST

/* As `git hash-object --stdin` says. */
START_TEST(a_blob_is_named_as_git_names_it)
{
    struct error err = {0};
    char id[DIGEST_GIT_BLOB_BYTES];
    ck_assert_int_eq(digest_git_blob(id, "hello\n", 6, &err), 0);
    ck_assert_str_eq(id, "ce013625030ba8dba906f756967f9e9ca394464a");
    ck_assert_int_eq(digest_git_blob(id, NULL, 0, &err), 0);
    ck_assert_str_eq(id, "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}
END_TEST

static struct digest of_parts(const char *const *parts)
{
    struct digester digester;
    struct digest digest;
    struct error err = {0};
    digester_begin(&digester);
    for (; parts[0] != NULL; ++parts)
        digester_add_text(&digester, strcmp(parts[0], "(null)") == 0 ? NULL : parts[0]);
    ck_assert_int_eq(digester_end(&digester, &digest, &err), 0);
    return digest;
}

static const char *const lists[][4] = {
    {"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"abc", "(null)"}, {"ab", "", "c"},
};

START_TEST(lists_that_differ_have_other_digests)
{
    for (size_t i = 0; i < COUNT_OF(lists); ++i) {
        struct digest a = of_parts(lists[_i]), b = of_parts(lists[i]);
        ck_assert_int_eq(digest_equal(&a, &b), (size_t)_i == i);
    }
}
END_TEST

/* ---- pack ------------------------------------------------------------------------------------*/

static void pack_all(struct bytes *out)
{
    *out = bytes_with_limit(1000);
    pack_number(out, UINT64_MAX);
    pack_signed(out, -7);
    pack_double(out, 0.1);
    pack_bytes(out, "a\0b", 3);
    pack_text(out, NULL);
    pack_text(out, "text");
    pack_text(out, "into");
}

static bool unpack_all(const void *data, size_t length)
{
    struct unpack from = unpack_from(data, length);
    bool good = unpack_number(&from) == UINT64_MAX;
    good = unpack_signed(&from) == -7 && good;
    double number = unpack_double(&from);
    good = memcmp(&number, &(double){0.1}, sizeof number) == 0 && good;
    struct slice bytes = unpack_bytes(&from);
    good = bytes.length == 3 && memcmp(bytes.text, "a\0b", 3) == 0 && good;
    char *none = unpack_text(&from), *text = unpack_text(&from);
    char into[5];
    unpack_text_into(&from, into, sizeof into);
    good = none == NULL && text != NULL && strcmp(text, "text") == 0 && strcmp(into, "into") == 0 &&
           good;
    free(text);
    return good && unpack_done(&from);
}

START_TEST(fields_come_back_and_cut_ones_fail)
{
    struct bytes packed;
    pack_all(&packed);
    ck_assert(unpack_all(packed.data, packed.length));
    for (size_t length = 0; length < packed.length; ++length) {
        AUTO_FREE char *part =
            malloc(length + 1); /* so that a sanitizer sees what is read beyond */
        ck_assert_ptr_nonnull(part);
        memcpy(part, packed.data, length);
        ck_assert_msg(!unpack_all(part, length), "cut at %zu", length);
    }
    bytes_append(&packed, "x", 1);
    ck_assert(!unpack_all(packed.data, packed.length));
    bytes_release(&packed);
}
END_TEST

START_TEST(fields_keep_to_their_room)
{
    struct bytes packed = bytes_with_limit(100);
    pack_text(&packed, "four");
    pack_number(&packed, 8);
    struct unpack from = unpack_from(packed.data, packed.length);
    char small[4];
    unpack_text_into(&from, small, sizeof small);
    ck_assert(from.failed);
    ck_assert_str_eq(small, "");
    from = unpack_from(packed.data, packed.length);
    (void)unpack_bytes(&from);
    ck_assert_uint_eq(unpack_below(&from, 7), 0);
    ck_assert(from.failed);
    bytes_release(&packed);
}
END_TEST

/* ---- cache -----------------------------------------------------------------------------------*/

static struct digest key_of(const char *text)
{
    struct digest key;
    struct error err = {0};
    ck_assert_int_eq(digest_bytes(&key, text, strlen(text), &err), 0);
    return key;
}

static struct cache *open_cache(char folder[512])
{
    struct cache *cache = NULL;
    struct error err = {0};
    support_new_folder(folder);
    ck_assert_int_eq(chmod(folder, 0700), 0);
    ck_assert_msg(cache_open(&cache, folder, &err) == 0, "%s", err.text);
    return cache;
}

static bool holds(struct cache *cache, const char *name, const char *expected)
{
    struct digest key = key_of(name);
    struct bytes content;
    bool hit = cache_claim(cache, &key, &content) == CACHE_HIT;
    if (!hit)
        cache_settle(cache, &key, NULL, 0);
    bool same = hit && content.length == strlen(expected) &&
                memcmp(bytes_text(&content), expected, content.length) == 0;
    ck_assert(!hit || same);
    bytes_release(&content);
    return hit;
}

static void put(struct cache *cache, const char *name, const char *content)
{
    struct digest key = key_of(name);
    struct bytes none;
    ck_assert_int_eq(cache_claim(cache, &key, &none), CACHE_MINE);
    cache_settle(cache, &key, content, strlen(content));
}

START_TEST(what_was_settled_is_found)
{
    char folder[512];
    struct cache *cache = open_cache(folder);
    ck_assert(!holds(cache, "a", "one"));
    put(cache, "a", "one");
    ck_assert(holds(cache, "a", "one"));
    ck_assert(!holds(cache, "b", "one"));
    put(cache, "empty", "");
    ck_assert(holds(cache, "empty", ""));
    cache_close(cache);
    struct error err = {0};
    ck_assert_int_eq(cache_open(&cache, folder, &err), 0);
    ck_assert(holds(cache, "a", "one"));
    ck_assert_uint_eq(cache_counts(cache).hits, 1);
    cache_close(cache);
}
END_TEST

static char *file_of_key(const char *folder, const char *name)
{
    char hex[DIGEST_HEX_BYTES], *path = NULL;
    struct digest key = key_of(name);
    (void)digest_hex(&key, hex);
    ck_assert(asprintf(&path, "%s/%.2s/%s", folder, hex, hex + 2) > 0);
    return path;
}

START_TEST(damaged_files_are_misses_and_go)
{
    char folder[512];
    struct cache *cache = open_cache(folder);
    put(cache, "a", "the content");
    AUTO_FREE char *path = file_of_key(folder, "a");
    struct bytes whole;
    ck_assert_int_eq(file_read(&whole, path, 1000, false), FILE_READ);
    for (size_t i = 0; i < whole.length; ++i) {
        AUTO_FREE char *copy = malloc(whole.length);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, whole.data, whole.length);
        copy[i] ^= 0x20;
        testing_write(path, copy, whole.length);
        ck_assert_msg(!holds(cache, "a", "the content"), "byte %zu changed", i);
        ck_assert_int_ne(access(path, F_OK), 0);
        testing_write(path, whole.data, i);
        ck_assert_msg(!holds(cache, "a", "the content"), "cut at %zu", i);
    }
    /* A whole file under another's name: somebody moved it. */
    put(cache, "b", "of b");
    AUTO_FREE char *other = file_of_key(folder, "b");
    ck_assert_int_eq(rename(other, path), 0);
    ck_assert(!holds(cache, "a", "of b"));
    bytes_release(&whole);
    cache_close(cache);
}
END_TEST

START_TEST(links_are_not_followed_and_others_may_not_write)
{
    char folder[512], elsewhere[512];
    struct cache *cache = open_cache(folder);
    put(cache, "a", "one");
    AUTO_FREE char *path = file_of_key(folder, "a");
    support_new_folder(elsewhere);
    const char *moved = support_path(elsewhere, "moved");
    ck_assert_int_eq(rename(path, moved), 0);
    ck_assert_int_eq(symlink(moved, path), 0);
    ck_assert(!holds(cache, "a", "one"));
    cache_close(cache);
    struct error err = {0};
    ck_assert_int_eq(chmod(folder, 0770), 0);
    ck_assert_int_eq(cache_open(&cache, folder, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "written by others"));
    err = (struct error){0};
    ck_assert_int_eq(cache_open(&cache, moved, &err), -1);
}
END_TEST

struct worker {
    struct cache *cache;
    pthread_t thread;
    unsigned made; /* how often this one had to work */
};

static unsigned made_in_all;

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (int round = 0; round < 50; ++round) {
        char name[32];
        (void)snprintf(name, sizeof name, "round %d", round);
        struct digest key = key_of(name);
        struct bytes content;
        if (cache_claim(worker->cache, &key, &content) == CACHE_MINE) {
            ++worker->made;
            __atomic_add_fetch(&made_in_all, 1, __ATOMIC_RELAXED);
            (void)usleep(200);
            cache_settle(worker->cache, &key, name, strlen(name));
        } else if (strcmp(bytes_text(&content), name) != 0) {
            worker->made += 1000;
        }
        bytes_release(&content);
    }
    return NULL;
}

START_TEST(of_many_who_want_the_same_one_works)
{
    char folder[512];
    struct cache *cache = open_cache(folder);
    struct worker workers[8] = {{0}};
    made_in_all = 0;
    for (size_t i = 0; i < COUNT_OF(workers); ++i) {
        workers[i].cache = cache;
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < COUNT_OF(workers); ++i) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        ck_assert_uint_lt(workers[i].made, 1000);
    }
    ck_assert_uint_eq(made_in_all, 50);
    cache_close(cache);
}
END_TEST

START_TEST(without_a_result_the_next_one_works)
{
    char folder[512];
    struct cache *cache = open_cache(folder);
    struct digest key = key_of("a");
    struct bytes none;
    ck_assert_int_eq(cache_claim(cache, &key, &none), CACHE_MINE);
    cache_settle(cache, &key, NULL, 0);
    ck_assert_int_eq(cache_claim(cache, &key, &none), CACHE_MINE);
    cache_settle(cache, &key, "x", 1);
    ck_assert(holds(cache, "a", "x"));
    cache_close(cache);
}
END_TEST

START_TEST(a_cache_that_cannot_be_written_loses_speed_alone)
{
    char folder[512];
    struct cache *cache = open_cache(folder);
    AUTO_FREE char *path = file_of_key(folder, "a");
    *strrchr(path, '/') = '\0';
    testing_write(path, "in the way", 10); /* a file where the sub-folder would be */
    put(cache, "a", "one");
    ck_assert(!holds(cache, "a", "one"));
    cache_close(cache);
}
END_TEST

/* ---- canonical -------------------------------------------------------------------------------*/

static const struct {
    const char *a, *b;
    enum { SAME, DIFFERENT, DOUBT } expected; /* DOUBT: of a alone */
} sources[] = {
    {"int a; // one\n", "int a; // two words\n", SAME},
    {"int a; // one\n", "int a;\n", SAME},
    {"int a;   \t\r\n", "int a;\n", SAME},
    {"/* x */\nint a;\n", "/* another */\nint a;\n", SAME},
    {"/* x */\nint a;\n", "\nint a;\n", SAME},
    {"int /* x */ a;\n", "int /* y */ a;\n", SAME},
    {"int /* x */ a;\n", "int /* longer */ a;\n", DIFFERENT}, /* columns */
    {"/* 1\n 2 */\nint a;\n", "/* 3\n*/\nint a;\n", SAME},
    {"/* 1\n 2 */\nint a;\n", "\n\nint a;\n", DIFFERENT}, /* a joined line is no two lines */
    {"/* 1\n2 */\nint a;\n", "/* 1\n2\n3 */\nint a;\n", DIFFERENT},
    {"\nint a;\n", "int a;\n", DIFFERENT},
    {"char s[] = \"// no\";\n", "char s[] = \"// yes\";\n", DIFFERENT},
    {"char s[] = \"/*\"; int a; // */\n", "char s[] = \"/*\"; int a;\n", SAME},
    {"char s[] = \"\\\"// x\";\n", "char s[] = \"\\\"// y\";\n", DIFFERENT},
    {"char c = '\"'; // x\n", "char c = '\"'; // y\n", SAME},
    {"char c = '\\''; // '\n", "char c = '\\'';\n", SAME},
    {"int a = 1'000'000; // x\n", "int a = 1'000'000;\n", SAME},
    {"int a = 0x1'F'; // x ';\n", "int a = 0x1'F'; // y ';\n", DIFFERENT},
    {"float f = 1e+5f; // x\n", "float f = 1e+5f; // y\n", SAME},
    {"int a = 8 /*x*// 2;\n", "int a = 8 /*y*// 2;\n", SAME},
    {"int a = b //*x*/ 2;\n;\n", "int a = b //*y*/ 2;\n;\n", SAME},
    {"int a; // \xc3\xa9\n", "int a; // e\n", SAME},
    {"int /* \xc3\xa9 */ a;\n", "", DOUBT}, /* bytes or characters: which columns? */
    {"int /*\t*/ a;\n", "", DOUBT},
    {"#define A 1 // x\n", "#define A 1 // y\n", SAME},
    {"#define A /* x */ 1\n", "#define A /* y */ 1\n", SAME},
    {"#define A /* \n */ 1\n", "", DOUBT},
    {"#include <cstdio> // x\n", "#include <cstdio> // y\n", DIFFERENT},
    {"#include <a//b>\n", "#include <a//c>\n", DIFFERENT},
    {"#include <a/*b>\nint x; // */\n", "", DOUBT},
    {"#  include \"a//b\"\n", "#  include \"a//c\"\n", DIFFERENT},
    {"#if __has_include(<a//b>)\n", "#if __has_include(<a//c>)\n", DIFFERENT},
    {"%:include <a//b>\n", "", DOUBT},
    {"int a; // x \\\nint b;\n", "", DOUBT},
    {"int a; // x \\  \nint b;\n", "", DOUBT},
    {"#define A \\\n 1\n", "", DOUBT},
    {"int a; // x \\", "", DOUBT},
    {"// ?\?/\nint a;\n", "", DOUBT},
    {"auto s = R\"(// x)\";\n", "", DOUBT},
    {"auto s = u8R\"(// x)\";\n", "", DOUBT},
    {"auto s = LR\"x(// )x\";\n", "", DOUBT},
    {"int R; // x\n", "int R;\n", SAME},
    {"char s[] = \"open;\n", "", DOUBT},
    {"#if 0\nit's\n#endif\n", "", DOUBT},
    {"#if 0\nit's // isn't\n#endif\n", "#if 0\nit's // isn't\n#endif\n", SAME},
    {"int a; /* open\n", "", DOUBT},
    {"int a; \x01\n", "", DOUBT},
    {"", "", SAME},
    {"// only a comment", "// another", SAME},
    {"int a;\n", "int a;", SAME},
    {"int a;\n\n // x\n\n", "int a;\n", SAME},
    {"int a;\n/* x\n*/\n", "int a;\n", DIFFERENT}, /* a mark is no blank */
    {"int a = b/c; // d\n", "int a = b/c;\n", SAME},
    {"int a = b/ *c; // d\n", "int a = b/ *c;\n", SAME},
};

START_TEST(comments_and_trailing_blanks_do_not_count)
{
    struct bytes a, b;
    bool certain = canonical_source(&a, sources[_i].a, strlen(sources[_i].a));
    ck_assert_msg(certain == (sources[_i].expected != DOUBT), "%s", sources[_i].a);
    if (certain) {
        ck_assert(canonical_source(&b, sources[_i].b, strlen(sources[_i].b)));
        bool same = a.length == b.length && memcmp(bytes_text(&a), bytes_text(&b), a.length) == 0;
        ck_assert_msg(same == (sources[_i].expected == SAME), "%s---\n%s---\n%s", sources[_i].a,
                      bytes_text(&a), bytes_text(&b));
        bytes_release(&b);
    }
    bytes_release(&a);
}
END_TEST

START_TEST(nul_is_a_doubt)
{
    struct bytes out;
    ck_assert(!canonical_source(&out, "int a;\0\n", 8));
    ck_assert(!canonical_ptx(&out, "ret;\0\n", 6));
}
END_TEST

#define LOC "\t.loc\t1 35 0\n"
static const struct {
    const char *text, *expected; /* NULL: a doubt */
} modules[] = {
    {"ret;\n" LOC "ret;\n", "ret;\nret;\n"},
    {"\t.loc\t2 0 5\n\t.file\t1 \"/a/b.cu\"\n", ""},
    {"\t.loc\t1 2 29, function_name $L__info_string0, inlined_at 1 3 30\nret;\n", "ret;\n"},
    {"\t.loc\t1 2 29, function_name $L__info_string0+17, inlined_at 1 3 30\n", ""},
    {"\t.loc\t1 2 29; bad\n", "\t.loc\t1 2 29; bad\n"},
    {"\t.loc\t1 2 29, other\n", "\t.loc\t1 2 29, other\n"},
    {"\t.location 1\n", "\t.location 1\n"},
    {"\t.file\t1 \"/a\\\"b.cu\"\n", NULL},
    {"\t.file\t1 \"/a\" ret; \"b\"\n", NULL},
    {"// begin inline asm\n" LOC "// end inline asm\n", NULL},
    {"\t.pragma \"nounroll\";\n", NULL},
    {"/*\n" LOC "*/\n", NULL},
    {"x \"a\n" LOC "\"\n", NULL},
    {LOC "ret;", "ret;"},
    {"", ""},
};

START_TEST(line_tables_do_not_count)
{
    struct bytes out;
    bool certain = canonical_ptx(&out, modules[_i].text, strlen(modules[_i].text));
    ck_assert_msg(certain == (modules[_i].expected != NULL), "%s", modules[_i].text);
    if (certain)
        ck_assert_str_eq(bytes_text(&out), modules[_i].expected);
    bytes_release(&out);
}
END_TEST

/* ---- line_map --------------------------------------------------------------------------------*/

#define FILES "\t.file\t1 \"/submission/x.cu\"\n\t.file\t2 \"/usr/include/h\"\n"
static const struct {
    const char *ptx, *places; /* NULL: not to be told */
} placed[] = {
    {"\t.loc\t1 2 5\nret;\n" FILES, "\t.loc\t1 1 5\nret;\n" FILES},
    {"\t.loc\t1 5 0\n\t.loc\t1 6 1\n" FILES, "\t.loc\t1 2 0\n\t.loc\t1 3 1\n" FILES},
    {"\t.loc\t1 0 5\n" FILES, "\t.loc\t1 0 5\n" FILES},
    {"\t.loc\t2 77 5\n" FILES, "\t.loc\t2 77 5\n" FILES}, /* a header's lines stay */
    {"\t.loc\t2 3 29, function_name $L__info_string0, inlined_at 1 6 30\n" FILES,
     "\t.loc\t2 3 29, function_name $L__info_string0, inlined_at 1 3 30\n" FILES},
    {"\t.loc\t1 3 5\n" FILES, NULL}, /* a line without code */
    {"\t.loc\t1 9 5\n" FILES, NULL},
    {"\t.loc\t1 2 5\n", NULL}, /* no file table */
    {"\t.loc\t1 2 5\n" FILES "\t.file\t3 \"/other/x.cu\"\n", NULL},
    {"\t.pragma \"x\";\n\t.loc\t1 2 5\n" FILES, NULL},
    {"\t.local .align 16 .b8 x[4];\n" FILES, "\t.local .align 16 .b8 x[4];\n" FILES},
    {"ret;\n" FILES, "ret;\n" FILES},
};

START_TEST(lines_become_places_and_places_lines)
{
    static const char source[] = "// 1\nint a; // 2\n/* 3\n */\nint b;\nint c;";
    struct bytes canonical, code, places, back;
    struct line_map map;
    ck_assert(canonical_source(&canonical, source, sizeof source - 1));
    ck_assert(line_map_make(&map, &code, &canonical));
    ck_assert_uint_eq(map.count, 3);
    ck_assert_uint_eq(map.lines[0], 2);
    ck_assert_uint_eq(map.lines[2], 6);
    ck_assert_str_eq(bytes_text(&code), "int a;\nint b;\nint c;\n");
    struct slice ptx = {placed[_i].ptx, strlen(placed[_i].ptx)};
    bool told = line_map_to_places(&places, ptx, "x.cu", &map);
    ck_assert_msg(told == (placed[_i].places != NULL), "%s", placed[_i].ptx);
    if (told) {
        ck_assert_str_eq(bytes_text(&places), placed[_i].places);
        ck_assert(
            line_map_to_lines(&back, (struct slice){places.data, places.length}, "x.cu", &map));
        ck_assert_str_eq(bytes_text(&back), placed[_i].ptx);
        bytes_release(&back);
    }
    ck_assert(!line_map_all_differ(&map, &map));
    bytes_release(&places);
    bytes_release(&code);
    bytes_release(&canonical);
    line_map_release(&map);
}
END_TEST

static const struct {
    const char *ptx, *text; /* NULL: nothing is known */
    uint32_t lines[4];      /* by number */
} numbered[] = {
    {"\t.loc\t1 7 5\nret;\n\t.loc\t1 3 9\n\t.loc\t1 7 1\n" FILES,
     "\t.loc\t1 1 \nret;\n\t.loc\t1 2 \n\t.loc\t1 1 \n"
     "\t.file\t1\n\t.file\t2 \"/usr/include/h\"\n",
     {7, 3}},
    {"\t.loc\t2 3 29, function_name $x, inlined_at 1 6 30\n" FILES,
     "\t.loc\t2 3 , function_name $x, inlined_at 1 1 \n"
     "\t.file\t1\n\t.file\t2 \"/usr/include/h\"\n",
     {6}},
    {"\t.loc\t1 0 5\n\t.file\t1 \"/other/x.cu\"", "\t.loc\t1 0 \n\t.file\t1\n", {0}},
    {"\t.loc\t1 4000000000 5\n" FILES, NULL, {0}},
    {"\t.loc\t1 2 5\n", NULL, {0}},
    {"x \"y\"\n\t.loc\t1 2 5\n" FILES, NULL, {0}},
    {"\t.loc\t1 x\n" FILES, NULL, {0}},
};

START_TEST(lines_are_numbered_as_they_come)
{
    struct line_map map;
    struct bytes text;
    const struct slice ptx = {numbered[_i].ptx, strlen(numbered[_i].ptx)};
    bool known = line_map_of_ptx(&map, &text, ptx, "x.cu");
    ck_assert_msg(known == (numbered[_i].text != NULL), "%s", numbered[_i].ptx);
    if (known)
        ck_assert_str_eq(bytes_text(&text), numbered[_i].text);
    for (size_t i = 0; known && numbered[_i].lines[i] != 0; ++i) {
        ck_assert_uint_eq(map.lines[i], numbered[_i].lines[i]);
        ck_assert_uint_eq(line_map_number(&map, numbered[_i].lines[i]), i + 1);
    }
    ck_assert_uint_eq(line_map_number(&map, 99), 0);
    bytes_release(&text);
    line_map_release(&map);
}
END_TEST

Suite *suite_cache(void)
{
    Suite *suite = suite_create("cache");
    TCase *tests = tcase_create("cache");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, digest_is_sha256);
    tcase_add_test(tests, a_blob_is_named_as_git_names_it);
    tcase_add_loop_test(tests, lists_that_differ_have_other_digests, 0, (int)COUNT_OF(lists));
    tcase_add_test(tests, fields_come_back_and_cut_ones_fail);
    tcase_add_test(tests, fields_keep_to_their_room);
    tcase_add_test(tests, what_was_settled_is_found);
    tcase_add_test(tests, damaged_files_are_misses_and_go);
    tcase_add_test(tests, links_are_not_followed_and_others_may_not_write);
    tcase_add_test(tests, of_many_who_want_the_same_one_works);
    tcase_add_test(tests, without_a_result_the_next_one_works);
    tcase_add_test(tests, a_cache_that_cannot_be_written_loses_speed_alone);
    tcase_add_loop_test(tests, comments_and_trailing_blanks_do_not_count, 0,
                        (int)COUNT_OF(sources));
    tcase_add_test(tests, nul_is_a_doubt);
    tcase_add_loop_test(tests, line_tables_do_not_count, 0, (int)COUNT_OF(modules));
    tcase_add_loop_test(tests, lines_become_places_and_places_lines, 0, (int)COUNT_OF(placed));
    tcase_add_loop_test(tests, lines_are_numbered_as_they_come, 0, (int)COUNT_OF(numbered));
    suite_add_tcase(suite, tests);
    return suite;
}

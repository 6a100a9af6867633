/* check_csv.c - tables as spreadsheets write them are read, all that is wrong with one is said by
 * line, and nothing that is written begins a formula. */
#include "testing.h"

#include "caps.h"
#include "csv.h"
#include "support_toolkit.h"

static struct csv csv;
static struct problems problems;
static struct error err;

static void parse(const char *text, size_t length)
{
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(csv_parse(&csv, text, length, &problems, &err), 0);
}

static void forget(void)
{
    csv_release(&csv);
    problems_release(&problems);
}

/* Every cell in brackets, a line a row: "1[a][b]". */
static void assert_rows(const char *expected)
{
    struct bytes seen = bytes_with_limit(1 << 20);
    for (size_t i = 0; i < csv.row_count; ++i) {
        bytes_printf(&seen, "%zu", csv.rows[i].line);
        for (size_t j = 0; j < csv.rows[i].count; ++j)
            bytes_printf(&seen, "[%s]", csv.rows[i].cells[j]);
        bytes_append_text(&seen, "|");
    }
    ck_assert_str_eq(bytes_text(&seen), expected);
    bytes_release(&seen);
}

static const struct {
    const char *text, *rows;
} readable[] = {
    /* clang-format off */
    {"", ""},
    {"a", "1[a]|"},
    {"a,b\n1,2\n", "1[a][b]|2[1][2]|"},
    {"a,b\r\n1,2\r\n", "1[a][b]|2[1][2]|"},
    {"a,b\r1,2", "1[a][b]|2[1][2]|"},
    {"a,b\r\n1,2\n3,4\r5,6", "1[a][b]|2[1][2]|3[3][4]|4[5][6]|"},
    {"\xEF\xBB\xBF" "a,b\n1,2\n", "1[a][b]|2[1][2]|"},
    {"\xEF\xBB\xBF\"a\",b\n", "1[a][b]|"},
    {"a,b,\n,,\n", "1[a][b][]|2[][][]|"},
    {"\n\r\na,b\n\n\n1,2\n\n", "3[a][b]|6[1][2]|"},
    {"\"a\",\"b\"\n", "1[a][b]|"},
    {"\"a,b\",\"c\"\"d\",\"\"\n", "1[a,b][c\"d][]|"},
    {"\"\"\"\"\n", "1[\"]|"},
    {"\"a\nb\r\nc\rd\",x\n1,2\n", "1[a\nb\r\nc\rd][x]|5[1][2]|"},
    {" a , b \n", "1[ a ][ b ]|"},
    {"a;b\n1;2,5\n", "1[a][b]|2[1][2,5]|"},
    {"a;b,c\n1;2\n", "1[a;b][c]|2[1;2]|"},
    {"\"a;x\",b\n", "1[a;x][b]|"},
    {"\"a,x\";b\n", "1[a,x][b]|"},
    {"a\tb\n1\t2\n", "1[a][b]|2[1][2]|"},
    {"a;b\tc\n", "1[a][b\tc]|"},
    {"only\n1;2\n", "1[only]|2[1;2]|"},
    {"name\n\xC3\xA9mile\n", "1[name]|2[\xC3\xA9mile]|"},
    /* clang-format on */
};

START_TEST(tables_are_read)
{
    parse(readable[_i].text, strlen(readable[_i].text));
    ck_assert_msg(problems.total == 0, "%s", problems.count > 0 ? problems.items[0].text : "");
    assert_rows(readable[_i].rows);
    forget();
}
END_TEST

#define TEXT(text) text, sizeof(text) - 1

static const struct {
    const char *text;
    size_t length;
    size_t line; /* of the first problem */
    size_t total;
    const char *says, *rows;
} wrong[] = {
    /* clang-format off */
    {TEXT("a,b\n1,\"2\n3,4\n"), 2, 1, "never closed", "1[a][b]|"},
    {TEXT("a,b\n\"1\"x,2\n3,4\n"), 2, 1, "behind the closing quote", "1[a][b]|3[3][4]|"},
    {TEXT("a,b\n\"1\" ,2\n"), 2, 1, "behind the closing quote", "1[a][b]|"},
    {TEXT("a,b\nRobert \"Bob\" Smith,2\n3,4\n"), 2, 1, "a quote stands inside a cell", "1[a][b]|3[3][4]|"},
    {TEXT("a,b\n \"1\",2\n"), 2, 1, "a quote stands inside a cell", "1[a][b]|"},
    {TEXT("a,b\n1,\0\n3,4\n"), 2, 1, "NUL byte", "1[a][b]|3[3][4]|"},
    {TEXT("a,b\nM\xFCller,2\n3,\xC3\n5,6\n"), 2, 2, "not UTF-8", "1[a][b]|4[5][6]|"},
    {TEXT("a,b\n\"1\n\n\xFF\",2\n5,6\n"), 2, 1, "not UTF-8", "1[a][b]|5[5][6]|"},
    {TEXT("\xFF\xFE" "a\0,\0b\0"), 0, 1, "UTF-16", ""},
    {TEXT("\xFE\xFF\0a\0,\0b"), 0, 1, "UTF-16", ""},
    {TEXT("a\n\"1\"\"\n"), 2, 1, "never closed", "1[a]|"},
    /* clang-format on */
};

START_TEST(what_is_wrong_is_said_by_line)
{
    parse(wrong[_i].text, wrong[_i].length);
    ck_assert_uint_eq(problems.total, wrong[_i].total);
    ck_assert_uint_eq(problems.items[0].line, wrong[_i].line);
    ck_assert_msg(strstr(problems.items[0].text, wrong[_i].says) != NULL, "%s",
                  problems.items[0].text);
    assert_rows(wrong[_i].rows);
    forget();
}
END_TEST

/* A line of `count` copies of a cell. */
static struct bytes repeat(const char *cell, size_t count, const char *between)
{
    struct bytes text = bytes_with_limit((size_t)128 << 20);
    for (size_t i = 0; i < count; ++i) {
        bytes_append_text(&text, i == 0 ? "" : between);
        bytes_append_text(&text, cell);
    }
    return text;
}

START_TEST(caps_hold)
{
    struct bytes text = repeat("x", LIMIT_CSV_COLUMNS, ",");
    parse(text.data, text.length);
    ck_assert(problems.total == 0 && csv.row_count == 1 && csv.rows[0].count == LIMIT_CSV_COLUMNS);
    forget();
    bytes_append_text(&text, ",x\n1,2\n");
    parse(text.data, text.length);
    ck_assert_uint_eq(problems.total, 1);
    ck_assert_ptr_nonnull(strstr(problems.items[0].text, "2,000 cells"));
    assert_rows("2[1][2]|");
    forget();
    bytes_release(&text);

    text = repeat("y", LIMIT_CSV_CELL_BYTES, "");
    parse(text.data, text.length);
    ck_assert(problems.total == 0 && csv.row_count == 1);
    forget();
    bytes_append_text(&text, "y\n1\n");
    parse(text.data, text.length);
    ck_assert_uint_eq(problems.total, 1);
    ck_assert_ptr_nonnull(strstr(problems.items[0].text, "64 KiB"));
    assert_rows("2[1]|");
    forget();
    bytes_release(&text);

    text = repeat("z", LIMIT_CSV_ROWS, "\n");
    parse(text.data, text.length);
    ck_assert(problems.total == 0 && csv.row_count == LIMIT_CSV_ROWS);
    forget();
    bytes_append_text(&text, "\nz\nz\n");
    parse(text.data, text.length);
    ck_assert_uint_eq(problems.total, 1);
    ck_assert(problems.items[0].line == LIMIT_CSV_ROWS + 1 && csv.row_count == LIMIT_CSV_ROWS);
    forget();
    bytes_release(&text);
}
END_TEST

START_TEST(cells_are_trimmed_on_demand)
{
    const char *text = "a,b,c\n \t1 2\t , ,\"\n x \n\"\n,\t, \n";
    parse(text, strlen(text));
    ck_assert_str_eq(csv_cell(&csv.rows[1], 0), "1 2");
    ck_assert_str_eq(csv_cell(&csv.rows[1], 1), "");
    ck_assert_str_eq(csv_cell(&csv.rows[1], 2), "x");
    ck_assert_str_eq(csv_cell(&csv.rows[1], 3), "");
    ck_assert_str_eq(csv_cell(&csv.rows[1], CSV_NO_COLUMN), "");
    ck_assert(!csv_row_is_blank(&csv.rows[1]));
    ck_assert(csv_row_is_blank(&csv.rows[2]));
    forget();
}
END_TEST

static const struct {
    const char *text;
    size_t a, b;
    const char *problem, *note;
} headers[] = {
    {"a,b\n", 0, 1, NULL, NULL},
    {"  B , A \n", 1, 0, NULL, NULL},
    {"a\n", 0, CSV_NO_COLUMN, NULL, NULL},
    {"b\n", CSV_NO_COLUMN, 0, "it lacks `a`", NULL},
    {"a,b,A\n", 0, 1, "the column `a` is there twice", NULL},
    {"a,c,,b\n", 0, 3, NULL, "the column `c` is not used"},
    {"", CSV_NO_COLUMN, CSV_NO_COLUMN, "is empty", NULL},
};

START_TEST(columns_are_found_by_name)
{
    size_t a = 77, b = 77;
    const struct csv_column columns[] = {{"a", true, &a}, {"b", false, &b}};
    struct problems notes = {0};
    parse(headers[_i].text, strlen(headers[_i].text));
    csv_find_columns(&csv, columns, 2, &problems, &notes);
    ck_assert_uint_eq(a, headers[_i].a);
    ck_assert_uint_eq(b, headers[_i].b);
    ck_assert_uint_eq(problems.total, headers[_i].problem != NULL);
    ck_assert_uint_eq(notes.total, headers[_i].note != NULL);
    if (headers[_i].problem != NULL)
        ck_assert_msg(strstr(problems.items[0].text, headers[_i].problem) != NULL, "%s",
                      problems.items[0].text);
    if (headers[_i].note != NULL)
        ck_assert_str_eq(notes.items[0].text, headers[_i].note);
    problems_release(&notes);
    forget();
}
END_TEST

START_TEST(files_are_read)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "a.csv");
    testing_write(path, "a\n1\n", 4);
    problems = (struct problems){0};
    err = (struct error){0};
    ck_assert_int_eq(csv_read(&csv, path, &problems, &err), 0);
    assert_rows("1[a]|2[1]|");
    forget();
    ck_assert_int_eq(csv_read(&csv, folder, &problems, &err), -1);
    ck_assert(err.kind == ERROR_USAGE && strstr(err.text, "not a regular file") != NULL);
    err = (struct error){0};
    ck_assert_int_eq(csv_read(&csv, "/nowhere", &problems, &err), -1);
    ck_assert_str_eq(err.text, "cannot read /nowhere: no such file");
    forget();
}
END_TEST

/* ---- Writing --------------------------------------------------------------------------------- */

static const struct {
    const char *cell, *written;
} cells[] = {
    /* clang-format off */
    {"plain", "plain"}, {"", ""}, {NULL, ""}, {"two words", "two words"},
    {"a,b", "\"a,b\""}, {"a;b", "\"a;b\""}, {"a\"b", "\"a\"\"b\""}, {"a\nb", "\"a\nb\""},
    {" blank", "\" blank\""}, {"blank ", "\"blank \""},
    {"=1+1", "'=1+1"}, {"+1", "'+1"}, {"-1", "'-1"}, {"@SUM(1)", "'@SUM(1)"},
    {"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"},
    {"=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""},
    {"  =1", "'  =1"}, {"\"=1", "\"'\"\"=1\""}, {"a\t\"=1", "\"a\t'\"\"=1\""}, {"\xC2\xA0=1", "'\xC2\xA0=1"},
    {"\t=1", "\"'\t'=1\""}, {"\r=1", "\"'\r'=1\""}, {"\n=1", "\"'\n'=1\""}, {"\x01x", "'\x01x"},
    {"＝1", "'＝1"}, {"＠x", "'＠x"},
    {"a=1", "a=1"}, {"1-2", "1-2"}, {"a@b.org", "a@b.org"}, {"'quoted'", "'quoted'"},
    /* Where another separator or the end of the line would begin a cell. */
    {"a;=1", "\"a;'=1\""}, {"a; -1", "\"a;' -1\""}, {"a\t@x", "\"a\t'@x\""}, {"a\n- item", "\"a\n'- item\""},
    {"a,=1", "\"a,=1\""},
    /* clang-format on */
};

START_TEST(no_cell_begins_a_formula)
{
    struct bytes out = bytes_with_limit(1000);
    struct csv_writer writer = csv_writer_on(&out);
    csv_put(&writer, "x");
    csv_put(&writer, cells[_i].cell);
    csv_end_row(&writer);
    char expected[200];
    (void)snprintf(expected, sizeof expected, "x,%s\n", cells[_i].written);
    ck_assert_str_eq(bytes_text(&out), expected);
    bytes_release(&out);
}
END_TEST

/* What a spreadsheet with any separator sees: no cell whose first sign is one of a formula. */
static void assert_harmless(const char *text, char separator)
{
    const char *whole = text;
    bool fresh = true, quoted = false;
    for (; *text != '\0'; ++text) {
        if (fresh && *text == '"') {
            quoted = true;
            fresh = true;
            continue;
        }
        ck_assert_msg(!fresh || strchr("=+-@", *text) == NULL, "with '%c': %s", separator, whole);
        fresh = fresh && *text == ' ';
        if (quoted && *text == '"' && text[1] == '"')
            ++text;
        else if (quoted && *text == '"')
            quoted = false;
        else if (!quoted && (*text == separator || *text == '\n' || *text == '\r'))
            fresh = true;
    }
}

START_TEST(whatever_the_separator)
{
    static const char alphabet[] = "=+-@;\t\n\r\", a";
    struct bytes out = bytes_with_limit(1 << 20);
    for (unsigned round = 0; round < 5000; ++round) {
        char cell[6] = "";
        unsigned code = round * 7919u;
        for (size_t i = 0; i < 5; ++i, code /= 13)
            cell[i] = alphabet[code % 13];
        bytes_clear(&out);
        struct csv_writer writer = csv_writer_on(&out);
        csv_put(&writer, "first");
        csv_put(&writer, cell);
        csv_end_row(&writer);
        assert_harmless(bytes_text(&out), ',');
        assert_harmless(bytes_text(&out), ';');
        assert_harmless(bytes_text(&out), '\t');
        /* And it reads back as the same text, but for the guards. */
        parse(out.data, out.length);
        ck_assert_uint_eq(problems.total, 0);
        ck_assert_uint_eq(csv.rows[0].count, 2);
        const char *back = csv.rows[0].cells[1], *put = cell;
        for (; *back != '\0'; ++back)
            if (*back == *put)
                ++put;
            else
                ck_assert_int_eq(*back, '\'');
        ck_assert_int_eq(*put, '\0');
        forget();
    }
    bytes_release(&out);
}
END_TEST

START_TEST(numbers_and_exact_cells)
{
    struct bytes out = bytes_with_limit(1000);
    struct csv_writer writer = csv_writer_on(&out);
    writer.separator = ';';
    csv_put_number(&writer, -5);
    csv_put_number(&writer, INT64_MAX);
    csv_put_exact(&writer, "=a;b");
    csv_put_exact(&writer, NULL);
    csv_end_row(&writer);
    csv_put(&writer, "next");
    csv_end_row(&writer);
    ck_assert_str_eq(bytes_text(&out), "-5;9223372036854775807;\"=a;b\";\nnext\n");
    bytes_release(&out);
    out = bytes_with_limit(3);
    writer = csv_writer_on(&out);
    csv_put(&writer, "longer");
    ck_assert(out.failed);
    bytes_release(&out);
}
END_TEST

/* ---- Problems -------------------------------------------------------------------------------- */

START_TEST(problems_are_sorted_counted_and_printable)
{
    struct problems many = {0};
    struct bytes out = bytes_with_limit(1 << 20);
    problems_add(&many, 7, "later");
    problems_add(&many, 0, "whole\x1b[31m");
    problems_add(&many, 3, "first of 3");
    problems_add(&many, 3, "second of 3");
    problems_sort(&many);
    problems_write(&out, &many, "f.csv");
    ck_assert_str_eq(bytes_text(&out), "f.csv: whole?[31m\nf.csv:3: first of 3\n"
                                       "f.csv:3: second of 3\nf.csv:7: later\n");
    for (size_t i = 0; i < LIMIT_PROBLEMS; ++i)
        problems_add(&many, 9, "x");
    ck_assert_uint_eq(many.count, LIMIT_PROBLEMS);
    ck_assert_uint_eq(many.total, LIMIT_PROBLEMS + 4);
    bytes_clear(&out);
    problems_write(&out, &many, "f.csv");
    ck_assert_ptr_nonnull(strstr(bytes_text(&out), "\nf.csv: and 4 more\n"));
    problems_release(&many);
    bytes_release(&out);
}
END_TEST

Suite *suite_csv(void)
{
    Suite *suite = suite_create("csv");
    TCase *tests = tcase_create("csv");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, tables_are_read, 0, COUNT_OF(readable));
    tcase_add_loop_test(tests, what_is_wrong_is_said_by_line, 0, COUNT_OF(wrong));
    tcase_add_test(tests, caps_hold);
    tcase_add_test(tests, cells_are_trimmed_on_demand);
    tcase_add_loop_test(tests, columns_are_found_by_name, 0, COUNT_OF(headers));
    tcase_add_test(tests, files_are_read);
    tcase_add_loop_test(tests, no_cell_begins_a_formula, 0, COUNT_OF(cells));
    tcase_add_test(tests, whatever_the_separator);
    tcase_add_test(tests, numbers_and_exact_cells);
    tcase_add_test(tests, problems_are_sorted_counted_and_printable);
    suite_add_tcase(suite, tests);
    return suite;
}

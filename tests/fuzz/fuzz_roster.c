/* fuzz_roster.c - any bytes are a class, or problems by line; ids are fit for a folder's name, and
 * what is written of a class reads back as a table of as many rows. */
#include <assert.h>

#include "caps.h"
#include "csv.h"
#include "pushlog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
    struct roster roster;
    struct pushlog log;
    struct csv again;
    struct problems problems = {0};
    struct error err = {0};
    const char *text = (const char *)data;
    assert(roster_parse(&roster, text, length, "/class", NULL, &problems, &err) == 0);
    assert(roster.count > 0 || problems.total > 0);
    assert(pushlog_parse(&log, text, length, &roster, NULL, &problems, &err) == 0);
    problems_release(&problems);
    struct bytes table = bytes_with_limit((size_t)64 << 20);
    struct csv_writer writer = csv_writer_on(&table);
    for (size_t i = 0; i < roster.count; ++i) {
        const char *id = roster.students[i].id;
        assert(id[0] != '.' && id[0] != '-' && strpbrk(id, "/\\ \t\r\n") == NULL);
        assert(strlen(id) <= LIMIT_STUDENT_ID_BYTES);
        csv_put_exact(&writer, roster.students[i].name);
        csv_put(&writer, roster.students[i].repo);
        csv_end_row(&writer);
    }
    assert(csv_parse(&again, bytes_text(&table), table.length, &problems, &err) == 0);
    assert(problems.total == 0 && again.row_count == roster.count);
    bytes_release(&table);
    csv_release(&again);
    pushlog_release(&log);
    roster_release(&roster);
    return 0;
}

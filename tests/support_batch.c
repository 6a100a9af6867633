#include "support_batch.h"

#include "files.h"

struct school batch_school;
char batch_out[560];

void batch_set_up(size_t students, const char *delay)
{
    school_make(&batch_school, students, delay);
    (void)snprintf(batch_out, sizeof batch_out, "%s/out", batch_school.folder);
}

void batch_assert_says(const struct process_result *result, const char *part)
{
    ck_assert_msg(strstr(bytes_text(&result->output), part) != NULL ||
                      strstr(bytes_text(&result->error), part) != NULL,
                  "expected \"%s\" in\n%.1500s%.900s", part, bytes_text(&result->output),
                  bytes_text(&result->error));
}

void batch_expect(int exit_code, const char *const *arguments, const char *const *parts)
{
    struct process_result result = school_batch(&batch_school, batch_out, arguments);
    ck_assert_msg(result.exit_code == exit_code, "exit status %d\n%s%s", result.exit_code,
                  bytes_text(&result.output), bytes_text(&result.error));
    for (; *parts != NULL; ++parts)
        batch_assert_says(&result, *parts);
    process_result_release(&result);
}
struct bytes batch_read(const char *folder, const char *name)
{
    struct bytes content;
    const char *path = support_path(folder, name);
    ck_assert_msg(file_read(&content, path, (size_t)16 << 20, false) == FILE_READ, "%s", path);
    return content;
}

void batch_assert_in(const char *name, const char *part)
{
    struct bytes content = batch_read(batch_out, name);
    ck_assert_msg(strstr(bytes_text(&content), part) != NULL, "expected \"%s\" in %s:\n%.2500s",
                  part, name, bytes_text(&content));
    bytes_release(&content);
}

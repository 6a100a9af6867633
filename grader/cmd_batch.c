/* cmd_batch.c - `spillway batch`: grade a class from its repos. */
#include "commands.h"

#include "cmd_batch.h"

static void command_release(struct batch_command *c)
{
    for (size_t i = 0; i < c->student_list_count; ++i)
        free(c->student_lists[i]);
    canvas_release(&c->canvas);
    pushlog_release(&c->pushes);
    overrides_release(&c->overrides);
    roster_release(&c->roster);
}

int cmd_batch(int argc, char **argv)
{
    struct error err = {0};
    struct batch_result result = {0};
    struct batch_command *c = calloc(1, sizeof *c);
    if (c == NULL) {
        error_no_memory(&err);
        return error_report(&err);
    }
    c->grading = GRADING_OPTIONS;
    c->grading.machine.sandbox = SANDBOX_ON;
    int status = cmd_batch_parse(c, argc, argv, &err);
    if (status == 0)
        status = cmd_batch_read(c, &err);
    if (status == 0) {
        status = batch_run(&result, &c->batch, &err);
        if (status == 0)
            cmd_batch_summary(&c->batch, &result);
        else
            cmd_batch_remainder(&c->batch, &result);
        if (status == 0 && c->publish)
            status = cmd_batch_publish(&c->batch, &result, &err);
    }
    if (status == 0 && result.trouble > 0)
        error_set(&err, ERROR_INFRASTRUCTURE,
                  "%zu student%s could not be graded, through no fault of theirs: %s/trouble.csv "
                  "says why and what to mend; --retry tries again",
                  result.trouble, result.trouble == 1 ? "" : "s", c->batch.folder);
    batch_result_release(&result);
    command_release(c);
    free(c);
    return status > 0 || err.kind == ERROR_NONE ? EXIT_STATUS_DONE : error_report(&err);
}

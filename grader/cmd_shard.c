/* cmd_shard.c - `spillway shard PLAN`: one task of a batch on a cluster. Started by Slurm, not by
 * people; SLURM_ARRAY_TASK_ID says which part of the plan is meant. */
#include "commands.h"

#include "number.h"
#include "shard.h"

int cmd_shard(int argc, char **argv)
{
    struct error err = {0};
    struct shard_plan plan = {0};
    const char *task_text = getenv("SLURM_ARRAY_TASK_ID");
    uint64_t task = 0;
    if (argc != 2 || task_text == NULL || !number_parse_u64(task_text, SIZE_MAX, &task))
        error_set(&err, ERROR_USAGE,
                  "`shard` is what `spillway batch --engine slurm` lets Slurm start; it is no "
                  "command for people");
    else if (shard_read_plan(&plan, argv[1], &err) == 0)
        (void)shard_run(&plan, task, &err);
    shard_plan_release(&plan);
    return err.kind == ERROR_NONE ? EXIT_STATUS_DONE : error_report(&err);
}

/* commands.h - one function a subcommand; main.c holds the table.
 *
 * Each gets argv with argv[0] = the subcommand's name, prints, and returns an exit status. */
#ifndef SPILLWAY_COMMANDS_H
#define SPILLWAY_COMMANDS_H

int cmd_grade(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_occupancy(int argc, char **argv);
int cmd_emulate(int argc, char **argv);
int cmd_hint(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_release(int argc, char **argv);
int cmd_labs(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_batch(int argc, char **argv);
int cmd_shard(int argc, char **argv);  /* internal: a task of batch_slurm.c */
int cmd_worker(int argc, char **argv); /* internal: the other end of run.c */
int cmd_repo(int argc, char **argv);   /* internal: the other end of repo_helper.c */

#endif

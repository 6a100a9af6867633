/* check_slurm.c - a class graded by a Slurm cluster: a real one of two nodes on this machine, where
 * Debian's packages are installed, and scripts that play sbatch and squeue badly. */
#include "testing.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "files.h"
#include "number.h"
#include "shard.h"
#include "slurm.h"
#include "support_school.h"

#define STUDENTS 12
#define EMULATED "--executor", "emulator", "--elements", "3000", "--nvcc", school.toolkit.nvcc

static struct school school;
static char out[560], straight[600];
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void set_up(const char *delay)
{
    school_make(&school, STUDENTS, delay);
    (void)snprintf(out, sizeof out, "%s/out", school.folder);
    (void)snprintf(straight, sizeof straight, "%s-straight", out);
}

static void assert_says(const struct process_result *result, const char *part)
{
    ck_assert_msg(strstr(bytes_text(&result->output), part) != NULL ||
                      strstr(bytes_text(&result->error), part) != NULL,
                  "expected \"%s\" in\n%.1500s%.900s", part, bytes_text(&result->output),
                  bytes_text(&result->error));
}

static size_t count_in(const struct process_result *result, const char *part)
{
    size_t count = 0;
    for (const char *at = bytes_text(&result->output); (at = strstr(at, part)) != NULL; ++at)
        ++count;
    return count;
}

/* `spillway batch --engine slurm` with these variables and arguments. */
static struct process_result batch(const char *path, const char *conf, const char *const *arguments)
{
    const char *all[40] = {"batch",     school.roster, "--lab",    "day17-registers",
                           "--out",     out,           "--seed",   "17",
                           "--sandbox", "off",         "--engine", "slurm"};
    size_t count = 12;
    for (; *arguments != NULL; ++arguments)
        all[count++] = *arguments;
    const char *environment[] = {school.home, path, conf, NULL};
    return testing_spillway(all, environment);
}

static void grade_here(void)
{
    struct process_result result = school_batch(&school, straight, LIST(EMULATED));
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    process_result_release(&result);
}

static void assert_same_file(const char *name)
{
    char a[700], b[700];
    struct bytes one, other;
    (void)snprintf(a, sizeof a, "%s/%s", straight, name);
    (void)snprintf(b, sizeof b, "%s/%s", out, name);
    ck_assert_msg(file_read(&one, a, (size_t)1 << 24, false) == FILE_READ, "%s", a);
    ck_assert_msg(file_read(&other, b, (size_t)1 << 24, false) == FILE_READ, "%s", b);
    const char *x = bytes_text(&one), *y = bytes_text(&other);
    size_t at = 0;
    while (x[at] != '\0' && x[at] == y[at])
        ++at;
    ck_assert_msg(one.length == other.length && x[at] == '\0', "%s differs:\n%.300s\n---\n%.300s",
                  name, x + (at > 50 ? at - 50 : 0), y + (at > 50 ? at - 50 : 0));
    bytes_release(&one);
    bytes_release(&other);
}

static void assert_same_as_here(void)
{
    static const char *const files[] = {"feedback.txt", "report.html", "result.json"};
    assert_same_file("grades.csv");
    for (size_t i = 1; i <= STUDENTS; ++i)
        for (size_t j = 0; j < COUNT_OF(files); ++j) {
            char name[64];
            (void)snprintf(name, sizeof name, "students/s%03zu/%s", i, files[j]);
            assert_same_file(name);
        }
}

/* ---- A real cluster --------------------------------------------------------------------------*/

struct cluster {
    char folder[512], conf[600], conf_variable[620];
    pid_t munged, controller, nodes[2];
    unsigned ports[3];
};

static struct cluster cluster;

static bool have_slurm(void)
{
    static const char *const programs[] = {"/usr/sbin/slurmctld", "/usr/sbin/slurmd",
                                           "/usr/sbin/munged", "/usr/bin/sbatch"};
    for (size_t i = 0; i < COUNT_OF(programs); ++i)
        if (access(programs[i], X_OK) != 0)
            return false;
    return geteuid() == 0; /* slurmd runs tasks as their owner */
}

static pid_t start(const char *const *argv)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd)
        (void)dup2(null, fd);
    (void)execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static unsigned free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert(bind(fd, (struct sockaddr *)&address, length) == 0 &&
              getsockname(fd, (struct sockaddr *)&address, &length) == 0);
    return ntohs(address.sin_port);
}

static void write_conf(void)
{
    char host[256] = "";
    struct bytes conf = bytes_with_limit(10000);
    const char *f = cluster.folder;
    ck_assert_int_eq(gethostname(host, sizeof host - 1), 0);
    host[strcspn(host, ".")] = '\0';
    bytes_printf(&conf,
                 "ClusterName=test\nSlurmctldHost=%s(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n"
                 "AuthType=auth/munge\nAuthInfo=socket=%s/munge.sock\nSlurmctldPort=%u\n"
                 "StateSaveLocation=%s/state\nSlurmdSpoolDir=%s/spool-%%n\n"
                 "SlurmctldPidFile=%s/controller.pid\nSlurmdPidFile=%s/%%n.pid\n"
                 "SlurmctldLogFile=%s/controller.log\nSlurmdLogFile=%s/%%n.log\n"
                 "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n"
                 "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
                 "SlurmdParameters=config_overrides\nGresTypes=gpu\n"
                 "SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1\n"
                 "SwitchType=switch/none\nMpiDefault=none\nReturnToService=2\nKillWait=1\n"
                 "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
                 host, f, cluster.ports[0], f, f, f, f, f, f);
    for (unsigned node = 1; node <= 2; ++node)
        bytes_printf(&conf,
                     "NodeName=node%u NodeHostname=%s NodeAddr=127.0.0.1 Port=%u CPUs=2 "
                     "Gres=gpu:1\n",
                     node, host, cluster.ports[node]);
    testing_write(cluster.conf, conf.data, conf.length);
    static const char gres[] = "NodeName=node1 Name=gpu File=/dev/null\n"
                               "NodeName=node2 Name=gpu File=/dev/zero\n";
    testing_write(support_path(f, "gres.conf"), gres, sizeof gres - 1);
    bytes_release(&conf);
}

static void slurm(const char *const *argv, struct process_result *result)
{
    const char *environment[] = {cluster.conf_variable, "PATH=/usr/bin:/bin", NULL};
    const struct process_spec spec = {.argv = argv,
                                      .environment = environment,
                                      .wall_ns = INT64_C(20000000000),
                                      .output_limit = 100000,
                                      .merge_error = true};
    struct error err = {0};
    ck_assert_msg(process_run(result, &spec, &err) == 0, "%s", err.text);
}

/* Waits until a program of Slurm's prints this. */
static bool wait_for(const char *const *argv, const char *part)
{
    for (int i = 0; i < 200; ++i) {
        struct process_result result;
        slurm(argv, &result);
        bool found = strstr(bytes_text(&result.output), part) != NULL;
        process_result_release(&result);
        if (found)
            return true;
        (void)usleep(100000);
    }
    return false;
}

static void start_cluster(void)
{
    char key[1024], option[5][700];
    ck_assert_int_eq(getrandom(key, sizeof key, 0), sizeof key);
    support_new_folder(cluster.folder);
    support_open_to_all();
    (void)snprintf(cluster.conf, sizeof cluster.conf, "%s/slurm.conf", cluster.folder);
    (void)snprintf(cluster.conf_variable, sizeof cluster.conf_variable, "SLURM_CONF=%s",
                   cluster.conf);
    for (size_t i = 0; i < COUNT_OF(cluster.ports); ++i)
        cluster.ports[i] = free_port();
    write_conf();
    support_folder(support_path(cluster.folder, "state"));
    testing_write(support_path(cluster.folder, "key"), key, sizeof key);
    ck_assert_int_eq(chmod(support_path(cluster.folder, "key"), 0400), 0);
    (void)snprintf(option[0], sizeof option[0], "--key-file=%s/key", cluster.folder);
    (void)snprintf(option[1], sizeof option[1], "--socket=%s/munge.sock", cluster.folder);
    (void)snprintf(option[2], sizeof option[2], "--log-file=%s/munge.log", cluster.folder);
    (void)snprintf(option[3], sizeof option[3], "--pid-file=%s/munge.pid", cluster.folder);
    /* A file that munged may replace: as root it would replace a device, too. */
    (void)snprintf(option[4], sizeof option[4], "--seed-file=%s/seed", cluster.folder);
    cluster.munged = start(LIST("/usr/sbin/munged", "--force", "-F", option[0], option[1],
                                option[2], option[3], option[4]));
    for (int i = 0; i < 100 && access(support_path(cluster.folder, "munge.sock"), F_OK) != 0; ++i)
        (void)usleep(50000);
    cluster.controller = start(LIST("/usr/sbin/slurmctld", "-D", "-f", cluster.conf));
    cluster.nodes[0] = start(LIST("/usr/sbin/slurmd", "-D", "-f", cluster.conf, "-N", "node1"));
    cluster.nodes[1] = start(LIST("/usr/sbin/slurmd", "-D", "-f", cluster.conf, "-N", "node2"));
    ck_assert_msg(wait_for(LIST("/usr/bin/sinfo", "-h", "-o", "%T %D"), "idle 2"),
                  "the cluster does not come up: see %s", cluster.folder);
}

static void stop_cluster(void)
{
    const pid_t pids[] = {cluster.nodes[0], cluster.nodes[1], cluster.controller, cluster.munged};
    for (size_t i = 0; i < COUNT_OF(pids); ++i)
        if (pids[i] > 0) {
            (void)kill(pids[i], SIGKILL);
            (void)waitpid(pids[i], NULL, 0);
        }
    cluster = (struct cluster){.folder = ""};
}

START_TEST(a_cluster_gives_the_same_grades)
{
    if (!have_slurm())
        TEST_SKIP("no slurmctld, slurmd and munged here, or not root");
    set_up("");
    start_cluster();
    grade_here();
    struct process_result result =
        batch("PATH=/usr/bin:/bin", cluster.conf_variable,
              LIST(EMULATED, "--per-task", "3", "--gres", "gpu:1", "--partition", "main", "--time",
                   "5", "--sbatch", "--comment=a class"));
    ck_assert_msg(result.exit_code == 0, "%s%s", bytes_text(&result.output),
                  bytes_text(&result.error));
    assert_says(&result, "8 submissions in 3 tasks");
    assert_says(&result, "s001             graded 100/100");
    assert_same_as_here();
    ck_assert_int_ne(access(support_path(out, "shards"), F_OK), 0);
    process_result_release(&result);
    /* Nothing changed: no job. */
    result = batch("PATH=/usr/bin:/bin", cluster.conf_variable, LIST(EMULATED));
    ck_assert_int_eq(result.exit_code, 0);
    ck_assert_uint_eq(count_in(&result, "slurm "), 0);
    assert_says(&result, "cached         12");
    process_result_release(&result);
    stop_cluster();
}
END_TEST

/* slurmd alone may go without its tasks: what a node takes with it are all of its processes. */
static void kill_all_of_node2(void)
{
    static const char mark[] = "SLURMD_NODENAME=node2";
    DIR *processes = opendir("/proc");
    (void)kill(cluster.nodes[1], SIGKILL);
    for (const struct dirent *entry; processes != NULL && (entry = readdir(processes)) != NULL;) {
        char path[300];
        struct bytes environment;
        uint64_t pid = 0;
        (void)snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
        if (!number_parse_u64(entry->d_name, INT32_MAX, &pid) ||
            file_read(&environment, path, (size_t)1 << 20, false) != FILE_READ)
            continue;
        if (memmem(bytes_text(&environment), environment.length, mark, sizeof mark) != NULL)
            (void)kill((pid_t)pid, SIGKILL);
        bytes_release(&environment);
    }
    if (processes != NULL)
        (void)closedir(processes);
}

/* In a process of its own, since the batch holds the test up: lose node2 while its task runs. */
static pid_t lose_a_node_later(void)
{
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    bool seen = wait_for(LIST("/usr/bin/squeue", "-h", "-t", "R", "-o", "%N"), "node2");
    kill_all_of_node2();
    struct process_result result;
    slurm(LIST("/usr/bin/scontrol", "update", "nodename=node2", "state=down", "reason=lost"),
          &result);
    _exit(seen ? 0 : 1);
}

START_TEST(a_node_is_lost_midway)
{
    if (!have_slurm())
        TEST_SKIP("no slurmctld, slurmd and munged here, or not root");
    set_up("sleep 1");
    start_cluster();
    grade_here();
    pid_t helper = lose_a_node_later();
    struct process_result result =
        batch("PATH=/usr/bin:/bin", cluster.conf_variable,
              LIST(EMULATED, "--per-task", "2", "--gres", "gpu:1", "--sbatch", "--no-requeue"));
    int status = 1;
    ck_assert_int_eq(waitpid(helper, &status, 0), helper);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "node2 never worked");
    ck_assert_msg(result.exit_code == 0, "%s%s", bytes_text(&result.output),
                  bytes_text(&result.error));
    /* A second job for what the first did not bring, if the loss hit a task that still worked: when
     * it does is the machine's to say. The played clusters below hold how often one is submitted.
     */
    assert_says(&result, ": 8 submissions in 4 tasks");
    ck_assert_uint_le(count_in(&result, " submission"), 2);
    ck_assert_uint_eq(count_in(&result, ": 8 submissions in 4 tasks"), 1);
    assert_same_as_here();
    process_result_release(&result);
    stop_cluster();
}
END_TEST

/* ---- Scripts that play Slurm -----------------------------------------------------------------*/

/* Runs the tasks one after another. $here/keep: how many of them, of each job. */
#define SBATCH                                                                                     \
    "#!/bin/bash\n"                                                                                \
    "here=$(dirname \"$0\"); echo x >> \"$here/jobs\"\n"                                           \
    "echo \"$@\" > \"$here/arguments\"\n"                                                          \
    "while :; do case \"$1\" in --array) last=${2#0-}; shift 2;; --output) log=$2; shift 2;;\n"    \
    "--parsable|--requeue|--*=*) shift;; --*) shift 2;; *) break;; esac; done\n"                   \
    "log=${log//%A/77}\n"                                                                          \
    "keep=$(cat \"$here/keep\" 2>/dev/null || echo 1000)\n"                                        \
    "for ((i = 0; i <= last && i < keep; ++i)); do\n"                                              \
    "SLURM_ARRAY_TASK_ID=$i \"$@\" > \"${log//%a/$i}\" 2>&1 < /dev/null; done\n"                   \
    "echo 77\n"

static char path_variable[700];

static void make_slurm(const char *sbatch, const char *squeue)
{
    char bin[600];
    (void)snprintf(bin, sizeof bin, "%s/slurm", school.folder);
    support_folder(bin);
    support_script(support_path(bin, "sbatch"), sbatch);
    support_script(support_path(bin, "squeue"), squeue);
    support_script(support_path(bin, "scancel"), "#!/bin/sh\n");
    (void)snprintf(path_variable, sizeof path_variable, "PATH=%s:/usr/bin:/bin", bin);
}

static struct bytes note(const char *name)
{
    char path[700];
    struct bytes text;
    (void)snprintf(path, sizeof path, "%s/slurm/%s", school.folder, name);
    (void)file_read(&text, path, 100000, false);
    return text;
}

START_TEST(what_is_missing_is_submitted_again)
{
    set_up("");
    make_slurm(SBATCH, "#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\n"
                       "exit 1\n");
    testing_write(support_path(support_path(school.folder, "slurm"), "keep"), "2\n", 2);
    grade_here();
    struct process_result result = batch(path_variable, NULL,
                                         LIST(EMULATED, "--per-task", "3", "--gres", "none",
                                              "--partition", "p q", "--sbatch", "--comment=a; b"));
    ck_assert_msg(result.exit_code == 0, "%s%s", bytes_text(&result.output),
                  bytes_text(&result.error));
    assert_says(&result, "8 submissions in 3 tasks");
    assert_says(&result, "2 submissions in 1 task\n");
    assert_same_as_here();
    struct bytes jobs = note("jobs"), arguments = note("arguments");
    ck_assert_uint_eq(jobs.length, 4);
    ck_assert_ptr_nonnull(strstr(bytes_text(&arguments), "--partition p q --comment=a; b "));
    ck_assert_ptr_null(strstr(bytes_text(&arguments), "--gres"));
    bytes_release(&jobs);
    bytes_release(&arguments);
    process_result_release(&result);
}
END_TEST

START_TEST(after_three_jobs_it_is_trouble)
{
    set_up("");
    make_slurm(SBATCH, "#!/bin/sh\n");
    testing_write(support_path(support_path(school.folder, "slurm"), "keep"), "0\n", 2);
    struct process_result result = batch(path_variable, NULL, LIST(EMULATED, "--student", "s001"));
    ck_assert_int_eq(result.exit_code, 3);
    assert_says(&result, "s001             not graded: the Slurm tasks of 3 jobs ended without");
    struct bytes jobs = note("jobs");
    ck_assert_uint_eq(jobs.length, 6);
    bytes_release(&jobs);
    process_result_release(&result);
    /* When the cluster is well again. */
    ck_assert_int_eq(unlink(support_path(support_path(school.folder, "slurm"), "keep")), 0);
    result = batch(path_variable, NULL, LIST(EMULATED, "--retry"));
    ck_assert_int_eq(result.exit_code, 0);
    assert_says(&result, "s001             graded 100/100");
    process_result_release(&result);
}
END_TEST

START_TEST(words_of_a_task_that_fails_are_shown)
{
    set_up("");
    make_slurm("#!/bin/bash\nwhile [ \"$1\" != --output ]; do shift; done; log=${2//%A/77}\n"
               "echo 'node7: no such device' > \"${log//%a/0}\"; echo '77;here'\n",
               "#!/bin/sh\n");
    struct process_result result = batch(path_variable, NULL, LIST(EMULATED, "--student", "s001"));
    ck_assert_int_eq(result.exit_code, 3);
    assert_says(&result, "node7: no such device");
    process_result_release(&result);
}
END_TEST

static const struct {
    const char *sbatch, *said;
} refusals[] = {
    {"#!/bin/sh\necho 'sbatch: error: invalid partition specified' >&2\nexit 1\n",
     "invalid partition specified"},
    {"#!/bin/sh\necho 'Submitted'\n", "sbatch failed"},
    {NULL, "there is no sbatch on the PATH"},
};

START_TEST(slurm_refuses)
{
    set_up("");
    make_slurm(refusals[_i].sbatch != NULL ? refusals[_i].sbatch : "", "#!/bin/sh\n");
    if (refusals[_i].sbatch == NULL) {
        ck_assert_int_eq(unlink(support_path(support_path(school.folder, "slurm"), "sbatch")), 0);
        if (access("/usr/bin/sbatch", X_OK) == 0)
            TEST_SKIP("sbatch is installed in /usr/bin");
    }
    struct process_result result = batch(path_variable, NULL, LIST(EMULATED));
    ck_assert_int_eq(result.exit_code, 3);
    assert_says(&result, refusals[_i].said);
    assert_says(&result, "the same command goes on");
    if (refusals[_i].sbatch != NULL) {
        assert_says(&result, "does `sinfo` answer here?");
        assert_says(&result, "SLURM_CONF");
    }
    process_result_release(&result);
}
END_TEST

START_TEST(results_of_an_earlier_job_are_taken)
{
    set_up("");
    /* The first batch dies as soon as its job is submitted; the job goes on by itself. */
    make_slurm(SBATCH "kill -9 $PPID\n", "#!/bin/sh\n");
    grade_here();
    struct process_result result = batch(path_variable, NULL, LIST(EMULATED));
    ck_assert(result.signalled && result.signal == SIGKILL);
    process_result_release(&result);
    make_slurm(SBATCH, "#!/bin/sh\n");
    result = batch(path_variable, NULL, LIST(EMULATED));
    ck_assert_msg(result.exit_code == 0, "%s", bytes_text(&result.error));
    struct bytes jobs = note("jobs");
    ck_assert_uint_eq(jobs.length, 2); /* none was needed */
    assert_same_as_here();
    bytes_release(&jobs);
    process_result_release(&result);
}
END_TEST

/* ---- Files -----------------------------------------------------------------------------------*/

START_TEST(damaged_files_are_refused)
{
    struct shard_plan plan = {.lab_id = (char *)(uintptr_t) "day17-registers",
                              .machine = {.executor = "none"},
                              .per_task = 2,
                              .key_count = 3},
                      back;
    char folder[512], keys[3][DIGEST_HEX_BYTES] = {"a", "b", "c"};
    struct error err = {0};
    support_new_folder(folder);
    plan.folder = folder;
    plan.keys = keys;
    ck_assert_int_eq(shard_make_folders(folder, &err), 0);
    AUTO_FREE char *path = shard_write_plan(&plan, 1, &err);
    ck_assert_msg(path != NULL && shard_read_plan(&back, path, &err) == 0, "%s", err.text);
    ck_assert_uint_eq(back.key_count, 3);
    ck_assert_str_eq(back.keys[2], "c");
    ck_assert_str_eq(back.machine.executor, "none");
    ck_assert_ptr_null(back.machine.nvcc);
    shard_plan_release(&back);
    struct bytes whole;
    ck_assert_int_eq(file_read(&whole, path, 100000, false), FILE_READ);
    for (size_t length = 0; length < whole.length; ++length) {
        testing_write(path, whole.data, length);
        err = (struct error){0};
        ck_assert_int_eq(shard_read_plan(&back, path, &err), -1);
    }
    whole.data[20] ^= 1; /* another build's */
    testing_write(path, whole.data, whole.length);
    err = (struct error){0};
    ck_assert_int_eq(shard_read_plan(&back, path, &err), -1);
    ck_assert_ptr_nonnull(strstr(err.text, "another build of spillway"));
    bytes_release(&whole);
}
END_TEST

START_TEST(shard_is_no_command_for_people)
{
    struct process_result result = testing_spillway(LIST("shard", "plan"), NULL);
    ck_assert_int_eq(result.exit_code, 2);
    assert_says(&result, "no command for people");
    process_result_release(&result);
}
END_TEST

Suite *suite_slurm(void)
{
    Suite *suite = suite_create("slurm");
    TCase *real = tcase_create("real");
    tcase_set_timeout(real, 300);
    tcase_add_test(real, a_cluster_gives_the_same_grades);
    tcase_add_test(real, a_node_is_lost_midway);
    suite_add_tcase(suite, real);
    TCase *played = tcase_create("played");
    tcase_set_timeout(played, 120);
    tcase_add_test(played, what_is_missing_is_submitted_again);
    tcase_add_test(played, after_three_jobs_it_is_trouble);
    tcase_add_test(played, words_of_a_task_that_fails_are_shown);
    tcase_add_loop_test(played, slurm_refuses, 0, (int)COUNT_OF(refusals));
    tcase_add_test(played, results_of_an_earlier_job_are_taken);
    tcase_add_test(played, damaged_files_are_refused);
    tcase_add_test(played, shard_is_no_command_for_people);
    suite_add_tcase(suite, played);
    return suite;
}

/* check_batch_folder.c - the folder of a batch's results: whose it is, and what else may lie there.
 */
#include "testing.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "gradebook.h"
#include "support_batch.h"

START_TEST(another_batch_is_at_work)
{
    batch_set_up(1, "");
    batch_expect(0, LIST(QUICK), LIST("graded"));
    AUTO_CLOSE int fd = open(support_path(batch_out, "lock"), O_RDWR | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX), 0);
    batch_expect(2, LIST(QUICK), LIST("another batch is at work"));
}
END_TEST

START_TEST(a_folder_is_of_one_lab)
{
    batch_set_up(1, "");
    struct gradebook *book = NULL;
    struct error err = {0};
    ck_assert_int_eq(mkdir(batch_out, 0755), 0);
    ck_assert_int_eq(gradebook_open(&book, support_path(batch_out, "gradebook.sqlite"), &err), 0);
    ck_assert_int_eq(gradebook_set(book, "lab", "another-lab", &err), 0);
    gradebook_close(book);
    batch_expect(2, LIST(QUICK), LIST("holds the grades of the lab another-lab"));
}
END_TEST

START_TEST(a_folder_with_other_things_is_left_alone)
{
    struct stat info;
    batch_set_up(1, "");
    ck_assert_int_eq(mkdir(batch_out, 0755), 0);
    const char *hidden = support_path(batch_out, ".gitignore");
    testing_write(hidden, "*", 1);
    batch_expect(0, LIST(QUICK), LIST("graded          1")); /* which is nothing */
    (void)snprintf(batch_out, sizeof batch_out, "%s/shared", batch_school.folder);
    ck_assert_int_eq(mkdir(batch_out, 0755), 0);
    testing_write(support_path(batch_out, "notes"), "x", 1);
    batch_expect(2, LIST(QUICK), LIST("holds other things and no gradebook"));
    ck_assert_int_eq(stat(batch_out, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0755);
    ck_assert_int_ne(access(support_path(batch_out, "lock"), F_OK), 0);
}
END_TEST

/* What lies where a folder or file of a batch belongs: said with what and where, never followed. */
static const struct {
    const char *name, *said;
    bool link; /* else a file, or for the gradebook a folder */
} strays[] = {
    {"students/s002", "/students/s002 is a symbolic link, where a folder belongs", true},
    {"students/s002", "/students/s002 is a file, where a folder belongs", false},
    {"students", "/students is a symbolic link, where a folder belongs", true},
    {"students", "/students is a file, where a folder belongs", false},
    {"gradebook.sqlite", "/gradebook.sqlite is a symbolic link that leads to no file", true},
    {"lock", "/lock is a symbolic link, which was not followed, so no batch can work there", true},
};

START_TEST(a_stray_file_is_said)
{
    batch_set_up(2, "");
    AUTO_FREE char *stray = strdup(support_path(batch_out, strays[_i].name));
    AUTO_FREE char *elsewhere = strdup(support_path(batch_school.folder, "elsewhere"));
    AUTO_FREE char *away = strdup(support_path(batch_school.folder, "away"));
    batch_expect(0, LIST(QUICK), LIST("graded          2"));
    ck_assert_int_eq(mkdir(elsewhere, 0700), 0);
    ck_assert_int_eq(rename(stray, away), 0);
    if (strays[_i].link)
        ck_assert_int_eq(symlink(elsewhere, stray), 0);
    else
        testing_write(stray, "mine", 4);
    batch_expect(3, LIST(QUICK, "--force"), LIST(strays[_i].said));
    ck_assert_int_eq(rmdir(elsewhere), 0); /* nothing is in it */
    /* It keeps nobody from being graded, and no other file from being written. */
    if (strncmp(strays[_i].name, "students", 8) == 0) {
        ck_assert_int_eq(unlink(support_path(batch_out, "grades.csv")), 0);
        batch_expect(3, LIST(QUICK, "--seed", "18"),
                     LIST("s001             graded 75/100", "s002             graded 75/100",
                          "; not written: ", "2 of 2 students are finished and safe",
                          "but not all of"));
        batch_assert_in("grades.csv", "\ns002,Student 2,");
    }
    ck_assert_int_eq(unlink(stray), 0);
    ck_assert_int_eq(rename(away, stray), 0);
    batch_expect(0, LIST(QUICK, "--seed", "18"), LIST("graded          2"));
    batch_assert_in("students/s002/feedback.txt", "seed        18");
}
END_TEST

Suite *suite_batch_folder(void)
{
    Suite *suite = suite_create("batch_folder");
    TCase *tests = tcase_create("folder");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, another_batch_is_at_work);
    tcase_add_test(tests, a_folder_is_of_one_lab);
    tcase_add_test(tests, a_folder_with_other_things_is_left_alone);
    tcase_add_loop_test(tests, a_stray_file_is_said, 0, (int)COUNT_OF(strays));
    suite_add_tcase(suite, tests);
    return suite;
}

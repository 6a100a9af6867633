/* check_disk.c - what is said where nothing can be written. */
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "disk.h"
#include "gradebook.h"
#include "support_disk.h"
#include "support_toolkit.h"

#define KIB ((size_t)1 << 10)
#define OTHER_USER 65534

static const struct {
    int code;
    bool explains;
    const char *parts[3];
} sentences[] = {
    {ENOSPC, true, {"the disk that holds /a/b is full, so x: ", "make room there", "same command"}},
    {EDQUOT, true, {"your quota on the disk that holds /a/b is used up, so x: ", "same command"}},
    {EROFS, true, {"/a/b lies on a disk that can only be read, so x: ", "copy the whole folder"}},
    {EACCES, true, {"you may not write /a/b, so x: ", "chown"}},
    {EPERM, true, {"you may not write /a/b, so x: "}},
    {ELOOP, false, {"/a/b/c is a symbolic link, which was not followed, so x: remove it"}},
    {EIO, false, {"/a/b/c: x: Input/output error"}},
};

START_TEST(each_cause_has_its_sentence)
{
    struct error err = {0};
    ck_assert_int_eq(disk_explains(sentences[_i].code), sentences[_i].explains);
    ck_assert_int_eq(disk_fail(&err, "/a/b/c", "x", sentences[_i].code), -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    for (size_t i = 0; i < 3 && sentences[_i].parts[i] != NULL; ++i)
        ck_assert_msg(strstr(err.text, sentences[_i].parts[i]) != NULL, "%s", err.text);
}
END_TEST

static size_t entries(const char *folder)
{
    DIR *listing = opendir(folder);
    size_t count = 0;
    ck_assert_ptr_nonnull(listing);
    while (readdir(listing) != NULL)
        ++count;
    (void)closedir(listing);
    return count - 2;
}

/* Writes zeros until nothing more fits. */
static void fill(const char *path)
{
    static const char zeros[4096];
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(fd, 0);
    while (write(fd, zeros, sizeof zeros) > 0)
        continue;
    ck_assert_int_eq(errno, ENOSPC);
}

START_TEST(a_folder_is_asked)
{
    char folder[512];
    support_new_folder(folder);
    const char *path = support_path(folder, "file");
    ck_assert_int_eq(disk_probe(path), 0);
    ck_assert_uint_eq(entries(folder), 0);
    ck_assert_int_eq(disk_probe("/nowhere/file"), ENOENT);
    if (!support_mount_disk(folder, 256 * KIB))
        TEST_SKIP("no disk can be mounted");
    ck_assert_int_eq(disk_probe(path), 0);
    fill(support_path(folder, "full"));
    ck_assert_int_eq(disk_probe(path), ENOSPC);
    ck_assert_uint_eq(entries(folder), 1);
    ck_assert(support_close_disk(folder));
    ck_assert_int_eq(disk_probe(path), EROFS);
}
END_TEST

/* Whatever step of SQLite's it is that does not fit. */
static const size_t sizes[] = {4 * KIB, 16 * KIB, 40 * KIB, 56 * KIB, 64 * KIB, 72 * KIB, 88 * KIB};

START_TEST(a_gradebook_on_a_full_disk)
{
    char folder[512];
    struct gradebook *book = NULL;
    struct error err = {0};
    support_new_folder(folder);
    if (!support_mount_disk(folder, sizes[_i]))
        TEST_SKIP("no disk can be mounted");
    const char *path = support_path(folder, "gradebook.sqlite");
    int status = gradebook_open(&book, path, &err);
    for (int i = 0; status == 0 && i < 100; ++i) {
        char name[20];
        (void)snprintf(name, sizeof name, "setting%d", i);
        status = gradebook_set(book, name, "a value that takes some room, over and over", &err);
    }
    gradebook_close(book);
    ck_assert_int_eq(status, -1);
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "the disk that holds ") != NULL &&
                      strstr(err.text, folder) != NULL && strstr(err.text, "is full") != NULL,
                  "%s", err.text);
}
END_TEST

START_TEST(a_gradebook_that_can_only_be_read)
{
    char folder[512];
    struct gradebook *book = NULL;
    struct error err = {0};
    support_new_folder(folder);
    if (!support_mount_disk(folder, 1024 * KIB))
        TEST_SKIP("no disk can be mounted");
    const char *path = support_path(folder, "gradebook.sqlite");
    ck_assert_int_eq(gradebook_open(&book, path, &err), 0);
    gradebook_close(book);
    ck_assert(support_close_disk(folder));
    int status = gradebook_open(&book, path, &err);
    if (status == 0)
        status = gradebook_set(book, "a", "b", &err);
    gradebook_close(book);
    ck_assert_int_eq(status, -1);
    ck_assert_msg(strstr(err.text, "can only be read") != NULL, "%s", err.text);
}
END_TEST

/* As a user who may not write there; what went wrong on standard error. */
static int use_as_another(const char *folder, const char *part)
{
    const char *path = "gradebook.sqlite"; /* the folders above are closed to others */
    struct gradebook *book = NULL;
    struct error err = {0};
    if (chdir(folder) != 0 ||
        (geteuid() == 0 && (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0)))
        return 77;
    int status = gradebook_open(&book, path, &err);
    if (status == 0)
        status = gradebook_set(book, "a", "b", &err);
    gradebook_close(book);
    if (status != 0 && strstr(err.text, part) != NULL)
        return 0;
    (void)fprintf(stderr, "expected \"%s\": %s\n", part, err.text);
    return 1;
}

START_TEST(a_gradebook_of_somebody_else)
{
    char folder[512];
    struct gradebook *book = NULL;
    struct error err = {0};
    support_new_folder(folder);
    const char *path = support_path(folder, "gradebook.sqlite");
    ck_assert_int_eq(chmod(folder, _i == 0 ? 0755 : 0777), 0);
    if (_i > 0) {
        ck_assert_int_eq(gradebook_open(&book, path, &err), 0);
        gradebook_close(book);
        if (_i == 2) { /* as SQLite leaves one beside a gradebook that was closed for a while */
            testing_write(support_path(folder, "gradebook.sqlite-shm"), "", 0);
            ck_assert_int_eq(chmod(support_path(folder, "gradebook.sqlite-shm"), 0444), 0);
        }
        ck_assert_int_eq(chmod(path, _i == 1 ? 0444 : 0666), 0);
    }
    size_t before = entries(folder);
    if (geteuid() != 0 && _i == 0)
        ck_assert_int_eq(chmod(folder, 0555), 0);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(use_as_another(folder, _i == 0   ? "you may not write ."
                                     : _i == 1 ? "you may not write gradebook.sqlite"
                                               : "you may not write gradebook.sqlite-shm"));
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        TEST_SKIP("no other user can be become");
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(entries(folder), before);
}
END_TEST

Suite *suite_disk(void)
{
    Suite *suite = suite_create("disk");
    TCase *tests = tcase_create("disk");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, each_cause_has_its_sentence, 0, (int)COUNT_OF(sentences));
    tcase_add_test(tests, a_folder_is_asked);
    tcase_add_loop_test(tests, a_gradebook_on_a_full_disk, 0, (int)COUNT_OF(sizes));
    tcase_add_test(tests, a_gradebook_that_can_only_be_read);
    tcase_add_loop_test(tests, a_gradebook_of_somebody_else, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}

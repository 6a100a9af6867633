/* check_datadir.c - where the labs' files are found. */
#include "testing.h"

#include "datadir.h"
#include "support_toolkit.h"

START_TEST(where_data_lies)
{
    static const char file[] = "labs/day17-registers/hints";
    struct error err = {0};
    char folder[512];
    support_new_folder(folder);
    ck_assert_int_eq(unsetenv("SPILLWAY_DATA"), 0);
    AUTO_FREE char *own = data_path(file, &err); /* the source tree around the test program */
    ck_assert_msg(own != NULL, "%s", err.text);
    ck_assert_int_eq(access(own, R_OK), 0);
    /* A folder that was given comes first, where it has the file. */
    ck_assert_int_eq(setenv("SPILLWAY_DATA", folder, 1), 0);
    AUTO_FREE char *still_own = data_path(file, &err);
    ck_assert_str_eq(still_own, own);
    support_folder(support_path(folder, "labs/day17-registers"));
    testing_write(support_path(folder, file), "x", 1);
    AUTO_FREE char *given = data_path(file, &err);
    ck_assert_str_eq(given, support_path(folder, file));
    ck_assert_int_eq(err.kind, ERROR_NONE);
    ck_assert_ptr_null(data_path("labs/nothing/at-all", &err));
    ck_assert_int_eq(err.kind, ERROR_INFRASTRUCTURE);
    ck_assert_msg(strstr(err.text, "labs/nothing/at-all") != NULL &&
                      strstr(err.text, "SPILLWAY_DATA") != NULL,
                  "%s", err.text);
}
END_TEST

Suite *suite_datadir(void)
{
    Suite *suite = suite_create("datadir");
    TCase *tests = tcase_create("datadir");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, where_data_lies);
    suite_add_tcase(suite, tests);
    return suite;
}

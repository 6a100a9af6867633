/* check_hardening.c - the program is linked as a program that reads hostile bytes should be: its
 * ELF file says so (System V ABI, and the GNU extensions of the linker). */
#include "testing.h"

#include <elf.h>

#include "files.h"

static struct bytes program;

static const Elf64_Ehdr *header(void)
{
    return (const void *)program.data;
}

/* The first program header of this type; NULL: there is none. */
static const Elf64_Phdr *segment(Elf64_Word type)
{
    const Elf64_Phdr *headers = (const void *)(program.data + header()->e_phoff);
    for (size_t i = 0; i < header()->e_phnum; ++i)
        if (headers[i].p_type == type)
            return &headers[i];
    return NULL;
}

/* The value of a dynamic tag; 0: it is not there. */
static Elf64_Xword dynamic(Elf64_Sxword tag)
{
    const Elf64_Phdr *table = segment(PT_DYNAMIC);
    ck_assert_ptr_nonnull(table);
    const Elf64_Dyn *entries = (const void *)(program.data + table->p_offset);
    for (size_t i = 0; i < table->p_filesz / sizeof *entries; ++i)
        if (entries[i].d_tag == tag)
            return entries[i].d_un.d_val;
    return 0;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Whether the program calls this function of the C library: its name stands in the string table. */
static bool calls(const char *name)
{
    return memmem(program.data, program.length, name, strlen(name) + 1) != NULL;
}
#endif

static void set_up(void)
{
    enum file_status status = file_read(&program, testing_binary(), (size_t)256 << 20, true);
    ck_assert_msg(status == FILE_READ, "%s: %s", testing_binary(), file_status_text(status));
    ck_assert_uint_gt(program.length, sizeof(Elf64_Ehdr));
    ck_assert_mem_eq(program.data, ELFMAG, SELFMAG);
    ck_assert_int_eq(program.data[EI_CLASS], ELFCLASS64);
    ck_assert_uint_le(header()->e_phoff + header()->e_phnum * sizeof(Elf64_Phdr), program.length);
}

static void tear_down(void)
{
    bytes_release(&program);
}

START_TEST(it_can_be_loaded_anywhere)
{
    ck_assert_int_eq(header()->e_type, ET_DYN);
    ck_assert_ptr_nonnull(segment(PT_INTERP));
    ck_assert((dynamic(DT_FLAGS_1) & DF_1_PIE) != 0);
}
END_TEST

START_TEST(no_memory_is_both_written_and_run)
{
    const Elf64_Phdr *headers = (const void *)(program.data + header()->e_phoff);
    const Elf64_Phdr *stack = segment(PT_GNU_STACK);
    ck_assert_msg(stack != NULL && (stack->p_flags & PF_X) == 0, "the stack can be run");
    for (size_t i = 0; i < header()->e_phnum; ++i)
        ck_assert_msg(headers[i].p_type != PT_LOAD ||
                          (headers[i].p_flags & (PF_W | PF_X)) != (PF_W | PF_X),
                      "segment %zu can be written and run", i);
    ck_assert_uint_eq(dynamic(DT_TEXTREL), 0);
}
END_TEST

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
START_TEST(its_tables_are_read_only)
{
    ck_assert_ptr_nonnull(segment(PT_GNU_RELRO));
    ck_assert_msg((dynamic(DT_FLAGS) & DF_BIND_NOW) != 0 || (dynamic(DT_FLAGS_1) & DF_1_NOW) != 0,
                  "functions are bound late, so their table stays writable");
}
END_TEST

START_TEST(overruns_are_noticed)
{
    ck_assert_msg(calls("__stack_chk_fail"), "no stack protector");
    ck_assert_msg(calls("__snprintf_chk") || calls("__vsnprintf_chk"), "no _FORTIFY_SOURCE");
}
END_TEST
#endif

START_TEST(libraries_come_from_the_system)
{
    ck_assert_uint_eq(dynamic(DT_RPATH), 0);
    ck_assert_uint_eq(dynamic(DT_RUNPATH), 0);
}
END_TEST

Suite *suite_hardening(void)
{
    Suite *suite = suite_create("hardening");
    TCase *tests = tcase_create("hardening");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, it_can_be_loaded_anywhere);
    tcase_add_test(tests, no_memory_is_both_written_and_run);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    tcase_add_test(tests, its_tables_are_read_only);
    tcase_add_test(tests, overruns_are_noticed);
#endif
    tcase_add_test(tests, libraries_come_from_the_system);
    suite_add_tcase(suite, tests);
    return suite;
}

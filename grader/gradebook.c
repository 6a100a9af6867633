#include "gradebook.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "disk.h"
#include "gradebook_internal.h"

#define BUSY_MS 20000

/* ---- Failures -------------------------------------------------------------------------------- */

static const char cannot_grow[] = "the gradebook cannot grow (what it holds is safe)";

/* SQLite keeps errno for some failures, and of others only that there was one. 0: not the disk. */
static int ask_disk(const struct gradebook *book)
{
    int errno_then = book->db == NULL ? 0 : sqlite3_system_errno(book->db);
    if (disk_explains(errno_then))
        return errno_then;
    int probed = disk_probe(book->path);
    return disk_explains(probed) ? probed : 0;
}

/* Fills *err if the file or one that SQLite keeps beside it may not be written. */
static bool is_closed(const char *path, struct error *err)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < COUNT_OF(ends); ++i) {
        AUTO_FREE char *file = NULL;
        if (asprintf(&file, "%s%s", path, ends[i]) < 0)
            return error_no_memory(err) != 0;
        if (access(file, F_OK) == 0 && access(file, W_OK) != 0)
            return disk_fail(err, file, cannot_grow, errno) != 0;
    }
    return false;
}

static int fail_by_disk(struct gradebook *book, const char *words, struct error *err)
{
    if (is_closed(book->path, err))
        return -1;
    int reason = ask_disk(book);
    if (reason != 0)
        return disk_fail(err, book->path, cannot_grow, reason);
    int errno_then = book->db == NULL ? 0 : sqlite3_system_errno(book->db);
    return error_set(err, ERROR_INFRASTRUCTURE, "cannot use the gradebook %s: %s%s%s%s", book->path,
                     words, errno_then == 0 ? "" : " (",
                     errno_then == 0 ? "" : strerror(errno_then), errno_then == 0 ? "" : ")");
}

int gradebook_fail(struct gradebook *book, int code, struct error *err)
{
    const char *words = book->db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(book->db);
    switch (code & 0xFF) {
    case SQLITE_NOMEM:
        return error_no_memory(err);
    case SQLITE_FULL:
        return disk_fail(err, book->path, cannot_grow, ENOSPC);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return fail_by_disk(book, words, err);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "another program has held the gradebook %s for %d s: is a second batch "
                         "running in this folder?",
                         book->path, BUSY_MS / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return error_set(err, ERROR_INFRASTRUCTURE,
                         "the gradebook %s is damaged (%s): put a backup in its place, or move it "
                         "away and grade everybody again; `sqlite3 FILE .recover` shows what is "
                         "left in it",
                         book->path, words);
    default:
        return error_set(err, ERROR_INFRASTRUCTURE, "cannot use the gradebook %s: %s", book->path,
                         words);
    }
}

/* ---- Statements ------------------------------------------------------------------------------ */

int gradebook_execute(struct gradebook *book, const char *sql, struct error *err)
{
    int code = sqlite3_exec(book->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? 0 : gradebook_fail(book, code, err);
}

sqlite3_stmt *gradebook_prepare(struct gradebook *book, enum statement which, struct error *err)
{
    if (book->statements[which] == NULL) {
        int code = sqlite3_prepare_v3(book->db, gradebook_statements[which], -1,
                                      SQLITE_PREPARE_PERSISTENT, &book->statements[which], NULL);
        if (code != SQLITE_OK)
            (void)gradebook_fail(book, code, err);
    }
    return book->statements[which];
}

void gradebook_leave(sqlite3_stmt *statement)
{
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
}

int gradebook_step(struct gradebook *book, sqlite3_stmt *statement, bool *row, struct error *err)
{
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    if (*row)
        return 0;
    int status = code == SQLITE_DONE ? 0 : gradebook_fail(book, code, err);
    gradebook_leave(statement);
    return status;
}

int gradebook_finish(struct gradebook *book, sqlite3_stmt *statement, struct error *err)
{
    bool row = false;
    int status = gradebook_step(book, statement, &row, err);
    if (row)
        gradebook_leave(statement);
    return status;
}

static int run(struct gradebook *book, enum statement which, struct error *err)
{
    sqlite3_stmt *statement = gradebook_prepare(book, which, err);
    return statement == NULL ? -1 : gradebook_finish(book, statement, err);
}

int gradebook_begin(struct gradebook *book, struct error *err)
{
    return run(book, STATEMENT_BEGIN, err);
}

int gradebook_end(struct gradebook *book, int status, struct error *err)
{
    if (status == 0)
        status = run(book, STATEMENT_COMMIT, err);
    /* Some failures (a full disk) have rolled back already. */
    if (status != 0 && sqlite3_get_autocommit(book->db) == 0)
        (void)run(book, STATEMENT_ROLLBACK, NULL);
    return status;
}

void gradebook_bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    (void)sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

void gradebook_bind_number(sqlite3_stmt *statement, int place, int64_t value)
{
    (void)sqlite3_bind_int64(statement, place, value);
}

void gradebook_bind_optional(sqlite3_stmt *statement, int place, bool known, int64_t value)
{
    if (known)
        (void)sqlite3_bind_int64(statement, place, value);
    else
        (void)sqlite3_bind_null(statement, place);
}

char *gradebook_text(sqlite3_stmt *statement, int column, bool *no_memory)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NULL;
    const unsigned char *text = sqlite3_column_text(statement, column);
    char *copy = text == NULL ? NULL : strdup((const char *)text);
    *no_memory = *no_memory || copy == NULL;
    return copy;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* SQLite would make the file with the umask's permissions; its -wal and -shm get those of the file
 * itself. The name is on the disk before anything is in it. */
static int make_file(const char *path, struct error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return 0;
    if (fd < 0 && disk_explains(errno))
        return disk_fail(err, path, "no gradebook can be made", errno);
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder =
        slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    AUTO_CLOSE int at =
        fd < 0 || folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || at < 0)
        return error_set_errno(err, ERROR_INFRASTRUCTURE, "cannot make the gradebook %s", path);
    (void)fsync(at); /* some file systems cannot */
    return 0;
}

#define SQLITE_PATH_BYTES 500 /* of its 512, less what its other files have at the end */

/* SQLite says of anything else only that it cannot be opened. */
static int check_file(const char *path, struct error *err)
{
    struct stat info;
    AUTO_FREE char *whole = realpath(path, NULL);
    size_t length = whole == NULL ? 0 : strlen(whole);
    if (length > SQLITE_PATH_BYTES)
        return error_set(err, ERROR_USAGE,
                         "the gradebook's path has %zu bytes, more than the %d that SQLite takes: "
                         "put it into a folder with a shorter path than %s",
                         length, SQLITE_PATH_BYTES, path);
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode))
        /* Before SQLite makes more files that nobody may write. */
        return is_closed(path, err) ? -1 : 0;
    return error_set(err, ERROR_INFRASTRUCTURE,
                     "%s is %s, where the gradebook belongs: move it away, or put the gradebook "
                     "back in its place",
                     path,
                     lstat(path, &info) == 0 && S_ISLNK(info.st_mode)
                         ? "a symbolic link that leads to no file"
                         : "no file");
}

/* Before the file is looked at: none of this changes it. */
static int set_up(struct gradebook *book, struct error *err)
{
    (void)sqlite3_busy_timeout(book->db, BUSY_MS);
    /* What the file says of itself (views, triggers) is not trusted: it may come from elsewhere. */
    (void)sqlite3_db_config(book->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(book->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return gradebook_execute(book,
                             "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
                             "PRAGMA cell_size_check = ON",
                             err);
}

static int check_whole(struct gradebook *book, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(book->db, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    int status = 0;
    if (code != SQLITE_ROW) {
        status = gradebook_fail(book, code, err);
    } else if (strcmp((const char *)sqlite3_column_text(statement, 0), "ok") != 0) {
        char words[200];
        (void)snprintf(words, sizeof words, "%s", (const char *)sqlite3_column_text(statement, 0));
        status = error_set(err, ERROR_INFRASTRUCTURE,
                           "the gradebook %s is damaged (%s): put a backup in its place, or move "
                           "it away and grade everybody again; `sqlite3 FILE .recover` shows what "
                           "is left in it",
                           book->path, words);
    }
    (void)sqlite3_finalize(statement);
    return status;
}

int gradebook_open(struct gradebook **ret, const char *path, struct error *err)
{
    *ret = NULL;
    if (make_file(path, err) != 0 || check_file(path, err) != 0)
        return -1;
    struct gradebook *book = calloc(1, sizeof *book);
    if (book == NULL || (book->path = strdup(path)) == NULL) {
        free(book);
        return error_no_memory(err);
    }
    int code = sqlite3_open_v2(path, &book->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        (void)gradebook_fail(book, code, err);
    /* Where a file system cannot do WAL, SQLite keeps to a journal, which is as safe. */
    if (code != SQLITE_OK || set_up(book, err) != 0 || check_whole(book, err) != 0 ||
        gradebook_migrate(book, err) != 0 ||
        gradebook_execute(book, "PRAGMA journal_mode = WAL", err) != 0) {
        gradebook_close(book);
        return -1;
    }
    *ret = book;
    return 0;
}

void gradebook_close(struct gradebook *book)
{
    if (book == NULL)
        return;
    for (size_t i = 0; i < COUNT_OF(book->statements); ++i)
        (void)sqlite3_finalize(book->statements[i]);
    (void)sqlite3_close(book->db);
    free(book->path);
    free(book);
}

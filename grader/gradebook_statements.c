#include "gradebook_internal.h"

/* In the order that gradebook_read.c takes them apart. */
#define ATTEMPT_COLUMNS                                                                            \
    "a.id, a.number, a.outcome, a.reason, a.commit_id, a.chosen, a.handed_in_s,"                   \
    " a.handed_in_offset_s, a.handed_in_from, a.warnings, a.score, a.pending, a.max_score,"        \
    " a.state, a.key, a.cached, a.finished_s, a.duration_ns"

#define LATEST_OF_CURRENT                                                                          \
    " FROM student s JOIN attempt a ON a.student = s.id"                                           \
    " WHERE s.position IS NOT NULL"                                                                \
    " AND a.number = (SELECT max (number) FROM attempt WHERE student = s.id)"

const char *const gradebook_statements[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_ROLLBACK] = "ROLLBACK",
    [STATEMENT_SET] = "INSERT INTO setting (name, value) VALUES (?1, ?2)"
                      " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    [STATEMENT_GET] = "SELECT value FROM setting WHERE name = ?1",
    [STATEMENT_STUDENTS_OUT] = "UPDATE student SET position = NULL WHERE position IS NOT NULL",
    [STATEMENT_STUDENT_IN] =
        "INSERT INTO student (id, position, name, email, repo, ref, group_name, deadline_s,"
        " deadline, extension_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        " ON CONFLICT (id) DO UPDATE SET position = excluded.position, name = excluded.name,"
        " email = excluded.email, repo = excluded.repo, ref = excluded.ref,"
        " group_name = excluded.group_name, deadline_s = excluded.deadline_s,"
        " deadline = excluded.deadline, extension_s = excluded.extension_s",
    [STATEMENT_NEXT_NUMBER] =
        "SELECT coalesce (max (number), 0) + 1 FROM attempt WHERE student = ?1",
    [STATEMENT_ADD_ATTEMPT] =
        "INSERT INTO attempt (student, number, outcome, reason, commit_id, chosen, handed_in_s,"
        " handed_in_offset_s, handed_in_from, warnings, score, pending, max_score, state, key,"
        " cached, finished_s, duration_ns, explanation, page, json, html)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,"
        " ?19, ?20, ?21, ?22)",
    [STATEMENT_ADD_MARK] =
        "INSERT INTO mark (attempt, position, id, title, status, points, max_points, message,"
        " remedy) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [STATEMENT_ADD_TROUBLE] =
        "INSERT INTO trouble (student, after_attempt, sentence, at_s) VALUES (?1,"
        " (SELECT coalesce (max (number), 0) FROM attempt WHERE student = ?1), ?2, ?3)",
    [STATEMENT_CURRENT_OVERRIDE] = "SELECT points, reason FROM override"
                                   " WHERE student = ?1 AND mark = ?2 ORDER BY id DESC LIMIT 1",
    [STATEMENT_ADD_OVERRIDE] = "INSERT INTO override (student, mark, points, reason, at_s)"
                               " VALUES (?1, ?2, ?3, ?4, ?5)",
    [STATEMENT_LATEST] = "SELECT " ATTEMPT_COLUMNS " FROM attempt a"
                         " WHERE a.student = ?1 ORDER BY a.number DESC LIMIT 1",
    [STATEMENT_ATTEMPT] = "SELECT " ATTEMPT_COLUMNS " FROM attempt a"
                          " WHERE a.student = ?1 AND a.number = ?2",
    [STATEMENT_BY_KEY] = "SELECT " ATTEMPT_COLUMNS " FROM attempt a"
                         " WHERE a.key = ?1 AND a.outcome = 'graded' ORDER BY a.id DESC LIMIT 1",
    [STATEMENT_MARKS] = "SELECT id, title, status, points, max_points, message, remedy FROM mark"
                        " WHERE attempt = ?1 ORDER BY position",
    [STATEMENT_TEXTS] = "SELECT explanation, page, json, html FROM attempt WHERE id = ?1",
    /* "" as the latest sentence: it passed without a new attempt. */
    [STATEMENT_TROUBLE] = "SELECT nullif (sentence, '') FROM trouble WHERE student = ?1"
                          " AND after_attempt >="
                          " (SELECT coalesce (max (number), 0) FROM attempt WHERE student = ?1)"
                          " ORDER BY id DESC LIMIT 1",
    [STATEMENT_OVERRIDES] =
        "SELECT o.mark, o.points, o.reason, o.at_s FROM override o"
        " WHERE o.student = ?1 AND o.points IS NOT NULL AND o.id ="
        " (SELECT max (id) FROM override WHERE student = ?1 AND mark = o.mark) ORDER BY o.mark",
    [STATEMENT_OVERRIDE_HISTORY] =
        "SELECT mark, points, reason, at_s FROM override WHERE student = ?1 ORDER BY id",
    [STATEMENT_PUT_STANDING] =
        "INSERT INTO standing (student, status, attempt, graded_score, raw_score,"
        " late_penalty_millionths, score, pending, max_score, late)"
        " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
        " ON CONFLICT (student) DO UPDATE SET status = excluded.status,"
        " attempt = excluded.attempt, graded_score = excluded.graded_score,"
        " raw_score = excluded.raw_score,"
        " late_penalty_millionths = excluded.late_penalty_millionths, score = excluded.score,"
        " pending = excluded.pending, max_score = excluded.max_score, late = excluded.late",
    [STATEMENT_PICK_ROSTER] = "SELECT id FROM student WHERE position IS NOT NULL ORDER BY position",
    [STATEMENT_PICK_WITHOUT_ATTEMPT] =
        "SELECT s.id FROM student s WHERE s.position IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM attempt WHERE student = s.id) ORDER BY s.position",
    [STATEMENT_PICK_FAILED] =
        "SELECT s.id" LATEST_OF_CURRENT " AND (a.outcome <> 'graded' OR EXISTS"
        " (SELECT 1 FROM mark WHERE attempt = a.id AND status = 'failed')) ORDER BY s.position",
    [STATEMENT_PICK_PENDING] =
        "SELECT s.id" LATEST_OF_CURRENT " AND a.pending > 0 ORDER BY s.position",
    [STATEMENT_PICK_TROUBLE] =
        "SELECT s.id FROM student s WHERE s.position IS NOT NULL AND EXISTS"
        " (SELECT 1 FROM trouble WHERE id = (SELECT max (id) FROM trouble WHERE student = s.id)"
        " AND sentence <> '' AND after_attempt >="
        " (SELECT coalesce (max (number), 0) FROM attempt WHERE student = s.id))"
        " ORDER BY s.position",
    [STATEMENT_PICK_SINCE] =
        "SELECT s.id" LATEST_OF_CURRENT " AND a.finished_s >= ?1 ORDER BY s.position",
};

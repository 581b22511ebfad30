// SPDX-License-Identifier: Apache-2.0
//
// File: sql.h
//
// Every statement of the store. Columns stand in the order in which
// row_codec.cc writes and reads them. tests/storage/query_plan_test.cc pins how
// SQLite runs each.
#ifndef FROSTLINE_STORAGE_SQLITE_SQL_H_
#define FROSTLINE_STORAGE_SQLITE_SQL_H_

#include <cstddef>
#include <string>

#include "storage/trial_store.h"

namespace frostline::sql {

#define STUDY_COLUMNS_                   \
  "id, spec, seed, created, fixed_crc, " \
  "state, settings, etag, revision, updated, expires, state_reason, crc"
#define TRIAL_COLUMNS_                                                         \
  "study, number, origin, point, created, fixed_crc, state, attempt, secret, " \
  "worker, trial_faults, infrastructure_faults, priority, revision, started, " \
  "ended, last_step, metrics, objective_values, failure, cause, usage, "       \
  "labels, seen_revision, ended_revision, crc"
#define ATTEMPT_COLUMNS_                                                     \
  "study, number, attempt, state, secret, worker, boot_id, started, ended, " \
  "failure, cause, checkpoint, outcome, crc"
#define MEASUREMENT_COLUMNS_ "study, number, attempt, step, measured, crc"
#define OUTCOME_COLUMNS_ \
  "study, number, data_fingerprint, encoding, count, data, crc"
#define LOG_COLUMNS_ "study, number, attempt, tail, written, crc"
#define WORKER_COLUMNS_ \
  "id, boot_id, state, info, failures_in_a_row, registered, last_seen, crc"
#define REPLY_COLUMNS_ "request_id, method, request_hash, reply, created, crc"
#define LEAD_COLUMNS_ "id, epoch, crc"

inline constexpr char kBegin[] = "BEGIN IMMEDIATE";
inline constexpr char kCommit[] = "COMMIT";
inline constexpr char kRollback[] = "ROLLBACK";
inline constexpr char kBeginOperation[] = "SAVEPOINT operation";
inline constexpr char kEndOperation[] = "RELEASE operation";
inline constexpr char kUndoOperation[] = "ROLLBACK TO operation";

inline constexpr char kInsertStudy[] =
    "INSERT INTO studies (" STUDY_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kUpdateStudy[] =
    "UPDATE studies SET state = ?, settings = ?, etag = ?, revision = ?, "
    "updated = ?, expires = ?, state_reason = ?, crc = ? "
    "WHERE key = ? AND etag = ?";
inline constexpr char kFindStudyByKey[] =
    "SELECT key, " STUDY_COLUMNS_ " FROM studies WHERE key = ?";
inline constexpr char kFindStudyById[] =
    "SELECT key, " STUDY_COLUMNS_ " FROM studies WHERE id = ? AND state <> 5";
inline constexpr char kListStudies[] =
    "SELECT key, " STUDY_COLUMNS_
    " FROM studies WHERE key > ? AND (? OR state <> 5) ORDER BY key LIMIT ?";
inline constexpr const char* kPurgeStudy[] = {
    "DELETE FROM measurements WHERE study = ?",
    "DELETE FROM outcomes WHERE study = ?",
    "DELETE FROM logs WHERE study = ?",
    "DELETE FROM attempts WHERE study = ?",
    "DELETE FROM trials WHERE study = ?",
    "DELETE FROM studies WHERE key = ?",
};

inline constexpr char kInsertTrial[] =
    "INSERT INTO trials (" TRIAL_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
    "?, ?, ?, ?, ?)";
#define UPDATE_TRIAL_                                                         \
  "UPDATE trials SET state = ?, attempt = ?, secret = ?, worker = ?, "        \
  "trial_faults = ?, infrastructure_faults = ?, priority = ?, revision = ?, " \
  "started = ?, ended = ?, last_step = ?, metrics = ?, "                      \
  "objective_values = ?, failure = ?, cause = ?, usage = ?, labels = ?, "     \
  "seen_revision = ?, ended_revision = ?, crc = ? "                           \
  "WHERE study = ? AND number = ? AND state = ? AND attempt = ?"
inline constexpr char kUpdateTrial[] = UPDATE_TRIAL_;
inline constexpr char kUpdateTrialOfHolder[] = UPDATE_TRIAL_ " AND secret = ?";
inline constexpr char kFindTrial[] =
    "SELECT " TRIAL_COLUMNS_ " FROM trials WHERE study = ? AND number = ?";
inline constexpr char kListTrials[] =
    "SELECT " TRIAL_COLUMNS_
    " FROM trials WHERE study = ?1 AND number > ?2 ORDER BY number LIMIT ?3";
// One of these per state; several are merged by UNION ALL.
inline constexpr char kListTrialsOfState[] =
    "SELECT " TRIAL_COLUMNS_
    " FROM trials INDEXED BY trials_by_state"
    " WHERE study = ?1 AND number > ?2 AND state = ";
inline constexpr char kListTrialsByRevision[] =
    "SELECT " TRIAL_COLUMNS_
    " FROM trials INDEXED BY trials_by_revision"
    " WHERE study = ?1 AND revision > ?2";

inline constexpr char kPutAttempt[] =
    "INSERT OR REPLACE INTO attempts (" ATTEMPT_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kListAttempts[] =
    "SELECT " ATTEMPT_COLUMNS_
    " FROM attempts WHERE study = ? AND number = ? ORDER BY attempt";

inline constexpr char kAddMeasurement[] =
    "INSERT INTO measurements (" MEASUREMENT_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
inline constexpr char kListMeasurements[] =
    "SELECT " MEASUREMENT_COLUMNS_
    " FROM measurements WHERE study = ? AND number = ? AND attempt = ? "
    "AND step > ? ORDER BY step LIMIT ?";
inline constexpr char kFindMeasurement[] =
    "SELECT " MEASUREMENT_COLUMNS_
    " FROM measurements WHERE study = ? AND number = ? AND attempt = ? "
    "AND step = ?";

inline constexpr char kPutOutcome[] =
    "INSERT OR REPLACE INTO outcomes (" OUTCOME_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kFindOutcome[] =
    "SELECT " OUTCOME_COLUMNS_ " FROM outcomes WHERE study = ? AND number = ?";

inline constexpr char kPutLog[] =
    "INSERT OR REPLACE INTO logs (" LOG_COLUMNS_ ") VALUES (?, ?, ?, ?, ?, ?)";
inline constexpr char kFindLog[] =
    "SELECT " LOG_COLUMNS_
    " FROM logs WHERE study = ? AND number = ? AND attempt = ?";

inline constexpr char kPutWorker[] =
    "INSERT OR REPLACE INTO workers (" WORKER_COLUMNS_
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
inline constexpr char kListWorkers[] =
    "SELECT " WORKER_COLUMNS_ " FROM workers WHERE id > ? ORDER BY id LIMIT ?";

inline constexpr char kRememberReply[] =
    "INSERT INTO replies (" REPLY_COLUMNS_ ") VALUES (?, ?, ?, ?, ?, ?)";
inline constexpr char kFindReply[] =
    "SELECT " REPLY_COLUMNS_ " FROM replies WHERE request_id = ?";
inline constexpr char kForgetReplies[] =
    "DELETE FROM replies WHERE created < ?";

inline constexpr char kPutLead[] =
    "INSERT OR REPLACE INTO lead (" LEAD_COLUMNS_ ") VALUES (?, ?, ?)";
inline constexpr char kFindLead[] =
    "SELECT " LEAD_COLUMNS_ " FROM lead WHERE id = 1";

// Every row, for the check of a copy.
inline constexpr char kAllStudies[] =
    "SELECT key, " STUDY_COLUMNS_ " FROM studies";
inline constexpr char kAllTrials[] = "SELECT " TRIAL_COLUMNS_ " FROM trials";
inline constexpr char kAllAttempts[] =
    "SELECT " ATTEMPT_COLUMNS_ " FROM attempts";
inline constexpr char kAllMeasurements[] =
    "SELECT " MEASUREMENT_COLUMNS_ " FROM measurements";
inline constexpr char kAllOutcomes[] =
    "SELECT " OUTCOME_COLUMNS_ " FROM outcomes";
inline constexpr char kAllLogs[] = "SELECT " LOG_COLUMNS_ " FROM logs";
inline constexpr char kAllWorkers[] = "SELECT " WORKER_COLUMNS_ " FROM workers";
inline constexpr char kAllReplies[] = "SELECT " REPLY_COLUMNS_ " FROM replies";
inline constexpr char kAllLeads[] = "SELECT " LEAD_COLUMNS_ " FROM lead";

#undef STUDY_COLUMNS_
#undef TRIAL_COLUMNS_
#undef ATTEMPT_COLUMNS_
#undef MEASUREMENT_COLUMNS_
#undef OUTCOME_COLUMNS_
#undef LOG_COLUMNS_
#undef WORKER_COLUMNS_
#undef REPLY_COLUMNS_
#undef LEAD_COLUMNS_
#undef UPDATE_TRIAL_

// Parameters: study, after, limit. The states are few and our own numbers, so
// they are part of the text, and there are few texts.
std::string ListTrialsSql(const TrialQuery& query);

}  // namespace frostline::sql

#endif  // FROSTLINE_STORAGE_SQLITE_SQL_H_

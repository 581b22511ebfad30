// SPDX-License-Identifier: Apache-2.0
//
// File: row_codec.h
//
// Rows as SQLite has them: every statement, and how a row becomes columns and
// comes back.
#ifndef FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
#define FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "absl/status/statusor.h"
#include "storage/row_columns.h"
#include "storage/rows.h"
#include "storage/sqlite/database.h"
#include "storage/trial_store.h"

namespace frostline::storage::sql {

// Every SQL statement. tests/storage/sqlite_store_test.cc pins how SQLite runs
// each of them.

// The templates below make statements. Columns are in the order of
// storage/row_codec.h.
//
//   kSelect<LogRow, " WHERE study = ?">
//   "SELECT study, number, …, crc FROM logs WHERE study = ?"

// A string that can be a template's argument.
template <std::size_t size>
struct Literal {
  // NOLINTNEXTLINE(google-explicit-constructor): "text" must become one.
  consteval Literal(const char (&literal)[size]) {
    std::copy_n(literal, size, text);
  }
  char text[size]{};
};

// A statement under construction.
struct Draft {
  constexpr Draft& operator+=(std::string_view more) {
    for (const char c : more) characters[size++] = c;
    return *this;
  }
  std::array<char, 1000> characters{};
  std::size_t size = 0;
};

// Adds "a, b, " or, with " = ?" after each, "a = ?, b = ?, ".
template <typename Columns>
constexpr void AddNames(const Columns& columns, std::string_view after,
                        Draft& draft) {
  ForEachColumn(columns, [&](const auto& column) {
    (draft += column.name) += after;
    draft += ", ";
  });
}

template <typename Row>
constexpr void AddInserted(Draft& draft) {
  using Columns = RowColumns<Row>;
  if (!Columns::kKeyIsGiven) AddNames(Columns::kKey, "", draft);
  AddNames(Columns::kFixed, "", draft);
  if (std::tuple_size_v<decltype(Columns::kFixed)> > 0) draft += "fixed_crc, ";
  AddNames(Columns::kChanging, "", draft);
  draft += "crc";
}

// Adds "?, ?, ?", one for each of AddInserted().
template <typename Row>
constexpr void AddParameters(Draft& draft) {
  Draft names;
  AddInserted<Row>(names);
  draft += "?";
  for (std::size_t i = 0; i < names.size; ++i) {
    if (names.characters[i] == ',') draft += ", ?";
  }
}

// Begins "INSERT INTO logs (study, …, crc) ".
template <typename Row>
constexpr Draft BeginInsert(std::string_view verb) {
  Draft draft;
  ((draft += verb) += " INTO ") += RowColumns<Row>::kTable;
  draft += " (";
  AddInserted<Row>(draft);
  draft += ") ";
  return draft;
}

template <typename Row, Literal tail>
struct Select {
  static constexpr Draft Make() {
    using Columns = RowColumns<Row>;
    Draft draft;
    draft += "SELECT ";
    if (Columns::kKeyIsGiven) AddNames(Columns::kKey, "", draft);
    AddInserted<Row>(draft);
    ((draft += " FROM ") += Columns::kTable) += tail.text;
    return draft;
  }
};

template <typename Row, Literal verb>
struct Insert {
  static constexpr Draft Make() {
    Draft draft = BeginInsert<Row>(verb.text);
    draft += "VALUES (";
    AddParameters<Row>(draft);
    draft += ")";
    return draft;
  }
};

// Inserts only if the trial is there, at this attempt or a later one. The row's
// key begins with study, number, attempt.
template <typename Row, Literal verb, Literal tail>
struct InsertOfAttempt {
  static constexpr Draft Make() {
    Draft draft = BeginInsert<Row>(verb.text);
    draft += "SELECT ";
    AddParameters<Row>(draft);
    draft +=
        " WHERE EXISTS (SELECT 1 FROM trials WHERE study = ?1 "
        "AND number = ?2 AND attempt >= ?3)";
    draft += tail.text;
    return draft;
  }
};

template <typename Row, Literal tail>
struct Update {
  static constexpr Draft Make() {
    Draft draft;
    ((draft += "UPDATE ") += RowColumns<Row>::kTable) += " SET ";
    AddNames(RowColumns<Row>::kChanging, " = ?", draft);
    (draft += "crc = ?") += tail.text;
    return draft;
  }
};

// Deletes up to ?2 of the rows that `which` selects by ?1.
template <typename Row, Literal which>
struct DeleteSome {
  static constexpr Draft Make() {
    using Columns = RowColumns<Row>;
    Draft draft;
    ((draft += "DELETE FROM ") += Columns::kTable) += " WHERE (";
    AddKey(draft);
    draft += ") IN (SELECT ";
    AddKey(draft);
    ((draft += " FROM ") += Columns::kTable) += " WHERE ";
    (draft += which.text) += " LIMIT ?2)";
    return draft;
  }
  static constexpr void AddKey(Draft& draft) {
    AddNames(RowColumns<Row>::kKey, "", draft);
    draft.size -= 2;  // the last ", "
  }
};

// The characters of a statement, with a zero at the end.
template <typename Statement>
inline constexpr auto kCharactersOf = [] {
  constexpr Draft draft = Statement::Make();
  std::array<char, draft.size + 1> characters{};
  std::copy_n(draft.characters.begin(), draft.size, characters.begin());
  return characters;
}();

template <typename Row, Literal tail>
inline constexpr const char* kSelect = kCharactersOf<Select<Row, tail>>.data();
template <typename Row, Literal verb>
inline constexpr const char* kInsert = kCharactersOf<Insert<Row, verb>>.data();
template <typename Row, Literal verb, Literal tail = "">
inline constexpr const char* kInsertOfAttempt =
    kCharactersOf<InsertOfAttempt<Row, verb, tail>>.data();
template <typename Row, Literal which>
inline constexpr const char* kDeleteSome =
    kCharactersOf<DeleteSome<Row, which>>.data();
template <typename Row, Literal tail>
inline constexpr const char* kUpdate = kCharactersOf<Update<Row, tail>>.data();

inline constexpr char kBegin[] = "BEGIN IMMEDIATE";
inline constexpr char kCommit[] = "COMMIT";
inline constexpr char kRollback[] = "ROLLBACK";
inline constexpr char kBeginOperation[] = "SAVEPOINT operation";
inline constexpr char kEndOperation[] = "RELEASE operation";
inline constexpr char kUndoOperation[] = "ROLLBACK TO operation";

inline constexpr const char* kInsertStudy = kInsert<StudyRow, "INSERT">;
inline constexpr const char* kUpdateStudy =
    kUpdate<StudyRow, " WHERE key = ? AND etag = ?">;
inline constexpr const char* kFindStudyByKey =
    kSelect<StudyRow, " WHERE key = ?">;
inline constexpr const char* kFindStudyById =
    kSelect<StudyRow, " WHERE id = ? AND state <> 5">;
inline constexpr const char* kListStudies =
    kSelect<StudyRow,
            " WHERE key > ? AND (? OR state <> 5) ORDER BY key LIMIT ?">;
// A statement of a purge. It takes the study and a limit. A row of up to a MiB
// has hundreds of pages, and each is read when it is deleted, so only a few
// such rows are deleted at a time.
struct Purge {
  const char* sql;
  bool is_of_large_rows = false;
};
inline constexpr std::int64_t kLargeRowsAtOnce = 20;
// The statements, in order: rows go before the rows to which they refer.
inline constexpr Purge kPurgeStudy[] = {
    {kDeleteSome<MeasurementRow, "study = ?1">},
    {kDeleteSome<OutcomeRow, "study = ?1">, true},
    {kDeleteSome<LogRow, "study = ?1">, true},
    {kDeleteSome<BestRow, "study = ?1">},
    {kDeleteSome<SummaryRow, "study = ?1">},
    {kDeleteSome<AttemptRow, "study = ?1">},
    {kDeleteSome<TrialRow, "study = ?1">},
    {kDeleteSome<StudyRow, "key = ?1">},
};

inline constexpr const char* kInsertTrial = kInsert<TrialRow, "INSERT">;
inline constexpr const char* kUpdateTrial =
    kUpdate<TrialRow,
            " WHERE study = ? AND number = ? AND state = ? AND attempt = ?">;
inline constexpr const char* kUpdateTrialOfHolder =
    kUpdate<TrialRow,
            " WHERE study = ? AND number = ? AND state = ? AND attempt = ? "
            "AND secret = ?">;
inline constexpr const char* kFindTrial =
    kSelect<TrialRow, " WHERE study = ? AND number = ?">;
inline constexpr const char* kListTrials =
    kSelect<TrialRow,
            " WHERE study = ?1 AND number > ?2 ORDER BY number LIMIT ?3">;
// One for each state, merged by UNION ALL.
inline constexpr const char* kListTrialsOfState =
    kSelect<TrialRow,
            " INDEXED BY trials_by_state"
            " WHERE study = ?1 AND number > ?2 AND state = ">;
inline constexpr const char* kListTrialsByRevision =
    kSelect<TrialRow,
            " INDEXED BY trials_by_revision"
            " WHERE study = ?1 AND revision > ?2">;

inline constexpr const char* kPutAttempt =
    kInsertOfAttempt<AttemptRow, "INSERT OR REPLACE">;
inline constexpr const char* kListAttempts =
    kSelect<AttemptRow, " WHERE study = ? AND number = ? ORDER BY attempt">;
// No request has the empty id, so the index has no entry for it.
inline constexpr const char* kListGranted =
    kSelect<AttemptRow,
            " INDEXED BY attempts_by_request"
            " WHERE request_id = ? AND request_id <> ''"
            " ORDER BY study, number, attempt">;

inline constexpr const char* kAddMeasurement =
    kInsertOfAttempt<MeasurementRow, "INSERT", " ON CONFLICT DO NOTHING">;
inline constexpr const char* kListMeasurements =
    kSelect<MeasurementRow,
            " WHERE study = ? AND number = ? AND attempt = ? AND step > ? "
            "ORDER BY step LIMIT ?">;
inline constexpr const char* kFindMeasurement =
    kSelect<MeasurementRow,
            " WHERE study = ? AND number = ? AND attempt = ? AND step = ?">;

inline constexpr const char* kPutOutcome =
    kInsert<OutcomeRow, "INSERT OR REPLACE">;
inline constexpr const char* kFindOutcome =
    kSelect<OutcomeRow, " WHERE study = ? AND number = ?">;

inline constexpr const char* kPutLog =
    kInsertOfAttempt<LogRow, "INSERT OR REPLACE">;
inline constexpr const char* kFindLog =
    kSelect<LogRow, " WHERE study = ? AND number = ? AND attempt = ?">;

inline constexpr const char* kPutSummary =
    kInsert<SummaryRow, "INSERT OR REPLACE">;
inline constexpr const char* kListSummaries =
    kSelect<SummaryRow, " WHERE study > ? ORDER BY study LIMIT ?">;
inline constexpr const char* kPutBest = kInsert<BestRow, "INSERT OR REPLACE">;
inline constexpr const char* kListBest =
    kSelect<BestRow, " WHERE study = ? AND number > ? ORDER BY number LIMIT ?">;

inline constexpr const char* kPutWorker =
    kInsert<WorkerRow, "INSERT OR REPLACE">;
inline constexpr const char* kListWorkers =
    kSelect<WorkerRow, " WHERE id > ? ORDER BY id LIMIT ?">;
inline constexpr const char* kForgetWorker = "DELETE FROM workers WHERE id = ?";

inline constexpr const char* kPutToken = kInsert<TokenRow, "INSERT OR REPLACE">;
inline constexpr const char* kListTokens =
    kSelect<TokenRow, " WHERE id > ? ORDER BY id LIMIT ?">;
inline constexpr const char* kPutCertificate =
    kInsert<CertificateRow, "INSERT OR REPLACE">;
inline constexpr const char* kListCertificates =
    kSelect<CertificateRow, " WHERE id > ? ORDER BY id LIMIT ?">;

inline constexpr const char* kPutAudit = kInsert<AuditRow, "INSERT OR REPLACE">;
inline constexpr const char* kListAudit =
    kSelect<AuditRow, " WHERE first > ? ORDER BY first LIMIT ?">;
inline constexpr const char* kForgetAudit = "DELETE FROM audit WHERE first < ?";

inline constexpr const char* kPutNotification =
    kInsert<NotificationRow, "INSERT OR REPLACE">;
inline constexpr const char* kListNotifications =
    kSelect<NotificationRow, " WHERE id > ? ORDER BY id LIMIT ?">;
inline constexpr const char* kForgetNotification =
    "DELETE FROM notifications WHERE id = ?";

inline constexpr const char* kRememberReply = kInsert<ReplyRow, "INSERT">;
inline constexpr const char* kFindReply =
    kSelect<ReplyRow, " WHERE request_id = ?">;
inline constexpr const char* kForgetReplies =
    kDeleteSome<ReplyRow, "created < ?1">;

inline constexpr const char* kPutLead = kInsert<LeadRow, "INSERT OR REPLACE">;
inline constexpr const char* kFindLead = kSelect<LeadRow, " WHERE id = 1">;

// Selects every row, for checks.
template <typename Row>
inline constexpr const char* kAll = kSelect<Row, "">;

// Its parameters are study, after, limit. The states are part of the text,
// since there are few.
std::string ListTrialsSql(const TrialQuery& query);

}  // namespace frostline::storage::sql

namespace frostline::storage {

// Binds all columns that an insertion gives (storage/row_codec.h).
template <typename Row>
void BindRow(const Row& row, Statement& statement);
// Binds the columns that may change.
template <typename Row>
void BindChanging(const Row& row, Statement& statement);

template <typename Row>
absl::StatusOr<Row> ReadRow(const Statement& statement);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

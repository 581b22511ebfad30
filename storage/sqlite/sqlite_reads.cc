// SPDX-License-Identifier: Apache-2.0
//
// The reading half of SqliteStore: each call is one statement, hence one
// snapshot.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/backend.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/sql.h"
#include "storage/sqlite/sqlite_error.h"
#include "storage/sqlite/sqlite_store.h"

namespace frostline::storage {
namespace {

// A negative LIMIT would be none.
std::int64_t Limit(int limit) { return std::max(limit, 0); }

template <typename Row>
absl::StatusOr<std::optional<Row>> ReadOne(Statement& statement) {
  ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return std::optional<Row>();
  ASSIGN_OR_RETURN(Row row, ReadRow<Row>(statement));
  return std::optional<Row>(std::move(row));
}

template <typename Row>
absl::StatusOr<std::vector<Row>> ReadAll(Statement& statement) {
  std::vector<Row> rows;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return rows;
    ASSIGN_OR_RETURN(Row row, ReadRow<Row>(statement));
    rows.push_back(std::move(row));
  }
}

// Whether these rows are what was asked for. They are found by indexes, which
// are under no seal.
bool Answers(const std::vector<TrialRow>& rows, const TrialQuery& query) {
  std::int64_t last = query.after;
  bool is_first = true;
  for (const TrialRow& row : rows) {
    const bool by_number = query.order == TrialQuery::Order::kNumber;
    const std::int64_t place = by_number ? row.number : row.revision;
    // Trials may share a revision.
    const bool in_order = is_first || by_number ? place > last : place >= last;
    const bool wanted = query.states.empty() ||
                        std::find(query.states.begin(), query.states.end(),
                                  row.state) != query.states.end();
    if (row.study != query.study || !in_order || !wanted) return false;
    last = place;
    is_first = false;
  }
  return true;
}

}  // namespace

absl::StatusOr<Epoch> SqliteStore::FindLead() const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindLead));
  ASSIGN_OR_RETURN(const auto row, ReadOne<LeadRow>(statement));
  return row.has_value() ? row->epoch : Epoch{0};
}

absl::StatusOr<StudyRow> SqliteStore::FindStudy(const std::string& id) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindStudyById));
  statement.Text(id);
  ASSIGN_OR_RETURN(std::optional<StudyRow> row, ReadOne<StudyRow>(statement));
  if (!row.has_value()) return StudyNotFound(id);
  return *std::move(row);
}

absl::StatusOr<std::vector<StudyRow>> SqliteStore::ListStudies(
    const StudyQuery& query) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListStudies));
  statement.Int(query.after);
  statement.Int(query.with_deleted ? 1 : 0);
  statement.Int(Limit(query.limit));
  return ReadAll<StudyRow>(statement);
}

absl::StatusOr<TrialRow> SqliteStore::FindTrial(StudyKey study,
                                                std::int64_t number) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindTrial));
  statement.Int(study);
  statement.Int(number);
  ASSIGN_OR_RETURN(std::optional<TrialRow> row, ReadOne<TrialRow>(statement));
  if (!row.has_value()) return TrialNotFound(number);
  return *std::move(row);
}

absl::StatusOr<std::vector<TrialRow>> SqliteStore::ListTrials(
    const TrialQuery& query) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement,
                   reader->Prepare(sql::ListTrialsSql(query)));
  statement.Int(query.study);
  statement.Int(query.after);
  statement.Int(Limit(query.limit));
  ASSIGN_OR_RETURN(std::vector<TrialRow> rows, ReadAll<TrialRow>(statement));
  if (Answers(rows, query)) return rows;
  return StoreCorrupt("trials: an index says other than the rows");
}

absl::StatusOr<std::vector<AttemptRow>> SqliteStore::ListAttempts(
    StudyKey study, std::int64_t number) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListAttempts));
  statement.Int(study);
  statement.Int(number);
  return ReadAll<AttemptRow>(statement);
}

absl::StatusOr<std::vector<AttemptRow>> SqliteStore::ListGranted(
    const std::string& request_id) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListGranted));
  statement.Text(request_id);
  ASSIGN_OR_RETURN(std::vector<AttemptRow> rows,
                   ReadAll<AttemptRow>(statement));
  for (const AttemptRow& row : rows) {
    if (row.request_id == request_id) continue;
    return StoreCorrupt("attempts: an index says other than the rows");
  }
  return rows;
}

absl::StatusOr<std::vector<SummaryRow>> SqliteStore::ListSummaries(
    StudyKey after, int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListSummaries));
  statement.Int(after);
  statement.Int(Limit(limit));
  return ReadAll<SummaryRow>(statement);
}

absl::StatusOr<std::vector<BestRow>> SqliteStore::ListBest(StudyKey study,
                                                           std::int64_t after,
                                                           int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListBest));
  statement.Int(study);
  statement.Int(after);
  statement.Int(Limit(limit));
  return ReadAll<BestRow>(statement);
}

absl::StatusOr<std::vector<Measurement>> SqliteStore::ListMeasurements(
    const MeasurementQuery& query) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement,
                   reader->Prepare(sql::kListMeasurements));
  statement.Int(query.study);
  statement.Int(query.number);
  statement.Int(query.attempt);
  statement.Int(query.after_step);
  statement.Int(Limit(query.limit));
  ASSIGN_OR_RETURN(std::vector<MeasurementRow> rows,
                   ReadAll<MeasurementRow>(statement));
  std::vector<Measurement> measurements;
  measurements.reserve(rows.size());
  for (MeasurementRow& row : rows) {
    measurements.push_back(std::move(row.measurement));
  }
  return measurements;
}

absl::StatusOr<std::optional<OutcomeRow>> SqliteStore::FindOutcome(
    StudyKey study, std::int64_t number) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindOutcome));
  statement.Int(study);
  statement.Int(number);
  return ReadOne<OutcomeRow>(statement);
}

absl::StatusOr<std::optional<LogRow>> SqliteStore::FindLog(
    StudyKey study, std::int64_t number, std::int64_t attempt) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindLog));
  statement.Int(study);
  statement.Int(number);
  statement.Int(attempt);
  return ReadOne<LogRow>(statement);
}

absl::StatusOr<std::vector<WorkerRow>> SqliteStore::ListWorkers(
    const std::string& after, int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListWorkers));
  statement.Text(after);
  statement.Int(Limit(limit));
  return ReadAll<WorkerRow>(statement);
}

absl::StatusOr<std::vector<TokenRow>> SqliteStore::ListTokens(
    const std::string& after, int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListTokens));
  statement.Text(after);
  statement.Int(Limit(limit));
  return ReadAll<TokenRow>(statement);
}

absl::StatusOr<std::vector<CertificateRow>> SqliteStore::ListCertificates(
    const std::string& after, int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement,
                   reader->Prepare(sql::kListCertificates));
  statement.Text(after);
  statement.Int(Limit(limit));
  return ReadAll<CertificateRow>(statement);
}

absl::StatusOr<std::vector<AuditRow>> SqliteStore::ListAudit(std::int64_t after,
                                                             int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kListAudit));
  statement.Int(after);
  statement.Int(Limit(limit));
  return ReadAll<AuditRow>(statement);
}

absl::StatusOr<std::vector<NotificationRow>> SqliteStore::ListNotifications(
    const std::string& after, int limit) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement,
                   reader->Prepare(sql::kListNotifications));
  statement.Text(after);
  statement.Int(Limit(limit));
  return ReadAll<NotificationRow>(statement);
}

absl::StatusOr<std::optional<ReplyRow>> SqliteStore::FindReply(
    const std::string& request_id) const {
  ASSIGN_OR_RETURN(const ReadPool::Loan reader, readers_.Borrow());
  ASSIGN_OR_RETURN(Statement statement, reader->Prepare(sql::kFindReply));
  statement.Text(request_id);
  return ReadOne<ReplyRow>(statement);
}

}  // namespace frostline::storage

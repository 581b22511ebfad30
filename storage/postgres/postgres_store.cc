// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/postgres_store.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/log.h"
#include "storage/postgres/postgres_transaction.h"
#include "storage/postgres/seat.h"
#include "storage/postgres/sql.h"
#include "storage/row_codec.h"

namespace frostline::storage {
namespace {

// A server grants a hundred connections, as it comes; others want some, too.
constexpr int kMostReaders = 16;

}  // namespace

std::unique_ptr<Connection> PostgresReaders::Take() {
  const MutexLock lock(&mutex_);
  while (lent_ >= kMostReaders) returned_.Wait(&mutex_);
  ++lent_;
  if (idle_.empty()) return nullptr;
  std::unique_ptr<Connection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void PostgresReaders::Return(std::unique_ptr<Connection> connection) {
  {
    const MutexLock lock(&mutex_);
    --lent_;
    if (connection != nullptr && connection->IsAlive()) {
      idle_.push_back(std::move(connection));
    }
  }
  returned_.Signal();
}

absl::StatusOr<Answer> PostgresReaders::Ask(const std::string& sql,
                                            const Parameters& parameters) {
  std::unique_ptr<Connection> connection = Take();
  absl::StatusOr<Answer> answer = absl::UnknownError("not asked");
  if (connection != nullptr) answer = connection->Ask(sql, parameters);
  if (connection == nullptr || !connection->IsAlive()) {
    auto opened = Connection::Open(url_);
    if (opened.ok()) {
      connection = *std::move(opened);
      answer = connection->Ask(sql, parameters);
    } else {
      answer = opened.status();
      connection = nullptr;
    }
  }
  Return(std::move(connection));
  return answer;
}

absl::StatusOr<std::unique_ptr<PostgresStore>> PostgresStore::Open(
    const std::string& url, KeptBeside beside) {
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> writer, ConnectAlone(url));
  RETURN_IF_ERROR(BringForward(*writer));
  std::unique_ptr<PostgresStore> store(
      new PostgresStore(url, std::move(beside), std::move(writer)));
  store->description_ = absl::StrCat("postgres ", store->writer_->Describe());
  return store;
}

absl::Status PostgresStore::MendWriter() {
  RETURN_IF_ERROR(failure_);
  if (writer_->IsAlive()) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> writer, Connection::Open(url_));
  RETURN_IF_ERROR(CheckServer(*writer));
  absl::Status seat = TakeSeat(*writer);
  // The server may not have noticed yet that the old connection is gone.
  if (HasErrorId(seat, ErrorId::kStoreLocked)) {
    return MakeError(ErrorId::kStoreBusy, std::string(seat.message()),
                     "it is tried again");
  }
  RETURN_IF_ERROR(seat);
  Log(LogLevel::kInfo, "store_connected_again", {{"to", writer->Describe()}});
  writer_ = std::move(writer);
  return absl::OkStatus();
}

absl::StatusOr<Epoch> PostgresStore::TakeLead() {
  ASSIGN_OR_RETURN(const auto transaction, BeginUnled());
  ASSIGN_OR_RETURN(const Epoch epoch, transaction->RaiseLead());
  RETURN_IF_ERROR(transaction->Commit());
  return epoch;
}

absl::StatusOr<std::unique_ptr<PostgresTransaction>>
PostgresStore::BeginUnled() {
  slot_.Take();
  absl::Status status = MendWriter();
  if (!status.ok()) {
    slot_.Give();
    return status;
  }
  return std::make_unique<PostgresTransaction>(*this);
}

absl::StatusOr<std::unique_ptr<Transaction>> PostgresStore::Begin(Epoch epoch) {
  ASSIGN_OR_RETURN(auto transaction, BeginUnled());
  RETURN_IF_ERROR(transaction->CheckLead(epoch));
  return std::unique_ptr<Transaction>(std::move(transaction));
}

DiskRoom PostgresStore::RoomLeft() const {
  return {.room = Room::kAmple, .free_bytes = beside_.free_bytes()};
}

absl::StatusOr<BackupReport> PostgresStore::Backup(const std::string&) const {
  return MakeError(ErrorId::kMethodNotBuilt,
                   "the studies of this coordinator are in PostgreSQL",
                   "copy them with pg_dump --schema=frostline, or as your "
                   "PostgreSQL is backed up");
}

// Reading: each call is one statement, hence one snapshot.

namespace {

std::int64_t LimitOf(int limit) { return std::max(limit, 0); }

template <typename Row>
absl::StatusOr<std::vector<Row>> ReadRows(
    const absl::StatusOr<Answer>& answer) {
  RETURN_IF_ERROR(answer.status());
  std::vector<Row> rows;
  for (int i = 0; i < answer->rows(); ++i) {
    ASSIGN_OR_RETURN(Row row, ReadSealed<Row>(RowSource{*answer, i}));
    rows.push_back(std::move(row));
  }
  return rows;
}

template <typename Row>
absl::StatusOr<std::optional<Row>> ReadFirst(
    const absl::StatusOr<Answer>& answer) {
  ASSIGN_OR_RETURN(std::vector<Row> rows, ReadRows<Row>(answer));
  if (rows.empty()) return std::optional<Row>();
  return std::optional<Row>(std::move(rows.front()));
}

// Rows by rising id or key, after a place.
template <typename Row>
std::string ListAfter() {
  const std::string key = postgres::KeyNames<Row>().front();
  return postgres::Select<Row>(
      absl::StrCat(" WHERE ", key, " > $1 ORDER BY ", key, " LIMIT $2"));
}

Parameters AfterText(const std::string& after, int limit) {
  Parameters parameters;
  parameters.Text(after);
  parameters.Int(LimitOf(limit));
  return parameters;
}

Parameters Ints(const std::vector<std::int64_t>& values) {
  Parameters parameters;
  for (const std::int64_t value : values) parameters.Int(value);
  return parameters;
}

Parameters OneText(const std::string& value) {
  Parameters parameters;
  parameters.Text(value);
  return parameters;
}

std::string ListTrialsBy(const TrialQuery& query) {
  const bool by_number = query.order == TrialQuery::Order::kNumber;
  std::set<int> states;
  for (const TrialState state : query.states) {
    states.insert(static_cast<int>(state));
  }
  return postgres::Select<TrialRow>(absl::StrCat(
      " WHERE study = $1 AND ", by_number ? "number" : "revision", " > $2",
      states.empty()
          ? ""
          : absl::StrCat(" AND state IN (", absl::StrJoin(states, ", "), ")"),
      " ORDER BY ", by_number ? "" : "revision, ", "number LIMIT $3"));
}

}  // namespace

absl::StatusOr<Epoch> PostgresStore::FindLead() const {
  ASSIGN_OR_RETURN(const auto row,
                   ReadFirst<LeadRow>(readers_.Ask(
                       postgres::Select<LeadRow>(" WHERE id = 1"), {})));
  return row.has_value() ? row->epoch : Epoch{0};
}

absl::StatusOr<StudyRow> PostgresStore::FindStudy(const std::string& id) const {
  ASSIGN_OR_RETURN(
      std::optional<StudyRow> row,
      ReadFirst<StudyRow>(readers_.Ask(
          postgres::Select<StudyRow>(" WHERE id = $1 AND state <> 5"),
          OneText(id))));
  if (!row.has_value()) return StudyNotFound(id);
  return *std::move(row);
}

absl::StatusOr<std::vector<StudyRow>> PostgresStore::ListStudies(
    const StudyQuery& query) const {
  return ReadRows<StudyRow>(readers_.Ask(
      postgres::Select<StudyRow>(" WHERE key > $1 AND ($2 <> 0 OR state <> 5) "
                                 "ORDER BY key LIMIT $3"),
      Ints({query.after, query.with_deleted ? 1 : 0, LimitOf(query.limit)})));
}

absl::StatusOr<TrialRow> PostgresStore::FindTrial(StudyKey study,
                                                  std::int64_t number) const {
  ASSIGN_OR_RETURN(
      std::optional<TrialRow> row,
      ReadFirst<TrialRow>(readers_.Ask(
          postgres::Select<TrialRow>(" WHERE study = $1 AND number = $2"),
          Ints({study, number}))));
  if (!row.has_value()) return TrialNotFound(number);
  return *std::move(row);
}

absl::StatusOr<std::vector<TrialRow>> PostgresStore::ListTrials(
    const TrialQuery& query) const {
  return ReadRows<TrialRow>(
      readers_.Ask(ListTrialsBy(query),
                   Ints({query.study, query.after, LimitOf(query.limit)})));
}

absl::StatusOr<std::vector<AttemptRow>> PostgresStore::ListAttempts(
    StudyKey study, std::int64_t number) const {
  return ReadRows<AttemptRow>(
      readers_.Ask(postgres::Select<AttemptRow>(
                       " WHERE study = $1 AND number = $2 ORDER BY attempt"),
                   Ints({study, number})));
}

absl::StatusOr<std::vector<AttemptRow>> PostgresStore::ListGranted(
    const std::string& request_id) const {
  return ReadRows<AttemptRow>(
      readers_.Ask(postgres::Select<AttemptRow>(
                       " WHERE request_id = $1 AND request_id <> '\\x' "
                       "ORDER BY study, number, attempt"),
                   OneText(request_id)));
}

absl::StatusOr<std::vector<SummaryRow>> PostgresStore::ListSummaries(
    StudyKey after, int limit) const {
  return ReadRows<SummaryRow>(
      readers_.Ask(ListAfter<SummaryRow>(), Ints({after, LimitOf(limit)})));
}

absl::StatusOr<std::vector<BestRow>> PostgresStore::ListBest(StudyKey study,
                                                             std::int64_t after,
                                                             int limit) const {
  return ReadRows<BestRow>(readers_.Ask(
      postgres::Select<BestRow>(" WHERE study = $1 AND number > $2 "
                                "ORDER BY number LIMIT $3"),
      Ints({study, after, LimitOf(limit)})));
}

absl::StatusOr<std::vector<Measurement>> PostgresStore::ListMeasurements(
    const MeasurementQuery& query) const {
  ASSIGN_OR_RETURN(
      std::vector<MeasurementRow> rows,
      ReadRows<MeasurementRow>(readers_.Ask(
          postgres::Select<MeasurementRow>(
              " WHERE study = $1 AND number = $2 AND attempt = $3 AND "
              "step > $4 ORDER BY step LIMIT $5"),
          Ints({query.study, query.number, query.attempt, query.after_step,
                LimitOf(query.limit)}))));
  std::vector<Measurement> measurements;
  measurements.reserve(rows.size());
  for (MeasurementRow& row : rows) {
    measurements.push_back(std::move(row.measurement));
  }
  return measurements;
}

absl::StatusOr<std::optional<OutcomeRow>> PostgresStore::FindOutcome(
    StudyKey study, std::int64_t number) const {
  return ReadFirst<OutcomeRow>(readers_.Ask(
      postgres::Select<OutcomeRow>(" WHERE study = $1 AND number = $2"),
      Ints({study, number})));
}

absl::StatusOr<std::optional<LogRow>> PostgresStore::FindLog(
    StudyKey study, std::int64_t number, std::int64_t attempt) const {
  return ReadFirst<LogRow>(
      readers_.Ask(postgres::Select<LogRow>(
                       " WHERE study = $1 AND number = $2 AND attempt = $3"),
                   Ints({study, number, attempt})));
}

absl::StatusOr<std::vector<WorkerRow>> PostgresStore::ListWorkers(
    const std::string& after, int limit) const {
  return ReadRows<WorkerRow>(
      readers_.Ask(ListAfter<WorkerRow>(), AfterText(after, limit)));
}

absl::StatusOr<std::vector<TokenRow>> PostgresStore::ListTokens(
    const std::string& after, int limit) const {
  return ReadRows<TokenRow>(
      readers_.Ask(ListAfter<TokenRow>(), AfterText(after, limit)));
}

absl::StatusOr<std::vector<CertificateRow>> PostgresStore::ListCertificates(
    const std::string& after, int limit) const {
  return ReadRows<CertificateRow>(
      readers_.Ask(ListAfter<CertificateRow>(), AfterText(after, limit)));
}

absl::StatusOr<std::vector<AuditRow>> PostgresStore::ListAudit(
    std::int64_t after, int limit) const {
  return ReadRows<AuditRow>(
      readers_.Ask(ListAfter<AuditRow>(), Ints({after, LimitOf(limit)})));
}

absl::StatusOr<std::vector<NotificationRow>> PostgresStore::ListNotifications(
    const std::string& after, int limit) const {
  return ReadRows<NotificationRow>(
      readers_.Ask(ListAfter<NotificationRow>(), AfterText(after, limit)));
}

absl::StatusOr<std::optional<ReplyRow>> PostgresStore::FindReply(
    const std::string& request_id) const {
  return ReadFirst<ReplyRow>(
      readers_.Ask(postgres::Select<ReplyRow>(" WHERE request_id = $1"),
                   OneText(request_id)));
}

}  // namespace frostline::storage

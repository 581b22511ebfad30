// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/sqlite_store.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "storage/sqlite/backup.h"
#include "storage/sqlite/data_folder.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/row_codec.h"
#include "storage/sqlite/schema.h"
#include "storage/sqlite/sqlite_transaction.h"
#include "storage/trial_store.h"

namespace frostline::storage {
namespace {

// More than there are reading threads, so that a point read waits for no list.
constexpr int kMostConnections = 32;
// An idle connection is closed after so many loans, since each keeps a cache of
// pages.
constexpr std::int64_t kIdleLoans = 256;

}  // namespace

ReadPool::~ReadPool() = default;

absl::StatusOr<ReadPool::Loan> ReadPool::Borrow() {
  {
    const MutexLock lock(&mutex_);
    while (lent_ >= kMostConnections) returned_.Wait(&mutex_);
    ++lent_;
    ++loans_;
    if (!idle_.empty()) {
      std::unique_ptr<Database> database = std::move(idle_.back().database);
      idle_.pop_back();
      return Loan(*this, std::move(database));
    }
  }
  auto opened = Database::Open(path_, Database::Role::kReader);
  if (opened.ok()) return Loan(*this, std::move(*opened));
  Return(nullptr);
  return opened.status();
}

std::size_t ReadPool::idle() const {
  const MutexLock lock(&mutex_);
  return idle_.size();
}

void ReadPool::Return(std::unique_ptr<Database> database) {
  std::unique_ptr<Database> unused;  // closed without the lock
  {
    const MutexLock lock(&mutex_);
    --lent_;
    if (database != nullptr) idle_.push_back({std::move(database), loans_});
    if (!idle_.empty() && loans_ - idle_.front().since > kIdleLoans) {
      unused = std::move(idle_.front().database);
      idle_.pop_front();
    }
  }
  returned_.Signal();
}

namespace {

constexpr std::int64_t kReturnsPages = 2;  // as PRAGMA auto_vacuum has it

absl::StatusOr<std::unique_ptr<Database>> OpenWriter(const DataFolder& data) {
  const std::string path = data.DatabasePath();
  {
    ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader,
                     Database::Open(path, Database::Role::kReader));
    RETURN_IF_ERROR(ReadVersion(*reader, path, SchemaSteps()).status());
  }
  ASSIGN_OR_RETURN(std::unique_ptr<Database> writer,
                   Database::Open(path, data.is_ephemeral()
                                            ? Database::Role::kEphemeralWriter
                                            : Database::Role::kWriter));
  RETURN_IF_ERROR(QuickCheck(*writer));
  // A full disk is no error here: whoever writes later is told of it.
  const absl::Status emptied = writer->EmptyLog();
  if (!HasErrorId(emptied, ErrorId::kStoreFull)) RETURN_IF_ERROR(emptied);
  RETURN_IF_ERROR(Migrate(*writer, path, SchemaSteps()));
  return writer;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::Open(
    const std::string& folder, const StoreLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> data,
                   DataFolder::Open(folder, limits.ballast_bytes));
  return OpenIn(std::move(data), limits);
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::OpenEphemeral(
    const StoreLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> data,
                   DataFolder::OpenEphemeral());
  return OpenIn(std::move(data), limits);
}

absl::StatusOr<std::unique_ptr<SqliteStore>> SqliteStore::OpenIn(
    std::unique_ptr<DataFolder> data, const StoreLimits& limits) {
  absl::StatusOr<std::unique_ptr<Database>> writer = OpenWriter(*data);
  if (HasErrorId(writer.status(), ErrorId::kStoreFull) &&
      data->ballast().Release()) {
    writer = OpenWriter(*data);
  }
  RETURN_IF_ERROR(writer.status());
  // A journal that SQLite has removed must not come back after a power cut: it
  // would undo all that follows.
  if (!data->is_ephemeral()) {
    RETURN_IF_ERROR(SyncFolder(data->path()));
  }
  Log(data->is_ephemeral() ? LogLevel::kDebug : LogLevel::kInfo, "store_opened",
      {{"database", data->DatabasePath()}});
  Log(LogLevel::kDebug, "sqlite",
      {{"version", LinkedSqliteVersion()},
       {"wal_reset_flaw", HasWalResetFlaw(sqlite3_libversion_number())
                              ? "present, no occasion"
                              : "absent"}});
  std::unique_ptr<SqliteStore> store(
      new SqliteStore(std::move(data), *std::move(writer), limits));
  RETURN_IF_ERROR(store->CountFreePages());
  ASSIGN_OR_RETURN(const std::int64_t how,
                   store->writer_->ReadInt("PRAGMA auto_vacuum"));
  store->returns_pages_ = how == kReturnsPages;
  return store;
}

SqliteStore::SqliteStore(std::unique_ptr<DataFolder> folder,
                         std::unique_ptr<Database> writer,
                         const StoreLimits& limits)
    : limits_(limits),
      folder_(std::move(folder)),
      files_(folder_->DatabasePath()),
      writer_(std::move(writer)),
      readers_(folder_->DatabasePath(), limits_.longest_read) {}

absl::StatusOr<Epoch> SqliteStore::TakeLead() {
  const absl::StatusOr<Epoch> epoch = RaiseLead();
  if (!HasErrorId(epoch.status(), ErrorId::kStoreFull)) return epoch;
  return RaiseLead();
}

absl::StatusOr<Epoch> SqliteStore::RaiseLead() {
  ASSIGN_OR_RETURN(const std::unique_ptr<SqliteTransaction> transaction,
                   BeginUnled());
  const absl::StatusOr<Epoch> epoch = transaction->RaiseLead();
  RETURN_IF_ERROR(transaction->Commit());  // also tells the store of a failure
  return epoch;
}

absl::StatusOr<std::unique_ptr<Transaction>> SqliteStore::Begin(Epoch epoch) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteTransaction> transaction,
                   BeginUnled());
  const absl::Status status = transaction->CheckLead(epoch);
  if (status.ok()) return transaction;
  Failed(status);  // the slot is still ours
  return status;
}

absl::StatusOr<std::unique_ptr<SqliteTransaction>> SqliteStore::BeginUnled() {
  slot_.Take();
  absl::Status status = failure_;
  if (status.ok()) status = SqliteTransaction::Start(*writer_);
  if (status.ok()) return std::make_unique<SqliteTransaction>(*this);
  Failed(status);
  slot_.Give();
  return status;
}

void SqliteStore::Failed(const absl::Status& status) {
  if (IsFatal(status)) {
    if (failure_.ok()) {
      Log(LogLevel::kError, "store_failed", {{"cause", DescribeError(status)}});
    }
    failure_ = status;
    writer_->LeaveLogAtEnd();
  }
  if (HasErrorId(status, ErrorId::kStoreBusy)) {
    // Nobody else should have the database open.
    Log(LogLevel::kWarning, "store_busy",
        {{"times", absl::StrCat(++times_busy_)},
         {"cause", std::string(status.message())}});
  }
  if (HasErrorId(status, ErrorId::kStoreFull) && folder_->ballast().Release()) {
    ballast_is_out_ = true;
    Log(LogLevel::kWarning, "disk_full", {{"released", "frostline.ballast"}});
  }
}

absl::StatusOr<SecretString> SqliteStore::LeaseKey() {
  return KeepLeaseKey(folder_->LeaseKeyPath());
}

std::vector<WallMicros> SqliteStore::NoteStart(WallMicros now) {
  return NoteStartIn(folder_->StartsPath(), now);
}

DiskRoom SqliteStore::RoomLeft() const {
  const std::int64_t on_disk = folder_->FreeBytes();
  DiskRoom left{.room = Room::kAmple,
                .free_bytes = on_disk + (free_pages_ + returned_pages_) *
                                            kStorePageBytes};
  if (left.free_bytes < limits_.no_new_studies_bytes) {
    left.room = Room::kNoNewStudies;
  }
  // Room for two logs: one is moved while the next one grows.
  const std::int64_t for_the_log =
      std::min(2 * limits_.pages_per_checkpoint * kStorePageBytes,
               limits_.no_new_leases_bytes);
  if (left.free_bytes < limits_.no_new_leases_bytes || on_disk < for_the_log) {
    left.room = Room::kNoNewLeases;
  }
  return left;
}

std::string SqliteStore::Describe() const {
  return absl::StrCat(folder_->is_ephemeral() ? "ephemeral " : "", "sqlite ",
                      LinkedSqliteVersion(), " ", folder_->DatabasePath());
}

absl::StatusOr<BackupReport> SqliteStore::Backup(
    const std::string& path) const {
  if (folder_->is_ephemeral()) {
    return MakeError(ErrorId::kMethodNotBuilt,
                     "this coordinator keeps nothing that could be backed up",
                     "start it with a data folder instead of --ephemeral");
  }
  const MutexLock one_at_a_time(&backing_up_);
  // Not a connection of the pool: a backup is long, and readers would lack it.
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Database> source,
      Database::Open(folder_->DatabasePath(), Database::Role::kReader));
  return BackUp(*source, path);
}

// Reading: each call is one statement, hence one snapshot.

namespace {

// A negative LIMIT would mean no limit.
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

// Says whether these rows are what was asked for. They are found by indexes,
// which no seal covers.
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

// What the store does for itself after commits and between them: it moves its
// log to the database, and gives unused pages back to the disk.

namespace {

// How many unused pages are kept, and which share of the file, as they are soon
// used again.
constexpr std::int64_t kFreePagesKept = 1024;
constexpr std::int64_t kShareKept = 8;
// A slice is 1 MiB of log: a few milliseconds.
constexpr char kReturnSlice[] = "PRAGMA incremental_vacuum(256)";

}  // namespace

absl::Status SqliteStore::CountFreePages() {
  ASSIGN_OR_RETURN(const std::int64_t pages,
                   writer_->ReadInt("PRAGMA freelist_count"));
  free_pages_ = pages;
  return absl::OkStatus();
}

void SqliteStore::Committed() {
  Failed(CountFreePages());
  const int pages = writer_->wal_pages();
  if (pages < checkpointed_pages_) checkpointed_pages_ = 0;  // begun again
  WatchLog(pages);
  if (pages - checkpointed_pages_ < limits_.pages_per_checkpoint) return;
  checkpointed_pages_ = pages;
  MoveLog();
}

// Moves the log. A failure does not change the commit before; only a later one
// can report it. A full disk does not matter as long as the log has room.
void SqliteStore::MoveLog() {
  const absl::StatusOr<bool> whole = writer_->Checkpoint();
  const absl::Status& status = whole.status();
  if (status.ok() && *whole) returned_pages_ = 0;  // the file is shorter
  if (!HasErrorId(status, ErrorId::kStoreFull)) Failed(status);
  if (ballast_is_out_ && status.ok() && folder_->ballast().Refill()) {
    ballast_is_out_ = false;
    Log(LogLevel::kInfo, "disk_has_room_again");
  }
}

// Warns when a reader keeps the log from being begun again for longer than any
// reader of ours may.
void SqliteStore::WatchLog(int pages) {
  const bool is_long = pages * kStorePageBytes > limits_.log_alarm_bytes;
  if (is_long && !log_is_long_) {
    Log(LogLevel::kWarning, "store_log_is_long",
        {{"bytes", absl::StrCat(pages * kStorePageBytes)}});
  }
  log_is_long_ = is_long;
}

absl::StatusOr<bool> SqliteStore::Tend() {
  slot_.Take();
  absl::StatusOr<bool> more = false;
  absl::Status status = failure_;
  if (status.ok()) status = files_.Check();
  if (status.ok()) {
    more = ReturnPages();
    status = more.status();
  }
  Failed(status);
  slot_.Give();
  RETURN_IF_ERROR(status);
  return more;
}

// Gives pages back. The file gets shorter only when all of the log is in it. A
// reader that looks at earlier rows prevents that; then each call tries again.
absl::StatusOr<bool> SqliteStore::ReturnPages() {
  ASSIGN_OR_RETURN(const bool some, HasPagesToReturn());
  if (!some) {
    if (returned_pages_ > 0) MoveLog();
    return false;
  }
  const std::int64_t before = free_pages_;
  const absl::Status returned = writer_->Execute(kReturnSlice);
  // There is no room for the log, which comes first.
  if (HasErrorId(returned, ErrorId::kStoreFull)) return false;
  RETURN_IF_ERROR(returned);
  RETURN_IF_ERROR(CountFreePages());
  returned_pages_ += before - free_pages_;
  Committed();
  ASSIGN_OR_RETURN(const bool more, HasPagesToReturn());
  if (!more) MoveLog();
  return more;
}

absl::StatusOr<bool> SqliteStore::HasPagesToReturn() {
  if (!returns_pages_ || free_pages_ <= kFreePagesKept) return false;
  ASSIGN_OR_RETURN(const std::int64_t pages,
                   writer_->ReadInt("PRAGMA page_count"));
  return free_pages_ > pages / kShareKept;
}

}  // namespace frostline::storage

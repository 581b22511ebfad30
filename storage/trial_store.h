// SPDX-License-Identifier: Apache-2.0
//
// File: trial_store.h
//
// The seam to a database: all that a store promises. Every backend passes
// tests/contract/trial_store_contract.h.
//
// Writing: one thread at a time holds a Transaction with several requests, each
// in an Operation(). Nobody may be told OK before Commit() has returned OK.
// After any error but STORE_FULL, STORE_BUSY or a deferred one, the process
// must stop: it cannot know what is on disk.
//
// Leading: when several coordinators use one store, the last one to take the
// lead writes. It gives the epoch from TakeLead() to every Begin(), and the
// store compares it at a point where no other process can commit in between.
// When any call of a transaction returns NOT_LEADER, nothing of the transaction
// has happened, and the process must stop: its memory is out of date.
//
// Deferring: a store that is reached over a network may return OK for a write
// and keep for Commit() an error that contradicts the writer's memory:
// LEASE_LOST, TRIAL_NOT_FOUND, STUDY_NOT_FOUND, ETAG_MISMATCH,
// REQUEST_ID_REUSED (IsDeferrable()), and NOT_LEADER. Commit() then returns the
// first of them and undoes the whole transaction, other operations too. Unless
// it is NOT_LEADER, the writer loads its memory again and tells all callers to
// try again. The key of a new study, STUDY_ALREADY_EXISTS and REPORT_CONFLICT
// cannot be had by loading again, so these are never deferred. INTERNAL, a bug,
// may come late and ends the process.
//
// Reading: any thread may read at any time, without waiting for the writer.
// Each call sees one snapshot of committed rows.
//
// Every call may also return STORE_IO, STORE_CORRUPT, STORE_REMOVED, STORE_FULL
// and STORE_BUSY. After the last two nothing of the transaction has happened:
// roll it back, and perhaps try again.
#ifndef FROSTLINE_STORAGE_TRIAL_STORE_H_
#define FROSTLINE_STORAGE_TRIAL_STORE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "storage/rows.h"

namespace frostline::storage {

// Which studies to list, by rising key.
struct StudyQuery {
  bool with_deleted = false;
  StudyKey after = 0;  // the last key already seen
  int limit = 100;
};

// Which trials to list, and in which order.
struct TrialQuery {
  enum class Order { kNumber, kRevision };
  StudyKey study = 0;
  std::vector<TrialState> states = {};  // empty: all
  Order order = Order::kNumber;
  std::int64_t after = -1;  // the last number or revision already seen
  int limit = 100;
};

// Which measurements to list, by rising step.
struct MeasurementQuery {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::int64_t after_step = -1;
  int limit = 1000;
};

// A condition: the trial is updated only if it still holds.
struct TrialGuard {
  TrialState state = TrialState::kRunning;
  std::int64_t attempt = 0;
  // The secret that the worker showed, checked if there is one.
  std::optional<SecretString> secret;
};

// Writes that become durable together, at Commit().
class Transaction {
 public:
  // Rolls back unless Commit() was called.
  virtual ~Transaction() = default;

  // Runs `body`; when that returns an error, undoes what it wrote and returns
  // the error, and the transaction goes on. Operations do not nest.
  virtual absl::Status Operation(absl::FunctionRef<absl::Status()> body) = 0;

  // Inserts a study and returns the key that the store gives it. The error is
  // STUDY_ALREADY_EXISTS when a study that is not deleted has the id.
  virtual absl::StatusOr<StudyKey> InsertStudy(const StudyRow& study) = 0;
  // Replaces all but key, id, spec, seed and created, if the stored etag is
  // `expected_etag`. Else the error is ETAG_MISMATCH or STUDY_NOT_FOUND. It is
  // STUDY_ALREADY_EXISTS when the change would bring the study back although
  // another one that is not deleted has its id.
  virtual absl::Status UpdateStudy(const StudyRow& study,
                                   std::int64_t expected_etag) = 0;
  // Removes up to `most` rows of a deleted study and of what belongs to it, the
  // study's own row last, and returns whether any is left. So a long purge is
  // many short transactions, and goes on after a restart. The error is
  // STUDY_NOT_FOUND when not even the study's row is there.
  virtual absl::StatusOr<bool> PurgeStudy(StudyKey study,
                                          std::int64_t most) = 0;

  // The error is INTERNAL, a bug, when the number exists or the study does not.
  virtual absl::Status InsertTrial(const TrialRow& trial) = 0;
  // Replaces all but study, number, origin, point and created, if `guard` holds
  // for the stored row. Else the error is LEASE_LOST or TRIAL_NOT_FOUND.
  virtual absl::Status UpdateTrial(const TrialRow& trial,
                                   const TrialGuard& guard) = 0;

  // Inserts or replaces by (study, number, attempt). The error is INTERNAL
  // unless the trial is stored at this attempt or a later one.
  virtual absl::Status PutAttempt(const AttemptRow& attempt) = 0;
  // Inserts by (study, number, attempt, step), on the condition of
  // PutAttempt(). A row that exists is skipped when its metrics are equal
  // (SameMetrics()), else the error is REPORT_CONFLICT. NaN and infinities are
  // kept.
  virtual absl::Status AddMeasurements(
      const std::vector<MeasurementRow>& rows) = 0;
  // Inserts or replaces by (study, number). The error is INTERNAL unless the
  // trial is stored.
  virtual absl::Status PutOutcome(const OutcomeRow& outcome) = 0;
  // Inserts or replaces as PutAttempt() does, on the same condition.
  virtual absl::Status PutLog(const LogRow& log) = 0;
  // Inserts or replaces by study. The error is INTERNAL unless the study is
  // stored.
  virtual absl::Status PutSummary(const SummaryRow& summary) = 0;
  // Inserts or replaces as PutOutcome() does, on the same condition.
  virtual absl::Status PutBest(const BestRow& best) = 0;
  // Inserts or replaces by id, without a condition.
  virtual absl::Status PutWorker(const WorkerRow& worker) = 0;
  // Does nothing when there is none.
  virtual absl::Status ForgetWorker(const std::string& id) = 0;
  // Inserts or replaces by id, without a condition.
  virtual absl::Status PutToken(const TokenRow& token) = 0;
  virtual absl::Status PutCertificate(const CertificateRow& certificate) = 0;
  // Inserts or replaces by its first entry, without a condition.
  virtual absl::Status PutAudit(const AuditRow& entries) = 0;
  // Removes the rows that begin before this entry.
  virtual absl::Status ForgetAuditBefore(std::int64_t first) = 0;
  // Inserts or replaces by id, without a condition.
  virtual absl::Status PutNotification(const NotificationRow& notification) = 0;
  // Does nothing when there is none.
  virtual absl::Status ForgetNotification(const std::string& id) = 0;
  // The error is REQUEST_ID_REUSED when the id exists.
  virtual absl::Status RememberReply(const ReplyRow& reply) = 0;
  // Removes up to `most` replies, and returns whether some may be left.
  virtual absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                                   std::int64_t most) = 0;

  // Makes the transaction durable; when the result is OK it is. The transaction
  // is over either way.
  virtual absl::Status Commit() = 0;
};

// What may still begin, by the room on this disk. Each level also forbids what
// the levels above it forbid.
enum class Room {
  kAmple,         // everything
  kNoNewStudies,  // studies that exist may go on
  kNoNewLeases,   // trials that run may end
};

// How full the disk is.
struct DiskRoom {
  Room room = Room::kAmple;
  std::int64_t free_bytes = 0;
};

// What a checked copy holds.
struct BackupReport {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t studies = 0;
  std::int64_t trials = 0;
};

// A store of studies and trials. The top of this file says what it promises.
class TrialStore {
 public:
  virtual ~TrialStore() = default;

  // Raises the stored epoch by one and returns it. When the result is OK it is
  // durable. Blocks while a transaction is open.
  virtual absl::StatusOr<Epoch> TakeLead() = 0;
  // Returns the stored epoch, 0 if nobody has led this store yet.
  virtual absl::StatusOr<Epoch> FindLead() const = 0;

  // Begins a transaction; blocks while another one is open. The error is
  // NOT_LEADER unless `epoch` is the stored one, which then cannot change until
  // the transaction is over.
  virtual absl::StatusOr<std::unique_ptr<Transaction>> Begin(Epoch epoch) = 0;

  // The error is STUDY_NOT_FOUND for an unknown or deleted id.
  virtual absl::StatusOr<StudyRow> FindStudy(const std::string& id) const = 0;
  virtual absl::StatusOr<std::vector<StudyRow>> ListStudies(
      const StudyQuery& query) const = 0;
  // The error may be TRIAL_NOT_FOUND.
  virtual absl::StatusOr<TrialRow> FindTrial(StudyKey study,
                                             std::int64_t number) const = 0;
  // Returns trials in the query's order.
  virtual absl::StatusOr<std::vector<TrialRow>> ListTrials(
      const TrialQuery& query) const = 0;
  // Returns the attempts in rising order.
  virtual absl::StatusOr<std::vector<AttemptRow>> ListAttempts(
      StudyKey study, std::int64_t number) const = 0;
  // Returns the attempts that an Acquire was answered with, by rising study,
  // number and attempt. For an empty id there are none.
  virtual absl::StatusOr<std::vector<AttemptRow>> ListGranted(
      const std::string& request_id) const = 0;
  // Returns summaries by rising study.
  virtual absl::StatusOr<std::vector<SummaryRow>> ListSummaries(
      StudyKey after, int limit) const = 0;
  // Returns trials by rising number.
  virtual absl::StatusOr<std::vector<BestRow>> ListBest(StudyKey study,
                                                        std::int64_t after,
                                                        int limit) const = 0;
  // Returns measurements by rising step.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const MeasurementQuery& query) const = 0;
  virtual absl::StatusOr<std::optional<OutcomeRow>> FindOutcome(
      StudyKey study, std::int64_t number) const = 0;
  virtual absl::StatusOr<std::optional<LogRow>> FindLog(
      StudyKey study, std::int64_t number, std::int64_t attempt) const = 0;
  // Returns workers by rising id.
  virtual absl::StatusOr<std::vector<WorkerRow>> ListWorkers(
      const std::string& after, int limit) const = 0;
  // Returns tokens by rising id.
  virtual absl::StatusOr<std::vector<TokenRow>> ListTokens(
      const std::string& after, int limit) const = 0;
  virtual absl::StatusOr<std::vector<CertificateRow>> ListCertificates(
      const std::string& after, int limit) const = 0;
  // Returns rows whose first entry is above `after`, in rising order; the
  // lowest one is kAuditMoved.
  virtual absl::StatusOr<std::vector<AuditRow>> ListAudit(std::int64_t after,
                                                          int limit) const = 0;
  // Returns notifications by rising id.
  virtual absl::StatusOr<std::vector<NotificationRow>> ListNotifications(
      const std::string& after, int limit) const = 0;
  virtual absl::StatusOr<std::optional<ReplyRow>> FindReply(
      const std::string& request_id) const = 0;

  // Returns how much room is left. Any thread asks before new work is taken, so
  // this is cheap. A store without a disk has ample room.
  virtual DiskRoom RoomLeft() const = 0;

  // Copies what is committed at one moment to `path`, which must not exist.
  // Only a copy that was checked as a whole appears there. Any thread may call
  // it; writers go on. The error is STORE_UNWRITABLE, or METHOD_NOT_BUILT from
  // a store that keeps nothing.
  virtual absl::StatusOr<BackupReport> Backup(
      const std::string& path) const = 0;

  // Gives unused room back to the disk, a slice at a time, and returns whether
  // there is more. The writing thread calls it now and then, with no
  // transaction open. The error is STORE_REMOVED, as for every commit, when the
  // files are no longer where they were opened.
  virtual absl::StatusOr<bool> Tend() = 0;

  // Returns the key from which lease secrets are computed. It is the same in
  // each life of the store, and not among its rows, so that no backup holds it.
  // The error is STORE_UNWRITABLE when others may read it.
  virtual absl::StatusOr<SecretString> LeaseKey() = 0;

  // Notes that a coordinator starts at `now`, and returns when the last ones
  // did. A start that cannot be noted is left out, since no promise depends on
  // it.
  virtual std::vector<WallMicros> NoteStart(WallMicros now) = 0;

  // Returns a text for people: "memory", "sqlite 3.40.1
  // /data/frostline.sqlite".
  virtual std::string Describe() const = 0;
};

// Functions that visit all rows page by page, so that memory does not grow.
// Each sets `query.limit`, and ends with the first error of the store or of
// `visit`.

inline constexpr int kScanPage = 1'000;

absl::Status ForEachStudy(
    const TrialStore& store, StudyQuery query,
    absl::FunctionRef<absl::Status(const StudyRow&)> visit);
absl::Status ForEachTrial(
    const TrialStore& store, TrialQuery query,
    absl::FunctionRef<absl::Status(const TrialRow&)> visit);
absl::Status ForEachMeasurement(
    const TrialStore& store, MeasurementQuery query,
    absl::FunctionRef<absl::Status(const Measurement&)> visit);

absl::Status ForEachSummary(
    const TrialStore& store,
    absl::FunctionRef<absl::Status(const SummaryRow&)> visit);
absl::Status ForEachBest(const TrialStore& store, StudyKey study,
                         absl::FunctionRef<absl::Status(const BestRow&)> visit);

// The amounts at which a store, of any backend, changes its behaviour.
struct StoreLimits {
  // With less free space than these, the store is at Room::kNoNewStudies or
  // Room::kNoNewLeases.
  std::int64_t no_new_studies_bytes = std::int64_t{1} << 30;
  std::int64_t no_new_leases_bytes = std::int64_t{256} << 20;
  // Room that is given up on a full disk, so that results can still be written.
  std::int64_t ballast_bytes = std::int64_t{64} << 20;
  // How much log (1,000 pages are 4 MiB) is moved to the database at once. With
  // fewer pages the database is synced more often; with more, the commit that
  // does it takes longer.
  int pages_per_checkpoint = 1000;
  // With a longer log, which some reader must be holding, there is one warning.
  std::int64_t log_alarm_bytes = std::int64_t{64} << 20;
  // A longer read is ended, since the log grows while it lasts.
  Duration longest_read = std::chrono::seconds(1);
};

absl::Status StudyNotFound(const std::string& id);
absl::Status StudyKeyNotFound(StudyKey key);
absl::Status StudyAlreadyExists(const std::string& id);
absl::Status EtagMismatch(const StudyRow& stored, std::int64_t expected_etag);
absl::Status TrialNotFound(std::int64_t number);
absl::Status LeaseLost(const TrialRow& stored);
absl::Status ReportConflict(const MeasurementRow& row);
absl::Status RequestIdReused(const std::string& request_id);
absl::Status NotLeader(Epoch stored, Epoch shown);

// Says whether a store may defer this error to Commit() while the process goes
// on after it. NOT_LEADER may come as late, but ends the process.
bool IsDeferrable(const absl::Status& refusal);
// Returns the error for all requests that a deferred `refusal` undid, since
// only one of them has lost its lease.
absl::Status GroupUndone(const absl::Status& refusal);

// Errors of the store itself.
absl::Status StoreFull(const std::string& cause);
absl::Status StoreCorrupt(const std::string& cause);
absl::Status StoreIo(const std::string& cause);

// Says whether the store itself failed, not the request: the transaction is
// lost.
bool IsStoreFailure(const absl::Status& status);
// Says whether nobody can know what is on disk.
bool IsFatal(const absl::Status& status);

// Errors that are bugs of ours.
absl::Status RowExists(const std::string& row);
absl::Status RowIsOrphan(const std::string& row);
absl::Status TransactionIsOver();

// Returns "trial 17 of study 3".
std::string DescribeTrial(StudyKey study, std::int64_t number);

// Compares metrics: NaN equals NaN, and 0.0 equals -0.0.
bool SameMetrics(const Metrics& a, const Metrics& b);

// The right to write, which one caller at a time has. It is no mutex, since a
// transaction may give it back on another thread.
class WriterSlot {
 public:
  // Blocks while another caller has it.
  void Take() {
    const MutexLock lock(&mutex_);
    while (taken_) given_back_.Wait(&mutex_);
    taken_ = true;
  }

  void Give() {
    {
      const MutexLock lock(&mutex_);
      taken_ = false;
    }
    given_back_.Signal();
  }

 private:
  Mutex mutex_;
  CondVar given_back_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_TRIAL_STORE_H_

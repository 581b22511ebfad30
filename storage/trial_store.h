// SPDX-License-Identifier: Apache-2.0
//
// File: trial_store.h
//
// Every backend passes tests/contract/trial_store_contract.h.
//
// Writing: one thread at a time holds a Transaction with several requests, each
// in an Operation(). Nobody may be told OK before Commit() has returned OK.
// After any failure but STORE_FULL, STORE_BUSY or a deferred refusal the
// process must stop: it cannot know what is on disk.
//
// Leading: of several coordinators on one store the last to take the lead
// writes. It shows the epoch from TakeLead() to every Begin(), and the store
// compares it where no other process can commit in between. After NOT_LEADER,
// from any call of a transaction, nothing of it happened, and the process must
// stop: its memory is out of date.
//
// Deferring: a store that is a network away may answer a write with OK and keep
// for Commit() a refusal that contradicts the writer's memory: LEASE_LOST,
// TRIAL_NOT_FOUND, STUDY_NOT_FOUND, ETAG_MISMATCH, REQUEST_ID_REUSED
// (IsDeferrable()), and NOT_LEADER. Commit() then answers the first of them and
// undoes the whole transaction, other operations too. Unless it is NOT_LEADER
// the writer loads its memory again and tells all to try again. No reload
// brings the key of a new study, STUDY_ALREADY_EXISTS or REPORT_CONFLICT, so
// they are never deferred. INTERNAL, a bug, may come late and ends the process.
//
// Reading: any thread reads at any time, without waiting for the writer. Each
// call sees one snapshot, of committed rows only.
//
// Every call may also answer STORE_IO, STORE_CORRUPT, STORE_REMOVED, STORE_FULL
// and STORE_BUSY. After the last two nothing of the transaction happened: roll
// back, and perhaps try again.
#ifndef FROSTLINE_STORAGE_TRIAL_STORE_H_
#define FROSTLINE_STORAGE_TRIAL_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/rows.h"

namespace frostline::storage {

struct StudyQuery {
  bool with_deleted = false;
  StudyKey after = 0;  // last key already seen
  int limit = 100;
};

struct TrialQuery {
  enum class Order { kNumber, kRevision };
  StudyKey study = 0;
  std::vector<TrialState> states = {};  // empty: all
  Order order = Order::kNumber;
  std::int64_t after = -1;  // last number or revision already seen
  int limit = 100;
};

struct MeasurementQuery {
  StudyKey study = 0;
  std::int64_t number = 0;
  std::int64_t attempt = 0;
  std::int64_t after_step = -1;
  int limit = 1000;
};

// An update of a trial happens only if this still holds.
struct TrialGuard {
  TrialState state = TrialState::kRunning;
  std::int64_t attempt = 0;
  // A worker's write must show it; it is checked when present.
  std::optional<SecretString> secret;
};

class Transaction {
 public:
  // Rolls back unless Commit() was called.
  virtual ~Transaction() = default;

  // Undoes what `body` wrote when it returns an error, and returns that; the
  // transaction goes on. Operations do not nest.
  virtual absl::Status Operation(absl::FunctionRef<absl::Status()> body) = 0;

  // The store gives the key. It answers STUDY_ALREADY_EXISTS when a study that
  // is not deleted has the id.
  virtual absl::StatusOr<StudyKey> InsertStudy(const StudyRow& study) = 0;
  // Replaces all but key, id, spec, seed and created, if the stored etag is
  // `expected_etag`, else it answers ETAG_MISMATCH, or STUDY_NOT_FOUND. It
  // answers STUDY_ALREADY_EXISTS when the study would come back over one that
  // is not deleted.
  virtual absl::Status UpdateStudy(const StudyRow& study,
                                   std::int64_t expected_etag) = 0;
  // Removes up to `most` rows of the study, which is deleted, and of what
  // belongs to it, its own row last, and says whether any is left: so a long
  // purge is many short transactions, and goes on after a restart. It answers
  // STUDY_NOT_FOUND when not even the study's row is there.
  virtual absl::StatusOr<bool> PurgeStudy(StudyKey study,
                                          std::int64_t most) = 0;

  // It is INTERNAL, a bug, when the number is there or the study is not.
  virtual absl::Status InsertTrial(const TrialRow& trial) = 0;
  // Replaces all but study, number, origin, point and created, if `guard` holds
  // for the stored row, else it answers LEASE_LOST, or TRIAL_NOT_FOUND.
  virtual absl::Status UpdateTrial(const TrialRow& trial,
                                   const TrialGuard& guard) = 0;

  // Inserts or replaces by (study, number, attempt). It is INTERNAL unless the
  // trial is stored at this attempt or a later one.
  virtual absl::Status PutAttempt(const AttemptRow& attempt) = 0;
  // Inserts by (study, number, attempt, step), under the guard of PutAttempt().
  // A row that is there is skipped when its metrics are equal (SameMetrics()),
  // else it is REPORT_CONFLICT. NaN and infinities are kept.
  virtual absl::Status AddMeasurements(
      const std::vector<MeasurementRow>& rows) = 0;
  // Inserts or replaces by (study, number). It is INTERNAL unless the trial is
  // stored.
  virtual absl::Status PutOutcome(const OutcomeRow& outcome) = 0;
  // Puts as PutAttempt() does, under its guard.
  virtual absl::Status PutLog(const LogRow& log) = 0;
  // Inserts or replaces by study. It is INTERNAL unless the study is stored.
  virtual absl::Status PutSummary(const SummaryRow& summary) = 0;
  // Puts as PutOutcome() does, under its guard.
  virtual absl::Status PutBest(const BestRow& best) = 0;
  // Inserts or replaces by id, unguarded: the last word counts.
  virtual absl::Status PutWorker(const WorkerRow& worker) = 0;
  // It is no error when there is none.
  virtual absl::Status ForgetWorker(const std::string& id) = 0;
  // Inserts or replaces by id, unguarded.
  virtual absl::Status PutToken(const TokenRow& token) = 0;
  virtual absl::Status PutCertificate(const CertificateRow& certificate) = 0;
  // Inserts or replaces by its first entry, unguarded.
  virtual absl::Status PutAudit(const AuditRow& entries) = 0;
  // Forgets what begins before this entry.
  virtual absl::Status ForgetAuditBefore(std::int64_t first) = 0;
  // Inserts or replaces by id, unguarded.
  virtual absl::Status PutNotification(const NotificationRow& notification) = 0;
  // It is no error when there is none.
  virtual absl::Status ForgetNotification(const std::string& id) = 0;
  // Answers REQUEST_ID_REUSED when the id is there.
  virtual absl::Status RememberReply(const ReplyRow& reply) = 0;
  // Forgets up to `most`, and says whether some may be left.
  virtual absl::StatusOr<bool> ForgetRepliesBefore(WallMicros time,
                                                   std::int64_t most) = 0;

  // The transaction is durable when OK, and over either way.
  virtual absl::Status Commit() = 0;
};

// Each level forbids what those above it do, too.
enum class Room {
  kAmple,         // everything
  kNoNewStudies,  // what is there may go on
  kNoNewLeases,   // what runs may end
};

struct DiskRoom {
  Room room = Room::kAmple;
  std::int64_t free_bytes = 0;
};

struct BackupReport {
  std::string path;
  std::int64_t bytes = 0;
  std::int64_t studies = 0;
  std::int64_t trials = 0;
};

class TrialStore {
 public:
  virtual ~TrialStore() = default;

  // Raises the stored epoch by one and returns it; it is durable when OK. It
  // blocks while a transaction is open.
  virtual absl::StatusOr<Epoch> TakeLead() = 0;
  // Returns the stored epoch, 0 when nobody has led this store.
  virtual absl::StatusOr<Epoch> FindLead() const = 0;

  // Blocks while another transaction is open. It answers NOT_LEADER unless
  // `epoch` is the stored one, which stays until the transaction is over.
  virtual absl::StatusOr<std::unique_ptr<Transaction>> Begin(Epoch epoch) = 0;

  // Answers STUDY_NOT_FOUND for an unknown or deleted id.
  virtual absl::StatusOr<StudyRow> FindStudy(const std::string& id) const = 0;
  virtual absl::StatusOr<std::vector<StudyRow>> ListStudies(
      const StudyQuery& query) const = 0;
  // May answer TRIAL_NOT_FOUND.
  virtual absl::StatusOr<TrialRow> FindTrial(StudyKey study,
                                             std::int64_t number) const = 0;
  // Lists rise in the query's order.
  virtual absl::StatusOr<std::vector<TrialRow>> ListTrials(
      const TrialQuery& query) const = 0;
  // They rise by attempt.
  virtual absl::StatusOr<std::vector<AttemptRow>> ListAttempts(
      StudyKey study, std::int64_t number) const = 0;
  // Lists those that an Acquire was answered with; they rise by study, number
  // and attempt. None has the empty id.
  virtual absl::StatusOr<std::vector<AttemptRow>> ListGranted(
      const std::string& request_id) const = 0;
  // They rise by study.
  virtual absl::StatusOr<std::vector<SummaryRow>> ListSummaries(
      StudyKey after, int limit) const = 0;
  // They rise by number.
  virtual absl::StatusOr<std::vector<BestRow>> ListBest(StudyKey study,
                                                        std::int64_t after,
                                                        int limit) const = 0;
  // They rise by step.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const MeasurementQuery& query) const = 0;
  virtual absl::StatusOr<std::optional<OutcomeRow>> FindOutcome(
      StudyKey study, std::int64_t number) const = 0;
  virtual absl::StatusOr<std::optional<LogRow>> FindLog(
      StudyKey study, std::int64_t number, std::int64_t attempt) const = 0;
  // They rise by id.
  virtual absl::StatusOr<std::vector<WorkerRow>> ListWorkers(
      const std::string& after, int limit) const = 0;
  // They rise by id.
  virtual absl::StatusOr<std::vector<TokenRow>> ListTokens(
      const std::string& after, int limit) const = 0;
  virtual absl::StatusOr<std::vector<CertificateRow>> ListCertificates(
      const std::string& after, int limit) const = 0;
  // They rise by their first entry, from behind `after`; kAuditMoved is the
  // lowest.
  virtual absl::StatusOr<std::vector<AuditRow>> ListAudit(std::int64_t after,
                                                          int limit) const = 0;
  // They rise by id.
  virtual absl::StatusOr<std::vector<NotificationRow>> ListNotifications(
      const std::string& after, int limit) const = 0;
  virtual absl::StatusOr<std::optional<ReplyRow>> FindReply(
      const std::string& request_id) const = 0;

  // Any thread asks before new work is taken, so it is cheap. A store without a
  // disk has ample room.
  virtual DiskRoom RoomLeft() const = 0;

  // Copies what is committed at one moment to `path`, which must not exist;
  // only a copy that was checked whole is ever there. Any thread may call it;
  // writers go on. It answers STORE_UNWRITABLE, or METHOD_NOT_BUILT from a
  // store that keeps nothing.
  virtual absl::StatusOr<BackupReport> Backup(
      const std::string& path) const = 0;

  // The writing thread calls it now and then, with no transaction open. The
  // store gives unused room back to the disk, a slice at a time, and says
  // whether there is more. It answers STORE_REMOVED, as every commit does, when
  // what it writes is no longer where it was opened.
  virtual absl::StatusOr<bool> Tend() = 0;

  // Returns what lease secrets are computed from: the same in each life of the
  // store, and not among its rows, so that no backup holds it. STORE_UNWRITABLE
  // says that others may read it.
  virtual absl::StatusOr<SecretString> LeaseKey() = 0;

  // Notes that a coordinator starts at `now`, and returns when the last ones
  // did. One that cannot be noted is left out: no promise hangs on it.
  virtual std::vector<WallMicros> NoteStart(WallMicros now) = 0;

  // Tells people "memory", "sqlite 3.40.1 /data/frostline.sqlite".
  virtual std::string Describe() const = 0;
};

// A walk goes page by page, so that memory does not grow. It sets
// `query.limit`, and ends with the first error of the store or of `visit`.

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

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_TRIAL_STORE_H_

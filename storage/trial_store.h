// SPDX-License-Identifier: Apache-2.0
//
// File: trial_store.h
//
// The seam of storage. Every backend (memory/, sqlite/, …) passes the one suite
// tests/contract/trial_store_contract.h.
//
// Writing: one thread at a time holds a Transaction and puts several requests
// into it, each inside Operation(), so that a request that fails leaves no
// trace and does not harm its neighbours. Nothing is durable, and nobody may be
// told OK, before Commit() has returned OK. When Commit() fails with STORE_IO
// or STORE_CORRUPT the process must stop: it cannot know what is on disk.
//
// Leading: of several coordinators on one store the one that took the lead last
// writes. TakeLead() gives it an epoch, which it shows to every Begin(); the
// store compares it with the stored one where no other process can commit in
// between. After NOT_LEADER, from any call of a transaction, nothing of the
// transaction happened, and the process must stop: another one leads, and what
// this one has in memory is out of date.
//
// Deferring: a store that is a network away may send writes without waiting and
// answer OK at once. What it may then keep for Commit() are the refusals that
// contradict the writer's memory: LEASE_LOST, TRIAL_NOT_FOUND, STUDY_NOT_FOUND,
// ETAG_MISMATCH, REQUEST_ID_REUSED (IsDeferrable() in store_errors.h), and
// NOT_LEADER. Commit() then answers the first of them, and the whole
// transaction is undone, other operations too: the writer loads its memory
// again and tells everybody to try again. Answered at once, always: the key of
// a new study, STUDY_ALREADY_EXISTS and REPORT_CONFLICT, since those are news
// to a client that no reload would bring. INTERNAL, a bug, may come late and
// ends the process.
//
// Reading: any thread, at any time, without waiting for the writer. Each call
// sees one snapshot, of committed rows only, and returns copies.
//
// Errors of every call, besides those named: STORE_IO, STORE_CORRUPT,
// STORE_FULL (nothing of the transaction happened; roll back).
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
#include "storage/queries.h"
#include "storage/rows.h"

namespace frostline::storage {

// What must still hold for an update of a trial to happen.
struct TrialGuard {
  TrialState state = TrialState::kRunning;
  std::int64_t attempt = 0;
  // Checked when present: a worker's write must show the attempt's secret.
  std::optional<SecretString> secret;
};

class Transaction {
 public:
  // Rolls back unless Commit() was called.
  virtual ~Transaction() = default;

  // Runs `body`; when it returns an error everything it wrote is undone, the
  // transaction goes on, and the error is returned. Not nested.
  virtual absl::Status Operation(absl::FunctionRef<absl::Status()> body) = 0;

  // STUDY_ALREADY_EXISTS when a study that is not deleted has the id.
  virtual absl::StatusOr<StudyKey> InsertStudy(const StudyRow& study) = 0;
  // Everything but key, id, spec, seed and created. ETAG_MISMATCH unless the
  // stored etag is `expected_etag`; `study.etag` is stored.
  virtual absl::Status UpdateStudy(const StudyRow& study,
                                   std::int64_t expected_etag) = 0;
  // Removes the study and all that belongs to it. STUDY_NOT_FOUND.
  virtual absl::Status PurgeStudy(StudyKey study) = 0;

  // A number that exists already is a bug of the caller: INTERNAL.
  virtual absl::Status InsertTrial(const TrialRow& trial) = 0;
  // Replaces all of the trial's row but study, number, origin, point and
  // created, if `guard` holds for the stored row; LEASE_LOST when it does not,
  // TRIAL_NOT_FOUND when there is no such trial. This is the fence.
  virtual absl::Status UpdateTrial(const TrialRow& trial,
                                   const TrialGuard& guard) = 0;

  // Inserts or replaces by (study, number, attempt). The trial must be stored
  // at this attempt or a later one, else INTERNAL: nobody can have begun it.
  virtual absl::Status PutAttempt(const AttemptRow& attempt) = 0;
  // Inserts by (study, number, attempt, step), under the guard of PutAttempt().
  // A row that is there with equal metrics is skipped; with others the answer
  // is REPORT_CONFLICT. NaN and infinities are kept.
  virtual absl::Status AddMeasurements(
      const std::vector<MeasurementRow>& rows) = 0;
  // Inserts or replaces by (study, number). The trial must be stored, else
  // INTERNAL.
  virtual absl::Status PutOutcome(const OutcomeRow& outcome) = 0;
  // Inserts or replaces by (study, number, attempt), under the guard of
  // PutAttempt().
  virtual absl::Status PutLog(const LogRow& log) = 0;
  // Inserts or replaces by id. No guard but the lead: its last word counts.
  virtual absl::Status PutWorker(const WorkerRow& worker) = 0;
  // REQUEST_ID_REUSED when the id is there.
  virtual absl::Status RememberReply(const ReplyRow& reply) = 0;
  // No guard but the lead.
  virtual absl::Status ForgetRepliesBefore(WallMicros time) = 0;

  // Durable when OK. The transaction is over either way. A refusal that the
  // store has deferred: nothing of the transaction happened.
  virtual absl::Status Commit() = 0;
};

// What the disk has room for. Each level forbids what those above it do, too.
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

  // Raises the stored epoch by one and returns it; durable when OK. Nobody else
  // can begin a transaction from now on. Blocks while one is open.
  virtual absl::StatusOr<Epoch> TakeLead() = 0;
  // What TakeLead() last returned to anybody; 0: nobody has led this store.
  virtual absl::StatusOr<Epoch> FindLead() const = 0;

  // Blocks while another transaction is open. NOT_LEADER unless `epoch` is what
  // TakeLead() last returned; it stays so until the transaction is over.
  virtual absl::StatusOr<std::unique_ptr<Transaction>> Begin(Epoch epoch) = 0;

  // STUDY_NOT_FOUND for an unknown or deleted id.
  virtual absl::StatusOr<StudyRow> FindStudy(const std::string& id) const = 0;
  virtual absl::StatusOr<std::vector<StudyRow>> ListStudies(
      const StudyQuery& query) const = 0;
  // TRIAL_NOT_FOUND.
  virtual absl::StatusOr<TrialRow> FindTrial(StudyKey study,
                                             std::int64_t number) const = 0;
  // Ascending by the query's order.
  virtual absl::StatusOr<std::vector<TrialRow>> ListTrials(
      const TrialQuery& query) const = 0;
  // Ascending by attempt.
  virtual absl::StatusOr<std::vector<AttemptRow>> ListAttempts(
      StudyKey study, std::int64_t number) const = 0;
  // Ascending by step.
  virtual absl::StatusOr<std::vector<Measurement>> ListMeasurements(
      const MeasurementQuery& query) const = 0;
  virtual absl::StatusOr<std::optional<OutcomeRow>> FindOutcome(
      StudyKey study, std::int64_t number) const = 0;
  virtual absl::StatusOr<std::optional<LogRow>> FindLog(
      StudyKey study, std::int64_t number, std::int64_t attempt) const = 0;
  // Ascending by id.
  virtual absl::StatusOr<std::vector<WorkerRow>> ListWorkers(
      const std::string& after, int limit) const = 0;
  virtual absl::StatusOr<std::optional<ReplyRow>> FindReply(
      const std::string& request_id) const = 0;

  // Any thread, and cheap: asked before new work is taken. A store without a
  // disk has ample room.
  virtual DiskRoom RoomLeft() const = 0;

  // Copies what is committed at one moment to `path`, which must not exist, and
  // checks the copy whole; half a copy is never at `path`. Any thread; takes
  // long; writers go on meanwhile. STORE_UNWRITABLE; METHOD_NOT_BUILT from a
  // store that keeps nothing.
  virtual absl::StatusOr<BackupReport> Backup(
      const std::string& path) const = 0;

  // For people: "memory", "sqlite 3.40.1 /data/frostline.sqlite".
  virtual std::string Describe() const = 0;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_TRIAL_STORE_H_

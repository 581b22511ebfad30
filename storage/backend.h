// SPDX-License-Identifier: Apache-2.0
//
// File: backend.h
//
// What every backend shares: the amounts at which it changes its behaviour, its
// errors, and the place of the one writer.
#ifndef FROSTLINE_STORAGE_BACKEND_H_
#define FROSTLINE_STORAGE_BACKEND_H_

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::storage {

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
  // A longer log, which some reader must be holding, is warned of once.
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

// Errors that are bugs of ours.
absl::Status RowExists(const std::string& row);
absl::Status RowIsOrphan(const std::string& row);
absl::Status TransactionIsOver();

// Returns "trial 17 of study 3".
std::string DescribeTrial(StudyKey study, std::int64_t number);

// Compares metrics: NaN equals NaN, and 0.0 equals -0.0.
bool SameMetrics(const Metrics& a, const Metrics& b);

// The place of the one writer. It is no mutex, since a transaction may give it
// back on another thread.
class WriterSlot {
 public:
  // Blocks while another caller has the place.
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

#endif  // FROSTLINE_STORAGE_BACKEND_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: backend.h
//
// What every backend shares: amounts at which it changes its behaviour, its
// refusals, and the place of the one writer.
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
  // With less free than this it is Room::kNoNewStudies, Room::kNoNewLeases.
  std::int64_t no_new_studies_bytes = std::int64_t{1} << 30;
  std::int64_t no_new_leases_bytes = std::int64_t{256} << 20;
  // It is given up on a full disk, so that results still get in.
  std::int64_t ballast_bytes = std::int64_t{64} << 20;
  // These are 4 MiB of log. Fewer sync the database more often, more make the
  // commit that pays for it slower.
  int pages_per_checkpoint = 1000;
  // A longer log, which some reader must hold, is warned of once.
  std::int64_t log_alarm_bytes = std::int64_t{64} << 20;
  // A longer read is ended, for while it lasts the log grows.
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

// Says whether a store may keep this refusal for Commit(), and the process goes
// on after it: NOT_LEADER may come as late, but ends it.
bool IsDeferrable(const absl::Status& refusal);
// It is for all whose request a deferred `refusal` undid: only one has lost its
// lease.
absl::Status GroupUndone(const absl::Status& refusal);

// These are our own bugs.
absl::Status RowExists(const std::string& row);
absl::Status RowIsOrphan(const std::string& row);
absl::Status TransactionIsOver();

// Returns "trial 17 of study 3".
std::string DescribeTrial(StudyKey study, std::int64_t number);

// NaN equals NaN, and 0.0 equals -0.0.
bool SameMetrics(const Metrics& a, const Metrics& b);

// It is no mutex, since a transaction may give its slot back on another thread.
class WriterSlot {
 public:
  // Blocks while another holds it.
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

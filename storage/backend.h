// SPDX-License-Identifier: Apache-2.0
//
// File: backend.h
#ifndef FROSTLINE_STORAGE_BACKEND_H_
#define FROSTLINE_STORAGE_BACKEND_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::storage {

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

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_BACKEND_H_

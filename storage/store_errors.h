// SPDX-License-Identifier: Apache-2.0
//
// File: store_errors.h
//
// What every backend answers when a promise of trial_store.h cannot be kept: in
// the same words, and with the same idea of which measurements are equal.
#ifndef FROSTLINE_STORAGE_STORE_ERRORS_H_
#define FROSTLINE_STORAGE_STORE_ERRORS_H_

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

// Whether a store may keep this refusal for Commit(): it says that what is
// stored is other than the writer believed, not that a client was wrong.
bool IsDeferrable(const absl::Status& refusal);
// What everybody in a group hears that `refusal` undid at its commit. Not the
// refusal itself: only one of them has lost its lease.
absl::Status GroupUndone(const absl::Status& refusal);

// Our own bugs: a row that is there already, a row that belongs to nothing, a
// call on a transaction that is over.
absl::Status RowExists(const std::string& row);
absl::Status RowIsOrphan(const std::string& row);
absl::Status TransactionIsOver();

// "trial 17 of study 3".
std::string DescribeTrial(StudyKey study, std::int64_t number);

// Name by name and value by value; NaN equals NaN (plain == would say it does
// not), and 0.0 equals -0.0.
bool SameMetrics(const Metrics& a, const Metrics& b);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_STORE_ERRORS_H_

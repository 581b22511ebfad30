// SPDX-License-Identifier: Apache-2.0
//
// File: full_rows.h
//
// Rows for tests of stores, and the shortest way to write them.
#ifndef FROSTLINE_TESTS_CONTRACT_FULL_ROWS_H_
#define FROSTLINE_TESTS_CONTRACT_FULL_ROWS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "storage/trial_store.h"

namespace frostline {

// Rows in which no field has its default, so that a lost field shows.
StudyRow FullStudy(const std::string& id);
TrialRow FullTrial(StudyKey study, std::int64_t number);
AttemptRow FullAttempt(StudyKey study, std::int64_t number,
                       std::int64_t attempt);
MeasurementRow FullMeasurement(StudyKey study, std::int64_t number,
                               std::int64_t attempt, std::int64_t step);
OutcomeRow FullOutcome(StudyKey study, std::int64_t number);
LogRow FullLog(StudyKey study, std::int64_t number, std::int64_t attempt);
WorkerRow FullWorker(const std::string& id);
ReplyRow FullReply(const std::string& request_id);
// All trials of a study, by number.
TrialQuery TrialsOf(StudyKey study, int limit = 100);
// The guard that `trial` itself fulfils.
TrialGuard GuardOf(const TrialRow& trial);

// A transaction of whoever leads the store; takes the lead where nobody has it.
absl::StatusOr<std::unique_ptr<Transaction>> Begin(TrialStore& store);

using Body = absl::FunctionRef<absl::Status(Transaction&)>;

// Runs `body` as one operation of one transaction, and commits even when it
// failed. The operation's error, else the commit's.
absl::Status Write(TrialStore& store, Body body);
absl::Status WriteIn(TrialStore& store, Epoch epoch, Body body);

}  // namespace frostline

#endif  // FROSTLINE_TESTS_CONTRACT_FULL_ROWS_H_

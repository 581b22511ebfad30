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

namespace frostline::test {

// Rows in which no field has its default, so that a lost field shows.
storage::StudyRow FullStudy(const std::string& id);
storage::TrialRow FullTrial(storage::StudyKey study, std::int64_t number);
storage::AttemptRow FullAttempt(storage::StudyKey study, std::int64_t number,
                                std::int64_t attempt);
storage::MeasurementRow FullMeasurement(storage::StudyKey study,
                                        std::int64_t number,
                                        std::int64_t attempt,
                                        std::int64_t step);
storage::OutcomeRow FullOutcome(storage::StudyKey study, std::int64_t number);
storage::LogRow FullLog(storage::StudyKey study, std::int64_t number,
                        std::int64_t attempt);
storage::SummaryRow FullSummary(storage::StudyKey study);
storage::BestRow FullBest(storage::StudyKey study, std::int64_t number);
storage::WorkerRow FullWorker(const std::string& id);
storage::TokenRow FullToken(const std::string& id);
storage::CertificateRow FullCertificate(const std::string& id);
storage::AuditRow FullAudit(std::int64_t first);
storage::NotificationRow FullNotification(const std::string& id);
storage::ReplyRow FullReply(const std::string& request_id);
// All trials of a study, by number.
storage::TrialQuery TrialsOf(storage::StudyKey study, int limit = 100);
// The guard that `trial` itself fulfils.
storage::TrialGuard GuardOf(const storage::TrialRow& trial);

// A transaction of whoever leads the store; takes the lead where nobody has it.
absl::StatusOr<std::unique_ptr<storage::Transaction>> Begin(
    storage::TrialStore& store);

using Body = absl::FunctionRef<absl::Status(storage::Transaction&)>;

// Runs `body` as one operation of one transaction, and commits even when it
// failed. The operation's error, else the commit's.
absl::Status Write(storage::TrialStore& store, Body body);
absl::Status WriteIn(storage::TrialStore& store, storage::Epoch epoch,
                     Body body);

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_CONTRACT_FULL_ROWS_H_

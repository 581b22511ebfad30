// SPDX-License-Identifier: Apache-2.0
//
// File: contenders.h
//
// Reads a trial's result on each row of its evaluation set. What contradicts
// itself, or its count, counts as not there.
#ifndef FROSTLINE_SERVER_IMPORTANCE_CONTENDERS_H_
#define FROSTLINE_SERVER_IMPORTANCE_CONTENDERS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "frostline/v1/trial.pb.h"
#include "statistics/run_score.h"
#include "storage/trial_store.h"
#include "study/history.h"

namespace frostline::server {

statistics::Outcomes ReadOutcomes(const v1::ExampleOutcomes& outcomes);

// The metric as a function of the rows: one of the names that the contract's
// trainer has or, of any other, the mean of the rows. Null unless that is the
// trial's `value`.
std::shared_ptr<const statistics::RunScore> ScoreOf(
    const statistics::Outcomes& outcomes, const std::string& metric,
    double value);
std::shared_ptr<const statistics::RunScore> ScoreOf(
    const storage::OutcomeRow& row, const std::string& metric, double value);

// The bootstrap's seed: the same question has the same answer, whoever asks and
// in whichever order.
std::uint64_t ChanceOf(const std::string& fingerprint,
                       const std::string& metric);

// Asks the last trials with a result. 0 means that nothing is evaluated by
// rows, or the first value is no mean of them.
absl::StatusOr<std::int64_t> CountEvaluationRows(
    const storage::TrialStore& store, storage::StudyKey study,
    const History& history);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_CONTENDERS_H_

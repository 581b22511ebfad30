// SPDX-License-Identifier: Apache-2.0
//
// File: training_seed.h
//
// A trial's seed is drawn when it is created and noted in its row, so that
// retries, attempts and restarts keep it.
#ifndef FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_
#define FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// Never answers UNSPECIFIED.
v1::SeedMode SeedModeOf(const v1::StudySpec& spec);

// Answers REQUEST_INVALID where `seeds`, `training.seed`, `training_seeds` and
// `repeat` contradict each other or are out of range, BUDGET_INVALID where
// repeats leave no trial to find a leader with.
absl::Status CheckSeeds(const v1::StudySpec& spec,
                        const v1::StudySettings& settings);

// Fills in what `repeat` leaves open, where it can; CheckSeeds refuses the
// rest.
void FillRepeat(const v1::StudySettings& settings, v1::StudySpec& spec);

// REQUIRES: `spec` was filled and checked.
RepeatRule RepeatRuleOf(const v1::StudySpec& spec);

// Whether other trials train with a trial's seed.
bool SharesSeeds(const v1::StudySpec& spec);

// Says whether runs of each point are counted (Trial.repeat).
bool CountsRuns(const v1::StudySpec& spec);

// The trial's point was run `repeat` times before. The seed is 1 … 2^31 - 1,
// which every program can hold, unless the study fixes or lists it.
std::uint64_t TrainingSeed(const v1::StudySpec& spec, std::int64_t number,
                           std::int64_t repeat);

struct NotedSeed {
  std::uint64_t seed = 0;
  std::int32_t repeat = 0;
};

// Notes it in TrialRow.labels, beside what people wrote there.
void NoteSeed(const NotedSeed& noted, storage::TrialRow& row);
// A seed of 0 means that nothing is noted.
NotedSeed NotedSeedOf(const storage::TrialRow& row);

// Also answers for rows from before seeds were noted.
std::uint64_t SeedToTrainWith(const storage::TrialRow& row,
                              const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_

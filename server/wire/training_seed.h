// SPDX-License-Identifier: Apache-2.0
//
// File: training_seed.h
//
// The seed with which a trial trains. It is drawn when the trial is created and
// noted in its row, so that retries, attempts and restarts keep it.
#ifndef FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_
#define FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "server/wire/spec.h"
#include "storage/rows.h"

namespace frostline::server {

// Returns how the study chooses seeds; never UNSPECIFIED.
v1::SeedMode SeedModeOf(const v1::StudySpec& spec);

// The error is REQUEST_INVALID when `seeds`, `training.seed`, `training_seeds`
// and `repeat` contradict each other or are out of range, BUDGET_INVALID when
// repeats leave no trial to find a leader with.
absl::Status CheckSeeds(const v1::StudySpec& spec,
                        const v1::StudySettings& settings);

// Fills in what `repeat` leaves open, if it can; CheckSeeds refuses the rest.
void FillRepeat(const v1::StudySettings& settings, v1::StudySpec& spec);

// REQUIRES: `spec` was filled and checked.
RepeatRule RepeatRuleOf(const v1::StudySpec& spec);

// Says whether other trials train with the same seed as a trial.
bool SharesSeeds(const v1::StudySpec& spec);

// Says whether the runs of each point are counted (Trial.repeat).
bool CountsRuns(const v1::StudySpec& spec);

// Returns the seed of a trial whose point was run `repeat` times before. It is
// 1 … 2^31 - 1, which every program can hold, unless the study fixes or lists
// it.
std::uint64_t TrainingSeed(const v1::StudySpec& spec, std::int64_t number,
                           std::int64_t repeat);

// The seed that a trial's row has.
struct NotedSeed {
  std::uint64_t seed = 0;
  std::int32_t repeat = 0;
};

// Notes the seed in TrialRow.labels, beside people's own labels.
void NoteSeed(const NotedSeed& noted, storage::TrialRow& row);
// Returns the noted seed; 0 when none is noted.
NotedSeed NotedSeedOf(const storage::TrialRow& row);

// Returns the seed to train with, also for rows from before seeds were noted.
std::uint64_t SeedToTrainWith(const storage::TrialRow& row,
                              const v1::StudySpec& spec);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_TRAINING_SEED_H_

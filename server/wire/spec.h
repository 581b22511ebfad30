// SPDX-License-Identifier: Apache-2.0
//
// File: spec.h
//
// A study's spec, checked and turned into our own types.
#ifndef FROSTLINE_SERVER_WIRE_SPEC_H_
#define FROSTLINE_SERVER_WIRE_SPEC_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/study.pb.h"
#include "sampler/factory.h"
#include "sampler/pruner/pruner.h"
#include "storage/rows.h"
#include "study/freezing.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::server {

// How often a trial is tried, and which results count.
struct RetryRules {
  int max_trial_faults = kMaxTrialFaults;
  int max_infrastructure_faults = kMaxInfrastructureFaults;
  // Whether the result of a lost attempt counts while no newer attempt has
  // delivered one.
  bool accept_late_result = true;
};

// How long leases last. Defaults are filled in.
struct LeaseRules {
  Duration ttl{};
  Duration heartbeat_interval{};
  RetryRules retry;
};

// How often, and from when on, leading points run again.
struct RepeatRule {
  int times = 0;  // runs of a leader in all; 0: no rule
  int leaders = 0;
  std::int64_t after = 0;  // trials before the first repeat
};

// How an attempt ended, as its worker tells it.
struct Result {
  enum class Kind { kSucceeded, kPruned, kInfeasible, kFailed, kCancelled };
  Kind kind = Kind::kSucceeded;
  Metrics metrics;
  std::vector<double> values;  // one per objective, or none
  FailureClass failure = FailureClass::kNone;
  std::string cause;
  std::string usage;       // serialised
  std::string checkpoint;  // serialised; empty: none
  std::string outcome;     // the message, kept when superseded
};

// A study's constraints: metrics that have to stay at or below their bounds. A
// trial that breaks one is worse than any that breaks none, whatever its loss.
// If two trials both break some, the one that breaks them less is better (Deb
// et al., 2002, constrained domination).

// Checks that the metrics have names, each once, and that the bounds are
// finite.
absl::Status CheckConstraints(const v1::StudySpec& spec);

// Returns metric - bound for each constraint, which is above 0 when it is
// broken. A metric that is missing or NaN breaks its constraint by infinity, as
// in Optuna. But a pruned trial ended before everything was measured: what it
// has not measured it keeps by infinity. The result is empty unless the trial
// SUCCEEDED or was PRUNED.
std::vector<double> ConstraintsOf(const storage::TrialRow& row,
                                  const v1::StudySpec& spec);

// Returns by how much the trial breaks its constraints in all; 0 if it breaks
// none.
double ViolationOf(const storage::TrialRow& row, const v1::StudySpec& spec);

// Returns what BestTrials compares: the row's values and, if the study has
// constraints, the violation after them.
std::vector<double> RankedValuesOf(const storage::TrialRow& row,
                                   const v1::StudySpec& spec);

// A study that chooses its trials by the test split has no test split left. So
// it must ask for that, and its reports say so.

// Checks a new study. The error is OBJECTIVE_INVALID for an objective or a
// constraint on the test split that allow_test_objective does not allow.
absl::Status CheckTestObjective(const v1::StudySpec& spec);

// Returns a warning about the study's results if the test split is used,
// allowed or not; else nothing.
std::optional<std::string> TestObjectiveWarning(const v1::StudySpec& spec);

// Checks a spec for CreateStudy, --dry-run and stored studies. Nothing else
// does.

inline constexpr std::size_t kMaxSpecBytes = std::size_t{256} * 1024;

// A study whose spec was checked, in our own types.
struct CheckedStudy {
  v1::StudySpec spec;
  v1::StudySettings settings;
  ModelShape shape;
  Space space;
  std::vector<Objective> objectives;
  sampler::SamplerSpec sampler;
  sampler::PrunerSpec pruner;
  LeaseRules lease;
  RepeatRule repeat;
};

absl::StatusOr<CheckedStudy> CheckStudy(const v1::StudySpec& spec,
                                        const v1::StudySettings& settings,
                                        const LeaseRules& defaults);

// Returns the point of a queued trial. What a strategy or values leave open is
// drawn from (study seed, number). The error is VALUE_OUT_OF_SPACE when there
// is no such point.
absl::StatusOr<Point> PointFromEnqueued(const CheckedStudy& study,
                                        const v1::EnqueuedTrial& trial,
                                        const std::string& field,
                                        std::int64_t number);

// Which precision "auto" means. `training.precision: auto` is bf16 on one
// worker and fp32 on another, and such trials cannot be compared. So the first
// trial that says its precision decides for the study
// (StudySettings.auto_precision).

// Returns what "auto" means in this study; "" while no trial has said it, and
// when the study names a precision.
std::string DecidedPrecision(const CheckedStudy& study);

// Says whether a trial in `precision` decides now.
bool DecidesPrecision(const CheckedStudy& study, const std::string& precision);

// The error is REQUEST_INVALID when settings name an unknown precision.
absl::Status CheckAutoPrecision(const v1::StudySettings& settings);

// A study at one moment, as the loop gives it to a reader.
struct StudyHandle {
  storage::StudyKey key = 0;
  std::string id;
  std::int64_t revision = 0;
  storage::StudyState state = storage::StudyState::kActive;
  bool running = false;  // active or paused
  std::int64_t budget_left = 0;
  std::int64_t ended = 0;  // ended trials; only their labels may still change
  // A number that changes whenever a trial ends or an ended trial gets other
  // labels. It never repeats within this process.
  std::int64_t ends_stamp = 0;
  std::shared_ptr<const CheckedStudy> checked;
};

// Checks a study from the store again, since the code that checks it may be
// newer.
//
// The error is STORE_CORRUPT for an unreadable spec, else as from CheckStudy.
absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults);

// The seed with which a trial trains. It is drawn when the trial is created and
// noted in its row, so that retries, attempts and restarts keep it.

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

#endif  // FROSTLINE_SERVER_WIRE_SPEC_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: spec.h
//
// What a study's spec says, judged and in our words.
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

struct RetryRules {
  int max_trial_faults = kMaxTrialFaults;
  int max_infrastructure_faults = kMaxInfrastructureFaults;
  // A result of a lost attempt counts while no newer one has delivered.
  bool accept_late_result = true;
};

// Defaults are filled in.
struct LeaseRules {
  Duration ttl{};
  Duration heartbeat_interval{};
  RetryRules retry;
};

struct RepeatRule {
  int times = 0;  // runs of a leader in all; 0: no rule
  int leaders = 0;
  std::int64_t after = 0;  // trials before the first repeat
};

// A worker tells with it how its attempt ended.
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

// A study's constraints: metrics that are to stay at or below their bounds. A
// trial that breaks one is worse than any that breaks none, whatever its loss;
// of two that do, the one that breaks them less is better (Deb et al., 2002,
// constrained domination).

inline constexpr int kMaxConstraints = 16;

// Metrics have names, each once; bounds are finite.
absl::Status CheckConstraints(const v1::StudySpec& spec);

// Returns metric - bound of each, which is above 0 where it is broken. A metric
// that is missing, or no number, breaks its constraint by infinity, as in
// Optuna; but a pruned trial ended before all was measured: it keeps what it
// has not measured, by infinity. There are none unless the trial SUCCEEDED or
// was PRUNED.
std::vector<double> ConstraintsOf(const storage::TrialRow& row,
                                  const v1::StudySpec& spec);

// Returns by how much the trial breaks its constraints, in all: 0 keeps them.
double ViolationOf(const storage::TrialRow& row, const v1::StudySpec& spec);

// Returns what BestTrials compares: the row's values and, where the study has
// constraints, the violation after them.
std::vector<double> RankedValuesOf(const storage::TrialRow& row,
                                   const v1::StudySpec& spec);

// A study that chooses its trials by the test split has no test split left, so
// it must ask for that, and its reports say so.

// Of a new study: OBJECTIVE_INVALID for an objective or a constraint on the
// test split that allow_test_objective does not allow.
absl::Status CheckTestObjective(const v1::StudySpec& spec);

// Says what to think of the study's results, allowed or not; nothing where the
// test split is left alone.
std::optional<std::string> TestObjectiveWarning(const v1::StudySpec& spec);

// A spec is judged here alone, for CreateStudy, --dry-run and stored studies.

inline constexpr std::int64_t kMaxTrialsPerStudy = kMostBudgetTrials;
inline constexpr std::size_t kMaxSpecBytes = std::size_t{256} * 1024;

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

// What a strategy or values leave open is drawn from (study seed, number). It
// answers VALUE_OUT_OF_SPACE when there is no such point.
absl::StatusOr<Point> PointFromEnqueued(const CheckedStudy& study,
                                        const v1::EnqueuedTrial& trial,
                                        const std::string& field,
                                        std::int64_t number);

// `training.precision: auto` is bf16 on one worker and fp32 on another, and
// trials of both cannot be compared. So the first trial that says what it is
// computed in decides for its study (StudySettings.auto_precision).

// Says what auto stands for in this study; "" while no trial has said it, and
// where the study names a precision.
std::string DecidedPrecision(const CheckedStudy& study);

// Whether a trial in `precision` decides now.
bool DecidesPrecision(const CheckedStudy& study, const std::string& precision);

// Answers REQUEST_INVALID for settings that name an unknown one.
absl::Status CheckAutoPrecision(const v1::StudySettings& settings);

// A reader gets this of a study that the loop has looked up.
struct StudyHandle {
  storage::StudyKey key = 0;
  std::string id;
  std::int64_t revision = 0;
  storage::StudyState state = storage::StudyState::kActive;
  bool running = false;  // active or paused
  std::int64_t budget_left = 0;
  std::int64_t ended = 0;  // trials, which change no more but for labels
  // It is another one whenever a trial has ended or one that had ended got
  // other labels, and never the same again in this process.
  std::int64_t ends_stamp = 0;
  std::shared_ptr<const CheckedStudy> checked;
};

// A study from the store is checked again, since the code that judges it may be
// newer.
//
// Answers STORE_CORRUPT for an unreadable spec, else as CheckStudy does.
absl::StatusOr<CheckedStudy> CheckStored(const storage::StudyRow& row,
                                         const LeaseRules& defaults);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_WIRE_SPEC_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: pruner.h
//
// Says whether a running trial should stop, by the intermediate values of the
// one objective. It is a function of the history, so a study replays.
// docs/reference/pruners.md has the options.
#ifndef FROSTLINE_SAMPLER_PRUNER_PRUNER_H_
#define FROSTLINE_SAMPLER_PRUNER_PRUNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::sampler {

struct PruneDecision {
  bool prune = false;
  std::string reason;  // for people: "0.61 at step 3, …"
};

// A rule for early stopping. It has one owner thread at a time, and may
// remember what it computed, as samplers do.
class Pruner {
 public:
  virtual ~Pruner() = default;

  // Judges by the newest value of `trial`. An unknown or ended trial, or one
  // without values, is never pruned.
  virtual PruneDecision Judge(const History& history, std::int64_t trial) = 0;
};

struct PrunerSpec {
  std::string name = "none";
  std::map<std::string, std::string> options;
  std::string study = {};                // its id: hyperband deals by it
  std::string field = "pruner.options";  // where the options stand
};

// Makes a pruner. Fails with PRUNER_INVALID for an unknown name or option, and
// for any pruner but none with several objectives.
absl::StatusOr<std::unique_ptr<Pruner>> MakePruner(
    const PrunerSpec& spec, const std::vector<Objective>& objectives);

std::vector<std::string> PrunerNames();

// Returns true for the first value at or after each multiple of `interval`
// steps, counted from `warmup_steps`. REQUIRES: there are values.
inline bool IsDue(const std::vector<IntermediateValue>& values,
                  std::int64_t warmup_steps, std::int64_t interval) {
  const std::int64_t step = values.back().step;
  if (step < warmup_steps) return false;
  const std::int64_t due = step - (step - warmup_steps) % interval;
  return values.size() < 2 || values[values.size() - 2].step < due;
}

// Pruners that look at a trial's own curve alone, and the one that never stops.

// Never stops a trial.
absl::StatusOr<std::unique_ptr<Pruner>> MakeNoPruner(
    const PrunerSpec& spec, const Objective& objective);

// Stops a trial whose newest value is NaN or outside fixed bounds, whatever the
// direction.
absl::StatusOr<std::unique_ptr<Pruner>> MakeThresholdPruner(
    const PrunerSpec& spec, const Objective& objective);

// Stops a trial when the best of its last patience + 1 values is worse than its
// best before them by more than min_delta, and the pruner it wraps, if any,
// agrees. Pruners with rungs are not wrapped: they judge once a rung, and would
// be overruled for good.
absl::StatusOr<std::unique_ptr<Pruner>> MakePatientPruner(
    const PrunerSpec& spec, const Objective& objective);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_PRUNER_PRUNER_H_

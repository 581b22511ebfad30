// SPDX-License-Identifier: Apache-2.0
//
// File: usable_trials.h
#ifndef FROSTLINE_IMPORTANCE_MEASURE_USABLE_TRIALS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_USABLE_TRIALS_H_

#include <cstdint>
#include <vector>

#include "importance/measure/evaluate_options.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

struct MetricColumns {
  std::size_t target = 0;
  std::size_t best_by = 0;
};

// Sorts by number, since the order of arrival is no property of the study.
// Points into the history.
std::vector<const Observation*> EndedTrials(const History& history);

// Answers 1 for a trial that succeeded, in the space, with the numbers that
// `options` ask for; else 0.
std::vector<std::uint8_t> AreUsable(
    const Space& space, const std::vector<Objective>& objectives,
    const std::vector<const Observation*>& trials,
    const EvaluateOptions& options, const MetricColumns& columns);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_USABLE_TRIALS_H_

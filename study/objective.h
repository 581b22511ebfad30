// SPDX-License-Identifier: Apache-2.0
//
// File: objective.h
//
// What a study optimises: one or several named metrics with a direction.
#ifndef FROSTLINE_STUDY_OBJECTIVE_H_
#define FROSTLINE_STUDY_OBJECTIVE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline {

enum class Direction { kMinimize, kMaximize };

struct Objective {
  std::string metric;
  Direction direction = Direction::kMinimize;
};

// `value` with a sign such that smaller is better.
inline double AsLoss(const Objective& objective, double value) {
  return objective.direction == Direction::kMinimize ? value : -value;
}

// Whether losses `a` are nowhere worse than `b`, and somewhere better.
bool Dominates(const std::vector<double>& a, const std::vector<double>& b);

// At least one, each metric named and named once.
absl::Status CheckObjectives(const std::vector<Objective>& objectives);

}  // namespace frostline

#endif  // FROSTLINE_STUDY_OBJECTIVE_H_

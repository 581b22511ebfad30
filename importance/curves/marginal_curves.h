// SPDX-License-Identifier: Apache-2.0
//
// File: marginal_curves.h
//
// Errors are Evaluate's, and REQUEST_INVALID for an unknown parameter.
#ifndef FROSTLINE_IMPORTANCE_CURVES_MARGINAL_CURVES_H_
#define FROSTLINE_IMPORTANCE_CURVES_MARGINAL_CURVES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/interval.h"
#include "study/history.h"
#include "study/objective.h"
#include "study/space.h"

namespace frostline::importance {

struct CurvePoint {
  double value = 0.0;       // of a stretch its middle
  Interval expected;        // in the target's unit and direction
  std::int64_t trials = 0;  // at it, or in its stretch
};

struct MarginalCurve {
  int parameter = 0;
  std::vector<CurvePoint> points;  // absent first
  double best = 0.0;               // of the best expectation; never absent
};

absl::StatusOr<std::vector<MarginalCurve>> MarginalCurves(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options);

struct MarginalTable {
  int first = 0;
  int second = 0;
  std::vector<double> first_values;
  std::vector<double> second_values;
  std::vector<double> expected;  // row-major: first x second
  std::vector<std::int64_t> trials;
};

absl::StatusOr<MarginalTable> PairTable(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int first,
    int second);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_CURVES_MARGINAL_CURVES_H_

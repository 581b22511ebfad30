// SPDX-License-Identifier: Apache-2.0
//
// File: attribution.h
//
// Which parameter made the difference between two trials, and what a module
// gains from a rate of its own.
//
// The difference that is believed between points a and b is dealt out by
// Shapley values (Shapley, 1953). For a set S of the parameters in which they
// differ, v(S) is the score of the point that has b's values in S and a's
// elsewhere:
//
//   part(i) = mean over all orders of  v(those before i, and i) - v(those
//   before)
//
// In each joint draw of the surrogate the parts add up to v(all) - v(none), and
// so do their means. Up to kMostExactParts parts all sets are looked at; of
// more, pairs of opposite orders are drawn.
//
//   v(none) = .80, v(1) = .84, v(2) = .82, v(1, 2) = .90
//   part(1) = (.04 + .08) / 2 = .06,  part(2) = (.02 + .06) / 2 = .04
#ifndef FROSTLINE_IMPORTANCE_PLAN_ATTRIBUTION_H_
#define FROSTLINE_IMPORTANCE_PLAN_ATTRIBUTION_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {

inline constexpr std::size_t kMostExactParts = 8;

// The sets that an attribution asks for, each as marks of its members, and how
// their values make parts.
class ShapleySets {
 public:
  // REQUIRES: parts is at least 1. `seed` draws orders.
  ShapleySets(std::size_t parts, std::uint64_t seed);

  const std::vector<std::vector<bool>>& sets() const { return sets_; }
  // Returns the parts. `values` goes by sets(). They add up to the value of the
  // full set less that of the empty one.
  std::vector<double> Parts(const std::vector<double>& values) const;

 private:
  struct Step {
    std::size_t part, before, after;  // the latter are places in sets_
    double weight;
  };

  std::size_t PlaceOf(const std::vector<bool>& set);

  std::size_t parts_;
  std::vector<std::vector<bool>> sets_;
  std::vector<Step> steps_;
};

// What one parameter did, or several of which the first decides whether the
// others are there.
struct DifferencePart {
  std::vector<std::size_t> parameters;
  Interval part;  // of second less first, in the objective's unit
  double sign_probability = 0.0;
};

// Why two trials differ.
struct Difference {
  double first_value = 0.0;
  double second_value = 0.0;
  double seen = 0.0;   // second less first
  Interval predicted;  // the same of means over seeds; `value` is the mean
  Interval luck;       // what was seen less that
  // So far do two runs of equal points lie apart, 19 times in 20.
  double run_noise = 0.0;
  std::vector<DifferencePart> parts;  // the strongest first
  std::string verdict;
  std::vector<ReportWarning> warnings;
};

// Fails with REQUEST_INVALID for a number that is no trial with a value, or for
// two trials at one point.
absl::StatusOr<Difference> ExplainDifference(const PlanBasis& basis,
                                             std::int64_t first,
                                             std::int64_t second,
                                             const std::stop_token& stop);

// What a rate of its own gains the modules of one parameter.
struct TunedParameter {
  std::size_t parameter = 0;
  double default_value = 0.0;
  double best_value = 0.0;
  Interval gain;  // in the objective's unit, above 0 is better
  double gain_probability = 0.0;
};

// The default trains every module at one rate, the most promising one; what has
// no module is as the most promising point has it. Goes by parameter; those
// without modules, or that the surrogate leaves out, are missing. Fails with
// REQUEST_INVALID where no module takes its rate from a parameter.
absl::StatusOr<std::vector<TunedParameter>> FindTunability(
    const PlanBasis& basis, const std::stop_token& stop);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_PLAN_ATTRIBUTION_H_

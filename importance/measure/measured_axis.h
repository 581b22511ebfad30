// SPDX-License-Identifier: Apache-2.0
//
// File: measured_axis.h
//
// One parameter as importance sees it: a line of codes on which trees split,
// and the share of the searched space up to each. Levels, choices and small
// ranges of integers are counted; a log-uniform rate is uniform in the
// logarithm, kFrozenMass of it frozen; absent has the share where the condition
// is not met.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

#include <vector>

#include "study/domain.h"
#include "study/space.h"

namespace frostline::importance {

// As the random sampler draws.
inline constexpr double kFrozenMass = 0.2;

class MeasuredAxis {
 public:
  // `active`: the share of the space where it has a value.
  MeasuredAxis(const Domain& domain, double active);

  // Ordered: absent, frozen, then the domain's. Unordered: the choice's index,
  // absent last.
  double CodeOf(double value) const;
  bool is_ordered() const { return ordered_; }
  // Counted, not measured by length.
  bool is_finite() const { return finite_; }

  // Ordered: the share up to `code`.
  double MassUpTo(double code) const;
  // Unordered: by code.
  const std::vector<double>& choice_masses() const { return masses_; }

  // Of values that meet `condition`.
  double MassWhere(const Condition& condition) const;

  // Ordered: middles, in shares, of a curve's values; not absent.
  std::vector<double> Probes() const;

  // Of a finite domain, and frozen.
  std::vector<double> CountableCodes() const;

 private:
  double PlaceOf(double value) const;

  Domain domain_;
  bool ordered_ = true;
  bool finite_ = false;
  double absent_ = 0.0;  // mass
  double frozen_ = 0.0;  // mass
  double live_ = 1.0;    // mass of all else
  // Finite: by value. Unordered: by choice, and absent.
  std::vector<double> masses_;
  std::vector<double> mass_before_;  // sums of masses_, if finite and ordered
};

std::vector<MeasuredAxis> MeasureSpace(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

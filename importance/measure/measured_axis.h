// SPDX-License-Identifier: Apache-2.0
//
// File: measured_axis.h
//
// Trees split on a line of codes; each has the share of the searched space up
// to it, by the measure of importance/README.md.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

#include <vector>

#include "study/space.h"

namespace frostline::importance {

inline constexpr double kFrozenMass = 0.2;  // as the random sampler draws

class MeasuredAxis {
 public:
  // `active` is the share of the space where it has a value.
  MeasuredAxis(const Domain& domain, double active);

  // Along an order come absent, frozen, then the domain's values. Else the code
  // is the choice's index, with absent last.
  double CodeOf(double value) const;
  bool is_ordered() const { return ordered_; }
  // Says whether values are counted, not measured by length.
  bool is_finite() const { return finite_; }

  // Returns the share of the space up to `code`. Needs an order.
  double MassUpTo(double code) const;
  // Goes by code, without an order.
  const std::vector<double>& choice_masses() const { return masses_; }

  // Returns the share of values that meet `condition`.
  double MassWhere(const Condition& condition) const;

  // Returns the middles, in shares, of a curve's values, never absent. Needs an
  // order.
  std::vector<double> Probes() const;

  // Returns codes of counted values, and frozen.
  std::vector<double> CountableCodes() const;

 private:
  double PlaceOf(double value) const;

  Domain domain_;
  bool ordered_ = true;
  bool finite_ = false;
  double absent_ = 0.0;  // mass
  double frozen_ = 0.0;  // mass
  double live_ = 1.0;    // mass of all else
  // Goes by value if finite, by choice and absent if unordered.
  std::vector<double> masses_;
  std::vector<double> mass_before_;  // sums of masses_, if finite and ordered
};

std::vector<MeasuredAxis> MeasureSpace(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: measured_axis.h
//
// One parameter as importance sees it: a line of codes on which trees split,
// and the share of the searched space that lies up to each code. Levels,
// choices and small integer ranges are counted; a log-uniform rate is uniform
// in the logarithm, kFrozenMass of it frozen; a parameter that is absent from
// some points has that as a value of its own, with the share of the space where
// its condition is not met.
#ifndef FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_
#define FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

#include <vector>

#include "study/domain.h"
#include "study/space.h"

namespace frostline::importance {

// The same share as the random sampler draws.
inline constexpr double kFrozenMass = 0.2;

class MeasuredAxis {
 public:
  // `active` is the share of the space where the parameter has a value.
  MeasuredAxis(const Domain& domain, double active);

  // Values in order: absent, frozen, then the domain's own. Of an unordered
  // axis the index of the choice, absent being one more.
  double CodeOf(double value) const;
  bool is_ordered() const { return ordered_; }
  // Whether its values are counted, not measured by length.
  bool is_finite() const { return finite_; }

  // Ordered: the share at codes up to `code`; 0 … 1.
  double MassUpTo(double code) const;
  // Unordered: the share of each code.
  const std::vector<double>& choice_masses() const { return masses_; }

  // The share where the parameter has a value that meets `condition`.
  double MassWhere(const Condition& condition) const;

  // Ordered: middles, in shares, of the values a curve is drawn at; not absent.
  std::vector<double> Probes() const;

  // The codes of a finite domain, and of frozen; empty for other domains.
  std::vector<double> CountableCodes() const;

 private:
  double PlaceOf(double value) const;

  Domain domain_;
  bool ordered_ = true;
  bool finite_ = false;
  double absent_ = 0.0;  // mass
  double frozen_ = 0.0;  // mass
  double live_ = 1.0;    // mass of everything else
  // Finite: of each value. Unordered: of each choice and of absent.
  std::vector<double> masses_;
  std::vector<double> mass_before_;  // finite and ordered: sums of masses_
};

// One axis for each parameter.
std::vector<MeasuredAxis> MeasureSpace(const Space& space);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_MEASURED_AXIS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: dataset.h
//
// Trials as numbers. Targets are losses (lower is better), scaled to [-1, 1].
#ifndef FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_
#define FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_

#include <cstdint>
#include <vector>

#include "study/space.h"

namespace frostline::importance {

inline constexpr double kFrozenMass = 0.2;  // as the random sampler draws

// A parameter as a line of codes on which trees split, and what share of the
// searched space lies up to each. The measure is that of the random sampler:
// levels and choices count alike, a log-uniform rate is uniform in the
// logarithm with a fifth of it frozen, and an absent parameter has a value of
// its own. Parameters count as independent, also a parent and its child.
//
//   three levels:   shares 1/3, 2/3, 1 up to codes 0, 1, 2
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

// The most bins of an axis. If it has more distinct codes, codes share bins.
inline constexpr std::size_t kMaxBins = 256;

// The codes of one axis in bins.
struct BinnedAxis {
  std::vector<double> lowest;  // codes, by bin; rising
  std::vector<double> highest;
  std::vector<std::uint16_t> bin_of_row;
  bool is_ordered = true;
};

// The trials of a study, by axis.
struct Dataset {
  std::vector<MeasuredAxis> axes;
  std::vector<std::vector<double>> codes;  // by axis, then by row
  std::vector<BinnedAxis> bins;            // by axis
  std::vector<double> targets;             // by row

  std::size_t rows() const { return targets.size(); }
};

// REQUIRES: points are in the space of `axes`; losses are finite and not all
// equal.
Dataset MakeDataset(std::vector<MeasuredAxis> axes,
                    const std::vector<const Point*>& points,
                    const std::vector<double>& losses);

// Counts n_k in a parameter's parts k (absent, frozen, and its values, or
// eighths of it) are compared with what their shares p_k let expect (Pearson's
// chi-squared test):
//
//   sum over k of (n_k - n p_k)^2 / (n p_k)
//
// Returns ln of the chance that uniform trials lie as unevenly; 0 where nothing
// can vary. REQUIRES: there is a code for each trial, at least one.
double LogChanceOfUneven(const MeasuredAxis& axis,
                         const std::vector<double>& codes);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_DATASET_H_

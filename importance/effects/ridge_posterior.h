// SPDX-License-Identifier: Apache-2.0
//
// File: ridge_posterior.h
//
// Every group has a least variance, so one estimated as 0 is not surely
// nothing.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_RIDGE_POSTERIOR_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_RIDGE_POSTERIOR_H_

#include <cstddef>
#include <vector>

#include "importance/effects/grouped_ridge.h"

namespace frostline::importance {

class RidgePosterior {
 public:
  RidgePosterior(const GroupedRidge& ridge, double least_variance);

  const std::vector<double>& coefficients() const { return coefficients_; }
  double Mean(const std::vector<double>& weights) const;
  double Variance(const std::vector<double>& weights) const;

 private:
  std::vector<double> roots_;   // of the columns' prior variances
  std::vector<double> factor_;  // inverse Cholesky factor of the precision
  std::vector<double> coefficients_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_RIDGE_POSTERIOR_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: growing_surrogate.h
//
// Searches have a millisecond. Scales are those of a Surrogate's mode, learnt
// now and then; one more row costs n², not n³, and leaves the same beliefs, bit
// for bit, as all rows told at once. One thread may use it at a time.
#ifndef FROSTLINE_SURROGATE_GROWING_SURROGATE_H_
#define FROSTLINE_SURROGATE_GROWING_SURROGATE_H_

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "surrogate/inverse_factor.h"
#include "surrogate/point_kernel.h"
#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

class GrowingSurrogate {
 public:
  // Takes the sample's likeliest scales, and how far off its rows are. Then it
  // is to be conditioned, the sample's rows first. Answers false when stopped,
  // and has learnt nothing then. REQUIRES: there is a row.
  bool Learn(Rows sample, const SurrogateOptions& options);

  // `values`, of mean 0 and variance 1, are those of the first rows. Rows
  // without one take away variance and no mean (the kriging believer of
  // Ginsbourger, Le Riche and Carraro, 2010). Rows as before are not computed
  // again. Answers false when stopped: it is to be conditioned once more before
  // anything is asked, and takes up where it was.
  bool Condition(RowColumns rows, std::span<const double> values,
                 const std::stop_token& stop = {});

  const PointKernel& kernel() const { return kernel_; }
  const RowColumns& rows() const { return rows_; }
  const InverseFactor& factor() const { return factor_; }
  // The mean is their sum weighted by covariance.
  const std::vector<double>& weights() const { return weights_; }
  double MeanAt(const Cells& at) const;
  // At a row with a value, K α = y - N α.
  double MeanOfRow(std::size_t row, double value) const {
    return value - NoiseOf(row) * weights_[row];
  }

 private:
  double NoiseOf(std::size_t row) const {
    const double spread = row < spread_.size() ? spread_[row] : 1.0;
    return spread * (kernel_.noise + rows_.doubt[row]);
  }

  PointKernel kernel_;
  std::vector<double> spread_;  // of the rows learnt from
  RowColumns rows_;
  InverseFactor factor_;
  std::vector<double> weights_;
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_GROWING_SURROGATE_H_

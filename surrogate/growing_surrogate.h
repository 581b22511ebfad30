// SPDX-License-Identifier: Apache-2.0
//
// File: growing_surrogate.h
//
// A surrogate for searches, which have a millisecond. Its scales are those of a
// Surrogate's mode, learnt now and then; in between one more row costs n² and
// not n³. It believes the same as one that was told all rows at once, bit for
// bit.
//
//   GrowingSurrogate surrogate;
//   surrogate.Learn(sample, options);
//   surrogate.Condition(rows, values);
//   surrogate.MeanAt(cells);
//
// point_walk.h asks it along one axis after the other. One thread at a time.
#ifndef FROSTLINE_SURROGATE_GROWING_SURROGATE_H_
#define FROSTLINE_SURROGATE_GROWING_SURROGATE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "surrogate/inverse_factor.h"
#include "surrogate/point_kernel.h"
#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

class GrowingSurrogate {
 public:
  // Takes over the likeliest scales of the sample, which has a row or more, and
  // how far off each of its rows is; to be conditioned again, with the sample
  // as the first rows.
  void Learn(Rows sample, const SurrogateOptions& options);

  // `values`, of mean 0 and variance 1, are those of the first rows. Rows at
  // the end may have none: they take away variance and leave the mean alone,
  // which is what believing the mean there comes to (the kriging believer of
  // Ginsbourger, Le Riche and Carraro, 2010). Rows that are as they were are
  // not computed again.
  void Condition(RowColumns rows, std::span<const double> values);

  const PointKernel& kernel() const { return kernel_; }
  const RowColumns& rows() const { return rows_; }
  const InverseFactor& factor() const { return factor_; }
  // One for each value: the mean is their sum weighted by covariance.
  const std::vector<double>& weights() const { return weights_; }
  double MeanAt(const Cells& at) const;
  // The same at a row that has a value, at no cost: K α = y - N α.
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

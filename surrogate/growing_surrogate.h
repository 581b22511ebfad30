// SPDX-License-Identifier: Apache-2.0
//
// File: growing_surrogate.h
//
// A surrogate for searches, which have a millisecond. Its scales are those of
// the mode of a Surrogate, learnt now and then. One more row costs n², not n³,
// and gives the same beliefs, bit for bit, as all rows at once. One thread may
// use it at a time.
#ifndef FROSTLINE_SURROGATE_GROWING_SURROGATE_H_
#define FROSTLINE_SURROGATE_GROWING_SURROGATE_H_

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

#include "surrogate/rows.h"
#include "surrogate/surrogate.h"

namespace frostline::surrogate {

// The inverse W = L⁻¹ of the Cholesky factor of a growing covariance, K = L Lᵀ,
// kept by rows together with the diagonal of L. One more row costs O(n²) and
// comes from those above in a fixed order, so a factor that has grown equals,
// bit for bit, one made anew.
//
//   with l = W k and p = sqrt(k(x, x) - l·l):
//   new row of L = [lᵀ, p],  new row of W = [-lᵀW / p, 1 / p]

// Returns a sum of products, in a fixed order. REQUIRES: sizes are equal.
double Dot(std::span<const double> a, std::span<const double> b);

// The factor, row by row.
class InverseFactor {
 public:
  std::size_t size() const { return size_; }

  // Adds a row. `variance` includes noise; if rounding made it too small, it is
  // raised.
  void Append(std::span<const double> covariance, double variance);
  // Drops all rows but the first ones.
  void Truncate(std::size_t size);

  // Returns the first i + 1 elements of a row; the others are 0.
  std::span<const double> row(std::size_t i) const {
    return {&inverse_[i * (i + 1) / 2], i + 1};
  }
  double pivot(std::size_t i) const { return pivots_[i]; }

  // Return W v and Wᵀ v, over the first v.size() rows.
  std::vector<double> Multiply(std::span<const double> v) const;
  std::vector<double> MultiplyTransposed(std::span<const double> v) const;

 private:
  std::size_t size_ = 0;
  std::vector<double> inverse_;  // W, row after row
  std::vector<double> pivots_;   // the diagonal of L
};

// The surrogate, to which rows are added.
class GrowingSurrogate {
 public:
  // Learns the likeliest scales of the sample, and how far off its rows are.
  // Condition it afterwards, with the rows of the sample first. Returns false
  // if stopped, and has learnt nothing then. REQUIRES: there is a row.
  bool Learn(Rows sample, const SurrogateOptions& options);

  // `values`, of mean 0 and variance 1, are those of the first rows. Rows
  // without one take away variance and no mean (the kriging believer of
  // Ginsbourger, Le Riche and Carraro, 2010). Rows as before are not computed
  // again. Returns false if stopped: call it once more before anything is
  // asked; it goes on where it was.
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

// A walk from point to point along axes. To look along an axis costs n² / 2 for
// all its cells: with P_i the factor of the axis, k_i(cell) = k_i + P_i
// (K[cell][c_i] - K[now][c_i]), so W k(cell) is W k and a mixture of one vector
// for each cell among the rows.
//
// Keeps a reference to the surrogate, which must not change.
class PointWalk {
 public:
  // Without variance, which is 0 then, walking costs n.
  PointWalk(const GrowingSurrogate& surrogate, bool with_variance);

  // Puts axes that `at` lacks at cell 0.
  void Place(const Cells& at);
  Belief Here() const;
  std::vector<Belief> Look(std::size_t axis, std::span<const int> cells);
  // Goes to a cell of the axis last looked along.
  void Step(int cell);

 private:
  void FindSlopes(std::size_t axis);
  void GroupRows();
  double PriorWith(int cell) const;

  const GrowingSurrogate& surrogate_;
  bool with_variance_;
  Cells at_;
  PointSums sums_;
  std::vector<double> whitened_;  // W k
  double mean_ = 0.0;
  std::size_t axis_ = 0;        // last looked along; the rest is of it
  std::vector<double> slopes_;  // P_i
  std::vector<double> mean_groups_;
  std::vector<double> groups_;  // [row of W][cell]
};

}  // namespace frostline::surrogate

#endif  // FROSTLINE_SURROGATE_GROWING_SURROGATE_H_

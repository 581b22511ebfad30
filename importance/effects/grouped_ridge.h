// SPDX-License-Identifier: Apache-2.0
//
// File: grouped_ridge.h
//
// Least squares with a normal prior on the coefficients of each group of
// columns. The groups' variances v_g and the noise s2 are taken from the data
// by restricted maximum likelihood, found as a fixed point (MacKay, "Bayesian
// Interpolation", 1992):
//
//   v_g = |b_g|^2 / known_g,   s2 = |residuals|^2 / (rows - sum of known_g)
//
// known_g is how many of the group's coefficients the data decide, from 0 to
// their number. Where their sum nears the rows, a prior holds the noise up. A
// group of which the data show nothing gets the variance 0.
//
//   GroupedRidge ridge(targets);
//   ridge.AddGroup(columns);
//   ridge.Fit(50);   // then ridge.variance(0), ridge.noise()
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_

#include <cstddef>
#include <vector>

namespace frostline::importance {

class GroupedRidge {
 public:
  explicit GroupedRidge(std::vector<double> targets);

  // `columns`: one after the other, each with mean 0 over the trials.
  void AddGroup(std::vector<double> columns);
  // How the prior variance of a group's coefficients is spread over them; they
  // are all 1 until this is called.
  void SetWeights(std::size_t group, const std::vector<double>& weights);
  // Improves the variances until they settle, at most so often.
  void Fit(int iterations);

  std::size_t columns() const { return gram_.size(); }
  std::size_t groups() const { return begins_.size() - 1; }
  std::size_t WidthOfGroup(std::size_t g) const {
    return begins_[g + 1] - begins_[g];
  }

  std::size_t BeginOfGroup(std::size_t g) const { return begins_[g]; }
  // Products over the trials: of two columns, and of one with the targets.
  double GramAt(std::size_t i, std::size_t j) const {
    return i < j ? gram_[j][i] : gram_[i][j];
  }
  double ProductAt(std::size_t i) const { return products_[i]; }

  // What the last Fit found.
  double variance(std::size_t group) const { return variances_[group]; }
  // Of a column's coefficient: its group's variance times its weight.
  double PriorVariance(std::size_t column, std::size_t group) const {
    return variances_[group] * weights_[column];
  }
  double WeightAt(std::size_t column) const { return weights_[column]; }
  double noise() const { return noise_; }
  double target_variance() const { return target_variance_; }
  // How many coefficients the data decided, the mean among them.
  double degrees_of_freedom() const { return freedom_; }
  const std::vector<double>& residuals() const { return residuals_; }
  // Smaller than noise is, by what went into the coefficients.
  double ResidualVariance() const;
  // Of a group with variance: mean and covariance of its coefficients.
  std::vector<double> Coefficients(std::size_t group) const;
  std::vector<double> Covariance(std::size_t group) const;
  std::vector<double> Uncertainty(std::size_t group) const;  // its diagonal
  // Expected sum of the squares of a group's coefficients, so weighted; 0
  // without variance.
  double ExpectedSquares(std::size_t group,
                         const std::vector<double>& weights) const;
  // Products of a group's columns with each other, and with the residuals.
  std::vector<double> GramOf(std::size_t group) const;
  std::vector<double> ResidualProducts(std::size_t group) const;
  // Share of the targets' variance that the model predicts of trials it has
  // not seen: each one left out, the variances kept.
  double LeftOutR2() const { return R2Of(LeftOutResiduals()); }
  // The same from what LeftOutResiduals has answered.
  double R2Of(const std::vector<double>& left_out) const;
  // What each trial's target differs by from that prediction of it. Where that
  // is too much work, most are got from their residuals by the average trial's.
  std::vector<double> LeftOutResiduals() const;

 private:
  // The posterior under the present variances; sum of squared residuals.
  double Solve();
  // One step of the fixed point; how far the variances moved.
  double Improve(double squares);
  void Extrapolate(const std::vector<double>& before,
                   const std::vector<double>& between);
  void FindResiduals();
  std::size_t LiveBegin(std::size_t group) const;
  const double* Column(std::size_t i) const { return &values_[i * rows_]; }

  std::size_t rows_;
  std::vector<double> targets_;  // less their mean
  double target_variance_ = 0.0;
  std::vector<double> values_;             // columns
  std::vector<std::vector<double>> gram_;  // row i has the columns up to i
  std::vector<double> products_;           // of columns and targets
  std::vector<std::size_t> begins_ = {0};  // groups' first columns, and end
  std::vector<double> variances_;          // of groups
  std::vector<double> weights_;            // by column
  double noise_ = 0.0;
  double freedom_ = 1.0;
  std::vector<double> residuals_;
  // Columns of groups with variance, the inverse Cholesky factor among them,
  // and the coefficients divided by the roots of their groups' variances.
  std::vector<std::size_t> live_;
  std::vector<double> live_variance_;
  std::vector<double> factor_;
  std::vector<double> scaled_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_

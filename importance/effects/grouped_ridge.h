// SPDX-License-Identifier: Apache-2.0
//
// File: grouped_ridge.h
//
// A ridge regression over groups of columns, and the posterior of its
// coefficients.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_

#include <cstddef>
#include <stop_token>
#include <vector>

namespace frostline::importance {

// A ridge regression in which the coefficients of each group have a normal
// prior. Variances v_g and noise s2 come by restricted maximum likelihood, as a
// fixed point (MacKay, "Bayesian Interpolation", 1992):
//
//   v_g = |b_g|^2 / known_g,   s2 = |residuals|^2 / (rows - sum of known_g)
//
// known_g is how many of a group's coefficients the data decide. Where the sum
// nears the rows, a prior keeps the noise from getting too small. A group
// without evidence gets the variance 0.
//
//   GroupedRidge ridge(targets);
//   ridge.AddGroup(columns);
//   ridge.Fit(50);   // then ridge.variance(0), ridge.noise()
class GroupedRidge {
 public:
  explicit GroupedRidge(std::vector<double> targets);

  // `columns` come one after the other, of mean 0.
  void AddGroup(std::vector<double> columns);
  // The weights, 1 at first, spread a group's prior variance over its
  // coefficients.
  void SetWeights(std::size_t group, const std::vector<double>& weights);
  // Iterates at most so often, until variances settle or a stop is requested.
  void Fit(int iterations, const std::stop_token& stop = {});

  std::size_t columns() const { return gram_.size(); }
  std::size_t groups() const { return begins_.size() - 1; }
  std::size_t WidthOfGroup(std::size_t g) const {
    return begins_[g + 1] - begins_[g];
  }

  std::size_t BeginOfGroup(std::size_t g) const { return begins_[g]; }
  // These are sums over the trials: of two columns, of one with the targets.
  double GramAt(std::size_t i, std::size_t j) const {
    return i < j ? gram_[j][i] : gram_[i][j];
  }
  double ProductAt(std::size_t i) const { return products_[i]; }

  double variance(std::size_t group) const { return variances_[group]; }
  double PriorVariance(std::size_t column, std::size_t group) const {
    return variances_[group] * weights_[column];
  }
  double WeightAt(std::size_t column) const { return weights_[column]; }
  double noise() const { return noise_; }
  double target_variance() const { return target_variance_; }
  // Counts the coefficients decided, the mean among them.
  double degrees_of_freedom() const { return freedom_; }
  const std::vector<double>& residuals() const { return residuals_; }
  // Lies below noise, by what coefficients took up.
  double ResidualVariance() const;
  // The group must have variance.
  std::vector<double> Coefficients(std::size_t group) const;
  std::vector<double> Covariance(std::size_t group) const;
  std::vector<double> Uncertainty(std::size_t group) const;  // the diagonal
  // Returns the expected sum, 0 without variance.
  double ExpectedSquares(std::size_t group,
                         const std::vector<double>& weights) const;
  // Multiply the group's columns with each other, and with the residuals.
  std::vector<double> GramOf(std::size_t group) const;
  std::vector<double> ResidualProducts(std::size_t group) const;
  // Returns the share of the targets' variance predicted of trials left out one
  // by one, with variances kept.
  double LeftOutR2() const { return R2Of(LeftOutResiduals()); }
  double R2Of(const std::vector<double>& left_out) const;
  // Returns targets less predictions. Where that is too much work, most are
  // residuals times the average trial's factor.
  std::vector<double> LeftOutResiduals() const;

 private:
  double Solve();                  // returns the squared residuals
  double Improve(double squares);  // returns how far variances moved
  void Extrapolate(const std::vector<double>& before,
                   const std::vector<double>& between);
  void FindResiduals();
  std::size_t LiveBegin(std::size_t group) const;
  const double* Column(std::size_t i) const { return &values_[i * rows_]; }

  std::size_t rows_;
  std::vector<double> targets_;  // less their mean
  double target_variance_ = 0.0;
  std::vector<double> values_;             // columns
  std::vector<std::vector<double>> gram_;  // columns up to i
  std::vector<double> products_;           // of columns and targets
  std::vector<std::size_t> begins_ = {0};  // first columns, and end
  std::vector<double> variances_;
  std::vector<double> weights_;  // by column
  double noise_ = 0.0;
  double freedom_ = 1.0;
  std::vector<double> residuals_;
  // These are columns of groups with variance, their inverse Cholesky factor,
  // and coefficients over the roots of variances.
  std::vector<std::size_t> live_;
  std::vector<double> live_variance_;
  std::vector<double> factor_;
  std::vector<double> scaled_;
};

// The posterior of the coefficients. Every group has a least variance, so a
// group estimated as 0 stays uncertain.
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

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_GROUPED_RIDGE_H_

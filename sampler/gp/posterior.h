// SPDX-License-Identifier: Apache-2.0
//
// File: posterior.h
//
// The Gaussian process given its trials: mean and variance anywhere (Rasmussen
// and Williams, 2006, eq. 2.25 and 2.26), and the walk of a point through the
// space, one axis at a time.
#ifndef FROSTLINE_SAMPLER_GP_POSTERIOR_H_
#define FROSTLINE_SAMPLER_GP_POSTERIOR_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "sampler/gp/inverse_factor.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/level_kernel.h"

namespace frostline {

// Keeps a reference to the axes. The rows at the end may have no target (trials
// that still run): they take away variance and leave the mean alone, which is
// what believing the mean there comes to (the kriging believer of Ginsbourger,
// Le Riche and Carraro, 2010).
class LevelPosterior {
 public:
  explicit LevelPosterior(const std::vector<LevelAxis>& axes) : axes_(axes) {}

  // Rows that are as they were are not computed again.
  void Update(const KernelParameters& parameters, KernelRows rows,
              std::span<const double> targets);

  const LevelKernel& kernel() const { return *kernel_; }
  const KernelRows& rows() const { return rows_; }
  const InverseFactor& factor() const { return factor_; }
  // One for each target: the mean is their sum weighted by covariance.
  const std::vector<double>& weights() const { return weights_; }
  double MeanAt(const Cells& at) const;
  // The same at a row that has a target, at no cost: K α = y - N α.
  double MeanOfRow(std::size_t row, double target) const {
    return target - (kernel_->noise() + rows_.doubt[row]) * weights_[row];
  }

 private:
  const std::vector<LevelAxis>& axes_;
  KernelParameters parameters_;
  std::optional<LevelKernel> kernel_;
  KernelRows rows_;
  InverseFactor factor_;
  std::vector<double> weights_;
};

struct Belief {
  double mean = 0.0;
  double variance = 0.0;
};

// A point that walks. Looking along an axis costs n² / 2 for all its cells
// together: with P_i the part of the covariance that the axis multiplies,
// k_i(cell) = k_i + P_i (T[cell][c_i] - T[now][c_i]), so W k(cell) is W k and a
// mixture of one vector for each cell that occurs among the rows.
class PosteriorWalk {
 public:
  // Without variance, walking costs n only.
  PosteriorWalk(const LevelPosterior& posterior, bool with_variance);

  void Place(const Cells& at);
  Belief Here() const;
  // What would be believed at each of `cells` of the axis.
  std::vector<Belief> Look(std::size_t axis, std::span<const int> cells);
  // Goes to a cell of the axis last looked along.
  void Step(int cell);

 private:
  void GroupRows(std::size_t axis);

  const LevelPosterior& posterior_;
  bool with_variance_;
  Cells at_;
  std::vector<double> products_;
  std::vector<double> whitened_;  // W k
  double mean_ = 0.0;
  // Of the axis last looked along.
  std::size_t axis_ = 0;
  std::vector<double> slopes_;  // P_i
  std::vector<double> mean_groups_;
  std::vector<double> groups_;  // [row of W][cell]
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_POSTERIOR_H_

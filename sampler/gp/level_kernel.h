// SPDX-License-Identifier: Apache-2.0
//
// File: level_kernel.h
//
// How alike two trials are. Effects of modules mostly add up, and what is left
// is a matter of few modules at once, so the covariance of x and y is
//
//   k = Σ_d a_d T_d(x_d, y_d) + b Π_d (1 - s_d + s_d T_d(x_d, y_d))
//
// the additive part of Duvenaud et al. ("Additive Gaussian Processes", NeurIPS
// 2011, §2) and a product that, multiplied out, has all their higher orders,
// s_d saying how much module d takes part in them. T_d is a Matérn 5/2 of the
// distance between places (Rasmussen and Williams, "Gaussian Processes for
// Machine Learning", 2006, eq. 4.17), 1 on the diagonal. For frozen it is
//
//   T_d(frozen, y) = r T_d(anchor, y),  T_d(frozen, frozen) = 1
//
// with a learnt tie r in (0, 1): at 1 frozen is merely the next smaller rate,
// at 0 it tells nothing about the rates. Trials of another study count times
// another tie (Bonilla et al., "Multi-task Gaussian Process Prediction",
// NeurIPS 2007, eq. 1, with one correlation for all pairs of studies).
#ifndef FROSTLINE_SAMPLER_GP_LEVEL_KERNEL_H_
#define FROSTLINE_SAMPLER_GP_LEVEL_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sampler/gp/level_axis.h"

namespace frostline {

// Trials as the kernel sees them, by columns.
struct KernelRows {
  std::vector<std::vector<std::uint8_t>> cells;  // [axis][row]
  std::vector<std::uint8_t> study;               // 0: this one
  std::vector<double> doubt;  // variance on top of the noise of all

  std::size_t size() const { return study.size(); }
  Cells At(std::size_t row) const;
  void Append(const Cells& at, std::uint8_t of_study, double with_doubt);
  bool operator==(const KernelRows& other) const = default;
};

// What is learnt, in logarithms (ties: log-odds) so that any number is valid:
// the shared ones, then a relevance for each axis, then a length for each axis,
// both relative to the shared ones.
enum SharedParameter : std::size_t {
  kNoise,
  kAdditive,
  kJoint,
  kStrength,
  kLength,
  kFrozenTie,
  kStudyTie,
  kSharedParameters
};
using KernelParameters = std::vector<double>;

// One axis: [cell * cells + cell].
struct AxisTable {
  std::size_t cells = 0;
  double additive = 0.0;          // a_d
  double strength = 0.0;          // s_d
  std::vector<double> base;       // T_d
  std::vector<double> by_length;  // its derivative by the log length
  std::vector<double> by_frozen_tie;
  std::vector<double> factor;  // 1 - s_d + s_d T_d
};

// The two parts of the covariances of one point with many rows.
struct KernelParts {
  std::vector<double> sums;
  std::vector<double> products;  // without b
};

class LevelKernel {
 public:
  LevelKernel(const std::vector<LevelAxis>& axes,
              const KernelParameters& parameters);

  double noise() const { return noise_; }
  double joint() const { return joint_; }
  double variance() const { return variance_; }
  double study_tie() const { return study_tie_; }
  double TieOf(std::uint8_t a, std::uint8_t b) const {
    return a == b ? 1.0 : study_tie_;
  }
  const AxisTable& table(std::size_t axis) const { return tables_[axis]; }

  // With the first `count` rows, ties between studies left out.
  KernelParts PartsWith(const Cells& at, const KernelRows& rows,
                        std::size_t count) const;
  // Everything put together.
  std::vector<double> CovarianceWith(const Cells& at, std::uint8_t study,
                                     const KernelRows& rows,
                                     std::size_t count) const;

 private:
  std::vector<AxisTable> tables_;
  double noise_ = 0.0;
  double joint_ = 0.0;
  double variance_ = 0.0;
  double study_tie_ = 0.0;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_KERNEL_H_

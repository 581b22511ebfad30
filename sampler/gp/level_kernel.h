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
#include <vector>

#include "sampler/gp/axis_table.h"
#include "sampler/gp/kernel_parameters.h"
#include "sampler/gp/kernel_rows.h"
#include "sampler/gp/level_axis.h"

namespace frostline {

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

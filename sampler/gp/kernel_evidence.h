// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_evidence.h
//
// What trials say of one kernel: the logarithm of the marginal likelihood of
// their targets (Rasmussen and Williams, 2006, eq. 5.8) and its gradient (eq.
// 5.9).
#ifndef FROSTLINE_SAMPLER_GP_KERNEL_EVIDENCE_H_
#define FROSTLINE_SAMPLER_GP_KERNEL_EVIDENCE_H_

#include <cstddef>
#include <span>
#include <vector>

#include "sampler/gp/inverse_factor.h"
#include "sampler/gp/level_axis.h"
#include "sampler/gp/level_kernel.h"

namespace frostline {

// Keeps a reference to the rows.
class KernelEvidence {
 public:
  KernelEvidence(const std::vector<LevelAxis>& axes, const KernelRows& rows,
                 std::span<const double> targets,
                 const KernelParameters& parameters);

  // But for a constant.
  double value() const { return value_; }
  // By every parameter. Uses up what it is made from: to be asked for once.
  KernelParameters Gradient();

 private:
  double Covariance(std::size_t row, std::size_t other) const;
  void FillSlopes();
  // Fills in what belongs to all axes, then what belongs to axis d.
  void WalkPairs(KernelParameters& gradient);
  void WalkAxis(std::size_t d, KernelParameters& gradient) const;

  const KernelRows& rows_;
  LevelKernel kernel_;
  InverseFactor factor_;
  std::vector<KernelParts> parts_;
  std::vector<double> weights_;
  // For j < i: dL/dK_ij + dL/dK_ji = α_i α_j - (K⁻¹)_ij.
  std::vector<std::vector<double>> slopes_;
  double diagonal_ = 0.0;  // dL/dK_ii, summed
  double value_ = 0.0;
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_KERNEL_EVIDENCE_H_

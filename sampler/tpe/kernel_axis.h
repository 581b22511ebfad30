// SPDX-License-Identifier: Apache-2.0
//
// File: kernel_axis.h
//
// One parameter's part of a mixture of kernels: a kernel for every observed
// value and, the last one, the prior. Each kind of domain has its own
// (numeric_axis.h, choice_axis.h, freeze_axis.h).
#ifndef FROSTLINE_SAMPLER_TPE_KERNEL_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_KERNEL_AXIS_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/rng.h"
#include "study/domain.h"

namespace frostline {

class KernelAxis {
 public:
  virtual ~KernelAxis() = default;

  // A value of the domain, drawn from one kernel.
  virtual double Draw(std::size_t kernel, Rng& rng) const = 0;

  // Adds ln p_k(value) to sums[k] for every kernel k. Not const: what it
  // computes for a value it may keep for the next call.
  virtual void AddLogDensity(double value, std::span<double> sums) = 0;
};

// `observed` are values of the domain, oldest first; `frozen_share` is the
// prior's for a rate that can be frozen. The result refers to neither.
std::unique_ptr<KernelAxis> FitAxis(const Domain& domain,
                                    const std::vector<double>& observed,
                                    double frozen_share);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_KERNEL_AXIS_H_

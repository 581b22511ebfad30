// SPDX-License-Identifier: Apache-2.0
//
// File: freeze_axis.h
//
// Kernels over a log-uniform rate that can be frozen: 0 is an atom of its own
// beside the line of rates. A kernel first decides frozen or not, as a choice
// whose prior is `frozen_share`, then the rate, by the kernels of
// numeric_axis.h over the observed rates. A frozen observation knows nothing
// of rates and leaves those to the prior.
#ifndef FROSTLINE_SAMPLER_TPE_FREEZE_AXIS_H_
#define FROSTLINE_SAMPLER_TPE_FREEZE_AXIS_H_

#include <vector>

#include "sampler/tpe/kernel_axis.h"
#include "sampler/tpe/numeric_axis.h"

namespace frostline {

class FreezeAxis final : public KernelAxis {
 public:
  FreezeAxis(const NumericRange& rates, const std::vector<double>& observed,
             double frozen_share);

  double Draw(std::size_t kernel, Rng& rng) const override;
  void AddLogDensity(double value, std::span<double> sums) override;

 private:
  NumericAxis rates_;
  std::vector<std::size_t> rate_kernel_;  // of each kernel, in rates_
  std::vector<double> frozen_;            // of each kernel, P(frozen)
  std::vector<double> scratch_;           // one number per kernel of rates_
};

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_TPE_FREEZE_AXIS_H_

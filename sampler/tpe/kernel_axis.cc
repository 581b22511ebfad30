// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/kernel_axis.h"

#include <variant>

#include "sampler/numeric_range.h"
#include "sampler/tpe/choice_axis.h"
#include "sampler/tpe/freeze_axis.h"
#include "sampler/tpe/numeric_axis.h"

namespace frostline {

std::unique_ptr<KernelAxis> FitAxis(const Domain& domain,
                                    const std::vector<double>& observed,
                                    double frozen_share) {
  if (const auto* d = std::get_if<Categorical>(&domain)) {
    return std::make_unique<ChoiceAxis>(d->choices.size(), observed);
  }
  const NumericRange range = *NumericRangeOf(domain);
  const auto* const rate = std::get_if<LogUniform>(&domain);
  if (rate != nullptr && rate->freeze) {
    return std::make_unique<FreezeAxis>(range, observed, frozen_share);
  }
  return std::make_unique<NumericAxis>(range, FitKernels(range, observed));
}

}  // namespace frostline

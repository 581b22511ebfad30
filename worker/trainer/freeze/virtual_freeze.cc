// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/freeze/virtual_freeze.h"

#include <cmath>

namespace frostline::trainer {

std::vector<std::string> VirtuallyFrozen(
    const ModuleRates& rates, const std::map<std::string, WeightSize>& sizes,
    const StepBound& bound, double factors, double tau) {
  std::vector<std::string> names;
  for (const auto& [name, rate] : rates) {
    const auto found = sizes.find(name);
    if (rate == 0.0 || tau == 0.0 || found == sizes.end()) continue;
    const auto& [size, count] = found->second;
    // While the rule holds, no weight has grown by more than tau of it.
    const double step = bound.each + bound.together / std::sqrt(count) +
                        bound.decay * (1.0 + tau) * size;
    if (rate * factors * step <= tau * size) names.push_back(name);
  }
  return names;
}

}  // namespace frostline::trainer

// SPDX-License-Identifier: Apache-2.0
#include "server/search/observed_steps.h"

namespace frostline::server {

std::vector<IntermediateValue> IntermediateOf(
    const std::vector<Measurement>& measurements, const CheckedStudy& study) {
  std::vector<IntermediateValue> values;
  for (const Measurement& measurement : measurements) {
    const auto found = measurement.metrics.find(study.objectives[0].metric);
    if (found == measurement.metrics.end()) continue;
    values.push_back({measurement.step, found->second});
  }
  return values;
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/model/bottleneck.h"

namespace frostline::trainer {

std::string DownNameOf(const std::string& linear) {
  return linear + ".adapter.down";
}

std::string UpNameOf(const std::string& linear) {
  return linear + ".adapter.up";
}

Expected<Done> CheckBottleneck(const BottleneckSpec& spec,
                               std::int64_t hidden) {
  if (spec.size <= hidden) return Done{};
  return Fault{
      FaultKind::kMisuse,
      "training.adapters.size is " + std::to_string(spec.size) +
          ", and hidden states have " + std::to_string(hidden),
      "give a size of 1 to " + std::to_string(hidden) + "; 8 to 256 are usual"};
}

}  // namespace frostline::trainer

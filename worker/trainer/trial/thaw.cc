// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/trial/thaw.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace frostline::trainer {
namespace {

constexpr std::string_view kLayer = "layer.";

// How many blocks must have thawed for this module to train.
std::int64_t NeededFor(std::string_view module, std::int64_t layers) {
  if (module == "embeddings") return layers + 1;
  if (!module.starts_with(kLayer)) return 0;  // pooler, head
  const std::string_view number = module.substr(kLayer.size());
  std::int64_t layer = 0;
  std::from_chars(number.data(), number.data() + number.size(), layer);
  return layers - layer;
}

}  // namespace

std::int64_t ThawedBlocks(std::int64_t done, std::int64_t every,
                          std::int64_t layers) {
  return every == 0 ? layers + 1 : std::min(done / every, layers + 1);
}

ModuleRates ThawedRates(const ModuleRates& rates, std::int64_t thawed,
                        std::int64_t layers) {
  ModuleRates result = rates;
  for (auto& [module, rate] : result) {
    if (NeededFor(module, layers) > thawed) rate = 0.0;
  }
  return result;
}

}  // namespace frostline::trainer

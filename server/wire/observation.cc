// SPDX-License-Identifier: Apache-2.0
#include "server/wire/observation.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "server/wire/training_seed.h"

namespace frostline::server {
namespace {

// FNV-1a, 32 bits: the same in every process, as a study replays.
std::uint32_t ObservationMarkOf(const std::string& device) {
  if (device.empty()) return 0;
  std::uint32_t mark = 2166136261U;
  for (const char letter : device) {
    mark = (mark ^ static_cast<unsigned char>(letter)) * 16777619U;
  }
  return std::max(mark, 1U);
}

}  // namespace

TrialUse UseOf(const v1::Usage& usage) {
  TrialUse use;
  use.seconds = static_cast<float>(usage.total_seconds());
  use.device = ObservationMarkOf(usage.device());
  if (usage.prefix_misses() + usage.prefix_hits() > 0) {
    use.prefix_computed = static_cast<float>(usage.prefix_misses());
  }
  return use;
}

Observation ObservationOf(const storage::TrialRow& row) {
  Observation seen;
  seen.number = row.number;
  // Whether a pending trial waits or runs tells a sampler nothing.
  seen.state = IsTerminal(row.state) ? row.state : TrialState::kRunning;
  seen.point = row.point;
  seen.values = row.values;
  v1::Usage usage;
  usage.ParseFromString(row.usage);
  seen.cost_s = usage.train_seconds();
  seen.use = UseOf(usage);
  seen.trained_parameters = static_cast<double>(usage.trained_parameters());
  const NotedSeed noted = NotedSeedOf(row);
  seen.seed = noted.seed;
  seen.repeat = noted.repeat;
  return seen;
}

}  // namespace frostline::server

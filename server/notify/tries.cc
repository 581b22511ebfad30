// SPDX-License-Identifier: Apache-2.0
#include "server/notify/tries.h"

#include <algorithm>

#include "base/retry.h"

namespace frostline::server {
namespace {

constexpr double kSpread = 0.5;

}  // namespace

std::optional<Duration> PauseAfter(int tries, WallMicros ended, WallMicros now,
                                   const TryRules& rules, Rng& rng) {
  Duration mean = rules.first;
  for (int i = 1; i < tries && mean < rules.longest; ++i) mean *= 2;
  const Duration pause = Jitter(std::min(mean, rules.longest), kSpread, rng);
  // A wall clock that was set back must not make this endless or end it.
  const Duration age =
      std::chrono::microseconds(std::max<WallMicros>(0, now - ended));
  if (age + pause > rules.give_up) return std::nullopt;
  return pause;
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "base/retry.h"

#include <algorithm>

namespace frostline {
namespace {

Duration Scale(Duration duration, double factor) {
  return Duration(static_cast<Duration::rep>(
      static_cast<double>(duration.count()) * factor));
}

}  // namespace

Duration Backoff::Next(Rng& rng) {
  const Duration wait = Scale(ceiling_, 1.0 - rng.Uniform());
  ceiling_ = std::min(2 * ceiling_, longest_);
  return wait;
}

Duration Jitter(Duration mean, double spread, Rng& rng) {
  return Scale(mean, 1.0 + spread * (2.0 * rng.Uniform() - 1.0));
}

}  // namespace frostline

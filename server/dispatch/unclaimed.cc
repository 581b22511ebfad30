// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/unclaimed.h"

#include <algorithm>

namespace frostline::server {

std::int64_t CountUnclaimed(const StudyBook& book, Ramp& ramp, WallMicros now) {
  if (!book.IsLeasing()) return 0;
  const auto without_proposing = [&book](std::int64_t left) {
    return std::max<std::int64_t>(0, left - book.reserved());
  };
  const std::int64_t may_begin =
      std::min(book.SlotsLeft(now), without_proposing(ramp.LeftFor(book)));
  return std::min(without_proposing(book.ParallelLeft()),
                  book.Count(TrialState::kQueued) + may_begin);
}

}  // namespace frostline::server

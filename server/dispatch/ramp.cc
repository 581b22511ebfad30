// SPDX-License-Identifier: Apache-2.0
#include "server/dispatch/ramp.h"

#include <algorithm>

#include "sampler/useful_parallelism.h"
#include "server/search/sampler_choice.h"

namespace frostline::server {

std::int64_t Ramp::LeftFor(const StudyBook& book) {
  if (book.checked().settings.max_parallel() > 0) return sampler::kNoLimit;
  Known& known = studies_[book.row().key];
  if (known.ends_stamp != book.ends_stamp()) {
    ++computed_;
    known = {.ends_stamp = book.ends_stamp(),
             .teaching = TeachingParallelismOf(book.checked(), book.Counts())};
  }
  return std::max<std::int64_t>(0, known.teaching -
                                       book.Count(TrialState::kRunning) -
                                       book.Count(TrialState::kQueued));
}

void Ramp::ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over) {
  std::erase_if(studies_,
                [&](const auto& entry) { return is_over(entry.first); });
}

}  // namespace frostline::server

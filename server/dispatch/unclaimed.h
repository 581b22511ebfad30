// SPDX-License-Identifier: Apache-2.0
//
// File: unclaimed.h
//
// Counts the trials of a study that nobody has and that would begin at once if
// workers came for them: those that wait, and those that its sampler would be
// asked for.
//
//   begin     = min(budget, teaching - running - queued), at least 0
//   unclaimed = min(parallel, queued + begin)
//
// `parallel` is what max_parallel leaves, `budget` what may still be proposed,
// `teaching` how many trials at a time the sampler learns from (ramp.h). What a
// sampler is proposing now is left out everywhere: it was asked for workers
// that wait already, or are about to ask (ExpectedSlots::TakeOff).
//
//   200 trials of levels-gp, no worker: 14, and with 14 workers 0, until
//   results let more of them teach
#ifndef FROSTLINE_SERVER_DISPATCH_UNCLAIMED_H_
#define FROSTLINE_SERVER_DISPATCH_UNCLAIMED_H_

#include <cstdint>

#include "server/dispatch/ramp.h"
#include "server/ledger/study_book.h"

namespace frostline::server {

// Returns 0 unless the study is active. It is no more than there are trials.
std::int64_t CountUnclaimed(const StudyBook& book, Ramp& ramp, WallMicros now);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_UNCLAIMED_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: sampler.h
//
// The seam of search: data in, a point out. A sampler knows a space and reads a
// history; it holds no lock, clock, storage or trial. What it proposes is a
// function of (seed, trial number, history it was shown), so a study replays
// bit for bit from the log of those three.
//
//   ASSIGN_OR_RETURN(auto sampler, MakeSampler(spec, space, objectives));
//   Rng rng(study_seed, trial_number);
//   ASSIGN_OR_RETURN(Point point, sampler->Propose(history, number, rng));
#ifndef FROSTLINE_SAMPLER_SAMPLER_H_
#define FROSTLINE_SAMPLER_SAMPLER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/rng.h"
#include "study/history.h"
#include "study/point.h"

namespace frostline::sampler {

// One owner thread at a time. A sampler may remember what it computed from the
// history (and catch up through History::changes()), as long as the answer
// stays the one a fresh sampler would give.
class Sampler {
 public:
  virtual ~Sampler() = default;

  // A point of the space for trial `number`: every active parameter has a value
  // in its domain, every other is absent, whatever the history holds (failed
  // trials, values out of today's space, none at all). `history` is of one
  // study and grows from call to call.
  //
  // Errors: SPACE_EXHAUSTED, when a sampler that covers a finite space has
  // proposed every point. Nothing else, and never an exception.
  virtual absl::StatusOr<Point> Propose(const History& history,
                                        std::int64_t number, Rng& rng) = 0;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_SAMPLER_H_

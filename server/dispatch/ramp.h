// SPDX-License-Identifier: Apache-2.0
//
// File: ramp.h
//
// Begins no more trials at a time than teach a study's sampler
// (sampler/useful_parallelism.h): what begins beyond that begins blind, and its
// place in the budget is gone. Whoever sets max_parallel has decided, and has
// so many. It is not thread-safe.
//
//   200 trials of levels-gp and 64 workers: 14 run at first, 28 after 56 have
//   ended; other studies have the rest of the workers
#ifndef FROSTLINE_SERVER_DISPATCH_RAMP_H_
#define FROSTLINE_SERVER_DISPATCH_RAMP_H_

#include <cstdint>
#include <map>

#include "absl/functional/function_ref.h"
#include "server/ledger/study_book.h"

namespace frostline::server {

class Ramp {
 public:
  // Returns how many may be proposed beside those that run or wait; what a
  // person added is never held back.
  std::int64_t LeftFor(const StudyBook& book);
  // Says whether workers could run more of the study if its sampler could use
  // them.
  bool Holds(const StudyBook& book) { return LeftFor(book) == 0; }

  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over);
  void Clear() { studies_.clear(); }
  // Counts computations, to guard what a look costs.
  std::int64_t computed() const { return computed_; }

 private:
  struct Known {
    std::int64_t ends_stamp = 0;
    std::int64_t teaching = 0;
  };

  std::map<storage::StudyKey, Known> studies_;
  std::int64_t computed_ = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_RAMP_H_

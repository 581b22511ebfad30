// SPDX-License-Identifier: Apache-2.0
//
// File: best_trials.h
//
// Keeps the best trial, or with several objectives the Pareto set.
#ifndef FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_
#define FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_

#include <cstdint>
#include <vector>

#include "study/objective.h"

namespace frostline::server {

// It is not thread-safe.
class BestTrials {
 public:
  explicit BestTrials(std::vector<Objective> objectives)
      : objectives_(std::move(objectives)) {}

  // Takes finite `values`, one per objective. Of equal trials the earlier
  // stays; with several objectives both do.
  void Offer(std::int64_t number, const std::vector<double>& values);

  // Returns them best first, by the first objective.
  std::vector<std::int64_t> Numbers() const;

 private:
  struct Entry {
    std::int64_t number;
    std::vector<double> losses;
  };
  std::vector<Objective> objectives_;
  std::vector<Entry> front_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_BEST_TRIALS_H_

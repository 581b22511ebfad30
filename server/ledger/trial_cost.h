// SPDX-License-Identifier: Apache-2.0
//
// File: trial_cost.h
//
// What trials cost, as their trainers say, and what a study's come to. Sums are
// of whole numbers and stop at the largest one, so that they depend on no
// order: counted one by one or from a summary they are the same.
//
// What a study would have cost otherwise follows from the work that it did not
// do, and from a speed of its own:
//
//   most  = seconds * (1 + saved / spent)          at its mean speed
//   least = seconds + saved / speed of its fastest trial
//
// The mean holds time in which nothing is computed (loading, evaluations,
// waiting for the disk), so `most` rather says too much. The speed of a trial
// that computed more than it shared is nearer to that of the work that was
// saved, so `least` rather says too little. Example: 100 s for 40 TFLOP, 60
// saved; the fastest trial did .8 TFLOP a second: 175 to 250 s.
#ifndef FROSTLINE_SERVER_LEDGER_TRIAL_COST_H_
#define FROSTLINE_SERVER_LEDGER_TRIAL_COST_H_

#include <cstdint>

#include "frostline/v1/study.pb.h"
#include "storage/rows.h"

namespace frostline::server {

// What a trainer says of itself may be nonsense: nothing is negative, or above
// kMostCost.
struct TrialCost {
  static constexpr std::int64_t kMostCost = 100'000'000'000'000;
  std::int64_t train_us = 0;
  std::int64_t total_us = 0;
  std::int64_t mega_flops_spent = 0;
  std::int64_t mega_flops_skipped = 0;
  std::int64_t mega_flops_shared = 0;
  std::int64_t prefix_hits = 0;
  std::int64_t prefix_misses = 0;
  std::int64_t prefix_bytes = 0;
  std::int64_t energy_millijoules = 0;
};

// Returns zeros where nothing was said.
TrialCost CostOf(const storage::TrialRow& row);

// Adds what an ended trial cost; an imported one ran elsewhere, for another
// study's budget.
void AddCost(const storage::TrialRow& row, storage::SummaryRow& summary);

v1::StudyUsage UsageOf(const storage::SummaryRow& summary);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_TRIAL_COST_H_

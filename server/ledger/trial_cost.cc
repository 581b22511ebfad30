// SPDX-License-Identifier: Apache-2.0
#include "server/ledger/trial_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "frostline/v1/trial.pb.h"

namespace frostline::server {
namespace {

std::int64_t Whole(double value) {
  if (!std::isfinite(value) || value <= 0) return 0;
  constexpr auto kMost = static_cast<double>(TrialCost::kMostCost);
  return std::llround(std::min(value, kMost));
}

void AddToCost(std::int64_t& sum, std::int64_t more) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  sum = sum > kMost - more ? kMost : sum + more;
}

// Returns what was shared, less what was computed to have it: each boundary was
// computed once and taken hits / misses times.
double SavedBySharing(const storage::SummaryRow& summary) {
  if (summary.prefix_hits == 0) return 0.0;
  const double computed =
      std::min(1.0, static_cast<double>(summary.prefix_misses) /
                        static_cast<double>(summary.prefix_hits));
  return static_cast<double>(summary.mega_flops_shared) * (1.0 - computed);
}

void Estimate(const storage::SummaryRow& summary, double saved,
              v1::SecondsRange& range) {
  const double seconds = static_cast<double>(summary.total_us) * 1e-6;
  const double at_mean =
      seconds * saved / static_cast<double>(summary.mega_flops_spent);
  const double at_fastest =
      saved / static_cast<double>(summary.fastest_mega_flops);
  range.set_least(seconds + std::min(at_fastest, at_mean));
  range.set_most(seconds + at_mean);
}

}  // namespace

TrialCost CostOf(const storage::TrialRow& row) {
  TrialCost cost;
  v1::Usage usage;
  if (row.usage.empty() || !usage.ParseFromString(row.usage)) return cost;
  cost.train_us = Whole(usage.train_seconds() * 1e6);
  cost.total_us = Whole(usage.total_seconds() * 1e6);
  cost.mega_flops_spent = Whole(usage.flops_spent() * 1e-6);
  cost.mega_flops_skipped = Whole(usage.flops_skipped() * 1e-6);
  cost.mega_flops_shared = Whole(usage.flops_shared() * 1e-6);
  cost.prefix_hits = Whole(static_cast<double>(usage.prefix_hits()));
  cost.prefix_misses = Whole(static_cast<double>(usage.prefix_misses()));
  cost.prefix_bytes = Whole(static_cast<double>(usage.prefix_bytes()));
  cost.energy_millijoules = Whole(usage.energy_joules() * 1e3);
  return cost;
}

void AddCost(const storage::TrialRow& row, storage::SummaryRow& summary) {
  if (row.origin == storage::TrialOrigin::kImported) return;
  const TrialCost cost = CostOf(row);
  // `total` is of the last attempt alone, `train` of all that led to it.
  const std::int64_t total_us = std::max(cost.train_us, cost.total_us);
  if (total_us == 0 && cost.mega_flops_spent == 0) return;
  AddToCost(summary.costed, 1);
  AddToCost(summary.train_us, cost.train_us);
  AddToCost(summary.total_us, total_us);
  AddToCost(summary.mega_flops_spent, cost.mega_flops_spent);
  AddToCost(summary.mega_flops_skipped, cost.mega_flops_skipped);
  AddToCost(summary.mega_flops_shared, cost.mega_flops_shared);
  AddToCost(summary.prefix_hits, cost.prefix_hits);
  AddToCost(summary.prefix_misses, cost.prefix_misses);
  AddToCost(summary.prefix_bytes, cost.prefix_bytes);
  if (total_us == 0) return;
  summary.fastest_mega_flops =
      std::max(summary.fastest_mega_flops,
               Whole(static_cast<double>(cost.mega_flops_spent) /
                     (static_cast<double>(total_us) * 1e-6)));
}

v1::StudyUsage UsageOf(const storage::SummaryRow& summary) {
  v1::StudyUsage usage;
  usage.set_trials(summary.costed);
  usage.set_train_seconds(static_cast<double>(summary.train_us) * 1e-6);
  usage.set_total_seconds(static_cast<double>(summary.total_us) * 1e-6);
  usage.set_flops_spent(static_cast<double>(summary.mega_flops_spent) * 1e6);
  usage.set_flops_skipped(static_cast<double>(summary.mega_flops_skipped) *
                          1e6);
  usage.set_flops_shared(static_cast<double>(summary.mega_flops_shared) * 1e6);
  usage.set_prefix_hits(summary.prefix_hits);
  usage.set_prefix_misses(summary.prefix_misses);
  usage.set_prefix_bytes(summary.prefix_bytes);
  usage.set_fastest_flops_per_second(
      static_cast<double>(summary.fastest_mega_flops) * 1e6);
  if (summary.mega_flops_spent == 0 || summary.fastest_mega_flops == 0) {
    return usage;
  }
  const double shared = SavedBySharing(summary);
  if (shared > 0) Estimate(summary, shared, *usage.mutable_without_sharing());
  if (summary.mega_flops_skipped > 0) {
    Estimate(summary, shared + static_cast<double>(summary.mega_flops_skipped),
             *usage.mutable_without_freezing());
  }
  return usage;
}

}  // namespace frostline::server

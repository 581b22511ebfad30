// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/percentile_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "sampler/pruner/due_step.h"

namespace frostline::sampler {
namespace {

std::optional<double> ValueAt(const Observation& trial, std::int64_t step) {
  const auto& values = trial.intermediate;
  const auto found = std::lower_bound(
      values.begin(), values.end(), step,
      [](const IntermediateValue& v, std::int64_t s) { return v.step < s; });
  if (found == values.end() || found->step != step) return std::nullopt;
  return found->value;
}

class PercentileRule final : public Pruner {
 public:
  PercentileRule(const PercentileOptions& options, std::string name,
                 Objective objective)
      : options_(options),
        name_(std::move(name)),
        objective_(std::move(objective)) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() ||
        !IsDue(trial->intermediate, options_.warmup_steps, options_.interval)) {
      return {};
    }
    const std::int64_t step = trial->intermediate.back().step;
    std::int64_t succeeded = 0;
    std::int64_t reported = 0;
    std::vector<double> others;
    for (const Observation& other : history.trials()) {
      if (other.state != TrialState::kSucceeded) continue;
      ++succeeded;
      const std::optional<double> value = ValueAt(other, step);
      if (!value.has_value()) continue;
      ++reported;
      if (!std::isnan(*value)) others.push_back(*value);
    }
    if (succeeded < std::max<std::int64_t>(options_.startup_trials, 1)) {
      return {};
    }
    return Compare(BestLoss(*trial), step, std::move(others),
                   reported >= options_.min_trials);
  }

 private:
  // NaN when there is nothing but NaN.
  double BestLoss(const Observation& trial) const {
    double best = std::numeric_limits<double>::quiet_NaN();
    for (const IntermediateValue& value : trial.intermediate) {
      best = std::fmin(best, AsLoss(objective_, value.value));
    }
    return best;
  }

  PruneDecision Compare(double loss, std::int64_t step,
                        std::vector<double> others, bool enough) const {
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("nothing but NaN up to step %d", step)};
    }
    if (!enough || others.empty()) return {};
    const std::size_t count = others.size();
    const bool rises = objective_.direction == Direction::kMaximize;
    const double bound =
        PercentileOf(std::move(others),
                     rises ? 100.0 - options_.percentile : options_.percentile);
    if (!(loss > AsLoss(objective_, bound))) return {};
    return {true, absl::StrFormat(
                      "best %s up to step %d is %g, %s of %d trials is %g",
                      objective_.metric, step, AsLoss(objective_, loss), name_,
                      count, bound)};
  }

  PercentileOptions options_;
  std::string name_;
  Objective objective_;
};

}  // namespace

double PercentileOf(std::vector<double> values, double percentile) {
  std::sort(values.begin(), values.end());
  const double place =
      static_cast<double>(values.size() - 1) * (percentile / 100.0);
  const auto below = static_cast<std::size_t>(place);
  const double share = place - std::floor(place);
  const double a = values[below];
  const double b = values[std::min(below + 1, values.size() - 1)];
  if (share == 0.0 || a == b) return a;
  // Where the distance is too large for a number, each end has its own part.
  if (!std::isfinite(b - a)) return a * (1.0 - share) + b * share;
  // From the nearer end, as it was recorded: rounding can decide.
  return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1.0 - share);
}

PercentileOptions ReadPercentileOptions(OptionReader& reader) {
  constexpr std::int64_t kMost = 1'000'000'000'000;
  PercentileOptions options;
  options.startup_trials = reader.Int("startup_trials", 5, 0, kMost);
  options.warmup_steps = reader.Int("warmup_steps", 0, 0, kMost);
  options.interval = reader.Int("interval", 1, 1, kMost);
  options.min_trials = reader.Int("min_trials", 1, 1, kMost);
  return options;
}

std::unique_ptr<Pruner> MakePercentileRule(const PercentileOptions& options,
                                           std::string name,
                                           const Objective& objective) {
  return std::make_unique<PercentileRule>(options, std::move(name), objective);
}

}  // namespace frostline::sampler

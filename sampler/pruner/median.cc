// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/median.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace frostline {
namespace {

struct MedianOptions {
  std::int64_t startup_trials = 0;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
  std::int64_t min_trials = 1;
};

// REQUIRES: values is not empty.
double MedianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  if (values.size() % 2 == 1) return values[half];
  return values[half - 1] / 2.0 + values[half] / 2.0;
}

std::optional<double> ValueAt(const Observation& trial, std::int64_t step) {
  const auto& values = trial.intermediate;
  const auto found = std::lower_bound(
      values.begin(), values.end(), step,
      [](const IntermediateValue& v, std::int64_t s) { return v.step < s; });
  if (found == values.end() || found->step != step) return std::nullopt;
  return found->value;
}

class MedianPruner final : public Pruner {
 public:
  MedianPruner(const MedianOptions& options, const Objective& objective)
      : options_(options), objective_(objective) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() || !IsDue(*trial)) {
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
    return Compare(BestLoss(*trial), step, others,
                   reported >= options_.min_trials);
  }

 private:
  // At the first report after each multiple of the interval.
  bool IsDue(const Observation& trial) const {
    const auto& values = trial.intermediate;
    const std::int64_t step = values.back().step;
    if (step < options_.warmup_steps) return false;
    const std::int64_t due =
        step - (step - options_.warmup_steps) % options_.interval;
    return values.size() < 2 || values[values.size() - 2].step < due;
  }

  // NaN when there is nothing but NaN.
  double BestLoss(const Observation& trial) const {
    double best = std::numeric_limits<double>::quiet_NaN();
    for (const IntermediateValue& value : trial.intermediate) {
      best = std::fmin(best, AsLoss(objective_, value.value));
    }
    return best;
  }

  PruneDecision Compare(double loss, std::int64_t step,
                        const std::vector<double>& others, bool enough) const {
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("nothing but NaN up to step %d", step)};
    }
    if (!enough || others.empty()) return {};
    const double median = MedianOf(others);
    if (!(loss > AsLoss(objective_, median))) return {};
    return {true,
            absl::StrFormat("best %s up to step %d is %g, median of %d "
                            "trials is %g",
                            objective_.metric, step, AsLoss(objective_, loss),
                            others.size(), median)};
  }

  MedianOptions options_;
  Objective objective_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeMedianPruner(
    const Options& options, const std::vector<Objective>& objectives) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner median",
                      "pruner.options", options);
  constexpr std::int64_t kMost = 1'000'000'000'000;
  MedianOptions median;
  median.startup_trials = reader.Int("startup_trials", 5, 0, kMost);
  median.warmup_steps = reader.Int("warmup_steps", 0, 0, kMost);
  median.interval = reader.Int("interval", 1, 1, kMost);
  median.min_trials = reader.Int("min_trials", 1, 1, kMost);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<MedianPruner>(median, objectives[0]);
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/percentile_rule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "sampler/pruner/best_so_far.h"
#include "sampler/pruner/due_step.h"
#include "sampler/pruner/step_percentiles.h"

namespace frostline::sampler {
namespace {

class PercentileRule final : public Pruner {
 public:
  PercentileRule(const PercentileOptions& options, std::string name,
                 const Objective& objective)
      : options_(options),
        name_(std::move(name)),
        objective_(objective),
        others_(objective.direction == Direction::kMaximize
                    ? 100.0 - options.percentile
                    : options.percentile,
                options.warmup_steps),
        best_(objective) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    others_.CatchUp(history);
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() ||
        !IsDue(trial->intermediate, options_.warmup_steps, options_.interval) ||
        others_.succeeded() <
            std::max<std::int64_t>(options_.startup_trials, 1)) {
      return {};
    }
    return Compare(best_.Of(history, *trial, trial->intermediate.size()),
                   trial->intermediate.back().step);
  }

 private:
  // `loss` is NaN when there is nothing but NaN.
  PruneDecision Compare(double loss, std::int64_t step) const {
    if (std::isnan(loss)) {
      return {true, absl::StrFormat("nothing but NaN up to step %d", step)};
    }
    const StepPercentiles::Step* const others = others_.Find(step);
    if (others == nullptr || others->reported < options_.min_trials ||
        others->values.count() == 0) {
      return {};
    }
    const double bound = others->values.Value();
    if (!(loss > AsLoss(objective_, bound))) return {};
    return {true, absl::StrFormat(
                      "best %s up to step %d is %g, %s of %d trials is %g",
                      objective_.metric, step, AsLoss(objective_, loss), name_,
                      others->values.count(), bound)};
  }

  PercentileOptions options_;
  std::string name_;
  Objective objective_;
  StepPercentiles others_;
  BestSoFar best_;
};

}  // namespace

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

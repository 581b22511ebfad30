// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/threshold.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "sampler/options.h"
#include "sampler/pruner/due_step.h"

namespace frostline::sampler {
namespace {

struct ThresholdOptions {
  double lower = 0.0;
  double upper = 0.0;
  std::int64_t warmup_steps = 0;
  std::int64_t interval = 1;
};

class ThresholdPruner final : public Pruner {
 public:
  ThresholdPruner(const ThresholdOptions& options, std::string metric)
      : options_(options), metric_(std::move(metric)) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() ||
        !IsDue(trial->intermediate, options_.warmup_steps, options_.interval)) {
      return {};
    }
    const auto [step, value] = trial->intermediate.back();
    if (value >= options_.lower && value <= options_.upper) return {};
    return {true,
            absl::StrFormat("%s at step %d is %g, allowed is %g to %g", metric_,
                            step, value, options_.lower, options_.upper)};
  }

 private:
  ThresholdOptions options_;
  std::string metric_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeThresholdPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner threshold", spec.field,
                      spec.options);
  constexpr double kLargest = std::numeric_limits<double>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::int64_t kMost = 1'000'000'000'000;
  ThresholdOptions options;
  options.lower = reader.Number("lower", -kInfinity, -kLargest, kLargest);
  options.upper = reader.Number("upper", kInfinity, -kLargest, kLargest);
  options.warmup_steps = reader.Int("warmup_steps", 0, 0, kMost);
  options.interval = reader.Int("interval", 1, 1, kMost);
  RETURN_IF_ERROR(reader.Finish());
  if (std::isinf(options.lower) && std::isinf(options.upper)) {
    return MakeError(
        ErrorId::kPrunerInvalid, "pruner threshold has neither lower nor upper",
        "give it one of them, or both", absl::StrCat(spec.field, ".upper"));
  }
  if (options.lower > options.upper) {
    return MakeError(ErrorId::kPrunerInvalid,
                     absl::StrFormat("option lower of pruner threshold is %g, "
                                     "above upper, which is %g",
                                     options.lower, options.upper),
                     "give a lower bound at or below the upper one",
                     absl::StrCat(spec.field, ".lower"));
  }
  return std::make_unique<ThresholdPruner>(options, objective.metric);
}

}  // namespace frostline::sampler

// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/wilcoxon.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "sampler/options.h"
#include "sampler/pruner/best_succeeded.h"
#include "sampler/pruner/signed_rank.h"

namespace frostline::sampler {
namespace {

bool AllFinite(const Observation& trial) {
  return std::all_of(trial.intermediate.begin(), trial.intermediate.end(),
                     [](const IntermediateValue& value) {
                       return std::isfinite(value.value);
                     });
}

double MeanOf(const Observation& trial) {
  double sum = 0.0;
  for (const IntermediateValue& value : trial.intermediate) sum += value.value;
  return sum / static_cast<double>(trial.intermediate.size());
}

class WilcoxonPruner final : public Pruner {
 public:
  WilcoxonPruner(double p_threshold, std::int64_t startup_steps,
                 const Objective& objective)
      : p_threshold_(p_threshold),
        min_pairs_(
            static_cast<std::size_t>(std::max<std::int64_t>(startup_steps, 2))),
        objective_(objective),
        best_(objective) {}

  PruneDecision Judge(const History& history, std::int64_t number) override {
    const Observation* const trial = history.Find(number);
    if (trial == nullptr || IsTerminal(trial->state) ||
        trial->intermediate.empty() || !AllFinite(*trial)) {
      return {};
    }
    const Observation* const best = best_.In(history);
    if (best == nullptr || best->intermediate.empty() || !AllFinite(*best)) {
      return {};
    }
    const std::vector<double> differences = Differences(*trial, *best);
    if (differences.size() < min_pairs_) return {};
    const double p = SignedRankProbability(differences);
    const bool mean_is_worse =
        AsLoss(objective_, MeanOf(*trial)) > AsLoss(objective_, MeanOf(*best));
    if (!(p < p_threshold_) || !mean_is_worse) return {};
    return {true, absl::StrFormat("worse %s than trial %d at %d equal steps, "
                                  "p is %.2g",
                                  objective_.metric, best->number,
                                  differences.size(), p)};
  }

 private:
  // Losses of `trial` above those of `best`, at steps that both have.
  std::vector<double> Differences(const Observation& trial,
                                  const Observation& best) const {
    std::vector<double> differences;
    auto other = best.intermediate.begin();
    for (const IntermediateValue& value : trial.intermediate) {
      while (other != best.intermediate.end() && other->step < value.step) {
        ++other;
      }
      if (other == best.intermediate.end()) break;
      if (other->step != value.step) continue;
      const double difference =
          AsLoss(objective_, value.value) - AsLoss(objective_, other->value);
      if (std::isfinite(difference)) differences.push_back(difference);
    }
    return differences;
  }

  double p_threshold_;
  std::size_t min_pairs_;
  Objective objective_;
  BestSucceeded best_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeWilcoxonPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner wilcoxon", spec.field,
                      spec.options);
  const double p_threshold = reader.Number("p_threshold", 0.1, 0.0, 1.0);
  const std::int64_t startup_steps =
      reader.Int("startup_steps", 2, 0, 1'000'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<WilcoxonPruner>(p_threshold, startup_steps,
                                          objective);
}

}  // namespace frostline::sampler

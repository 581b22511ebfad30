// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/rungs.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "sampler/pruner/brackets.h"
#include "sampler/pruner/hyperband.h"

namespace frostline::sampler {
namespace {

class HyperbandPruner final : public RungPruner {
 public:
  // `rules` are those of the first bracket; no `max_resource`: to be found out.
  HyperbandPruner(const LadderRules& rules,
                  std::optional<std::int64_t> max_resource, std::string study,
                  Objective objective)
      : RungPruner(std::move(objective)),
        rules_(rules),
        max_resource_(max_resource),
        study_(std::move(study)) {}

 protected:
  std::vector<LadderRules> Plan(
      std::optional<std::int64_t> longest) const override {
    if (!max_resource_.has_value() && !longest.has_value()) return {};
    // No step counts for more than an option could say.
    const std::int64_t most = max_resource_.has_value()
                                  ? *max_resource_
                                  : std::min(*longest, kMostResource - 1) + 1;
    // Trials too short for a first rung: nobody can be judged by them.
    if (most < rules_.min_resource) return {};
    std::vector<LadderRules> plan(
        CountBrackets(rules_.min_resource, most, rules_.reduction), rules_);
    for (std::size_t b = 0; b < plan.size(); ++b) {
      plan[b].early_stopping_rate = static_cast<std::int64_t>(b);
    }
    return plan;
  }

  std::size_t BracketOf(std::int64_t number,
                        std::size_t brackets) const override {
    return frostline::sampler::BracketOf(
        study_, number, BracketShares(brackets, rules_.reduction));
  }

 private:
  LadderRules rules_;
  std::optional<std::int64_t> max_resource_;
  std::string study_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeHyperbandPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner hyperband", spec.field,
                      spec.options);
  LadderRules rules;
  rules.min_resource = reader.Int("min_resource", 1, 1, kMostResource);
  const auto max_resource = ReadResource(reader, spec.options, "max_resource");
  rules.reduction = reader.Int("reduction_factor", 3, 2, 1'000'000);
  rules.bootstrap_count = reader.Int("bootstrap_count", 0, 0, 1'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  if (!max_resource.has_value()) {
    RETURN_IF_ERROR(
        CheckBootstrap(spec, rules.bootstrap_count, "max_resource"));
  } else if (*max_resource < rules.min_resource) {
    return MakeError(
        ErrorId::kPrunerInvalid,
        absl::StrCat("option max_resource of pruner hyperband is ",
                     *max_resource, ", below min_resource, which is ",
                     rules.min_resource),
        "give a max_resource at or above min_resource",
        absl::StrCat(spec.field, ".max_resource"));
  }
  return std::make_unique<HyperbandPruner>(rules, max_resource, spec.study,
                                           objective);
}

}  // namespace frostline::sampler

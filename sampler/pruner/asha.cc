// SPDX-License-Identifier: Apache-2.0
#include "sampler/pruner/asha.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "sampler/pruner/rungs.h"

namespace frostline::sampler {
namespace {

class AshaPruner final : public RungPruner {
 public:
  AshaPruner(const LadderRules& rules, bool find_resource, Objective objective)
      : RungPruner(std::move(objective)),
        rules_(rules),
        find_resource_(find_resource) {}

 protected:
  std::vector<LadderRules> Plan(
      std::optional<std::int64_t> longest) const override {
    if (!find_resource_) return {rules_};
    if (!longest.has_value()) return {};
    LadderRules found = rules_;
    found.min_resource = std::max<std::int64_t>(*longest / 100, 1);
    return {found};
  }

  std::size_t BracketOf(std::int64_t /*number*/,
                        std::size_t /*brackets*/) const override {
    return 0;
  }

 private:
  LadderRules rules_;
  bool find_resource_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Pruner>> MakeAshaPruner(
    const PrunerSpec& spec, const Objective& objective) {
  OptionReader reader(ErrorId::kPrunerInvalid, "pruner asha", spec.field,
                      spec.options);
  LadderRules rules;
  const auto min_resource = ReadResource(reader, spec.options, "min_resource");
  rules.min_resource = min_resource.value_or(1);
  rules.reduction = reader.Int("reduction_factor", 4, 2, 1'000'000);
  rules.early_stopping_rate = reader.Int("min_early_stopping_rate", 0, 0, 64);
  rules.bootstrap_count = reader.Int("bootstrap_count", 0, 0, 1'000'000'000);
  RETURN_IF_ERROR(reader.Finish());
  if (!min_resource.has_value()) {
    RETURN_IF_ERROR(
        CheckBootstrap(spec, rules.bootstrap_count, "min_resource"));
  }
  return std::make_unique<AshaPruner>(rules, !min_resource.has_value(),
                                      objective);
}

}  // namespace frostline::sampler

// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/freeze_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace frostline {
namespace {

// What looks free is not worth more doubt than this: parts of the trials' range
// that it is expected to cost, and that it costs at most.
constexpr double kMostExpected = 0.01;
constexpr double kMostDoubt = 0.1;
constexpr double kTrialsRange = 2.0;  // in the model's unit
// Deviations by which joining must beat choosing apart.
constexpr double kClearGain = 1.0;

Belief Step(const FittedLevels& fitted, const PlanSearch& search,
            const PlanChoice& from, const PlanChoice& to) {
  return fitted.surface().Difference(search.choices().CellsOf(from),
                                     search.choices().CellsOf(to));
}

// Of hundreds of interactions the luckiest enter the model, and a search for
// the best point finds where they flatter most: parameters are chosen apart,
// each best on its own curve, until together is clearly better.
PlanChoice BestOrApart(const FittedLevels& fitted, const PlanSearch& search) {
  const PlanChoices& choices = search.choices();
  PlanChoice best = search.Best();
  PlanChoice apart = choices.With(choices.favourites(), {}, {});
  if (!choices.IsInSpace(apart)) return best;
  const Belief gain = Step(fitted, search, best, apart);
  return gain.mean > kClearGain * gain.deviation ? best : apart;
}

// One more module frozen, and all of them so far: many that look free alone
// may cost something together, which is then surer to be seen.
bool LooksFree(const FittedLevels& fitted, const Belief& step,
               const Belief& total, double tolerance) {
  const double range = kTrialsRange * fitted.unit();
  const Interval one = fitted.AsCost(step);
  const Interval all = fitted.AsCost(total);
  const double rounding = 1e-9 * range;
  if (tolerance > 0.0 && all.value <= tolerance + rounding) return true;
  return one.lo80 <= rounding && all.lo95 <= rounding &&
         one.value <= kMostExpected * range &&
         one.hi80 <= std::max(tolerance, kMostDoubt * range);
}

}  // namespace

PlanChoice ChooseFrozen(const Space& space, const FittedLevels& fitted,
                        const PlanSearch& search, double tolerance) {
  const PlanChoice best = BestOrApart(fitted, search);
  PlanChoice plan = best;
  Demands demands(space.modules().size(), Demand::kAny);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (search.choices().IsFrozen(m, best)) {
      demands[m] = Demand::kFrozen;
      continue;
    }
    Demands one(demands.size(), Demand::kAny);
    one[m] = Demand::kFrozen;
    const auto frozen = search.BestFrom(best, one);
    if (!frozen.has_value()) continue;
    order.emplace_back(Step(fitted, search, best, *frozen).mean, m);
  }
  std::sort(order.begin(), order.end());
  for (const auto& [cost, m] : order) {
    Demands more = demands;
    more[m] = Demand::kFrozen;
    const auto frozen = search.BestFrom(plan, more);
    if (!frozen.has_value()) continue;
    if (!LooksFree(fitted, Step(fitted, search, plan, *frozen),
                   Step(fitted, search, best, *frozen), tolerance)) {
      continue;
    }
    plan = *frozen;
    demands = std::move(more);
  }
  return plan;
}

std::vector<Interval> CostsOfFreezing(const Space& space,
                                      const FittedLevels& fitted,
                                      const PlanSearch& search,
                                      const PlanChoice& choice) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  const std::size_t count = space.modules().size();
  std::vector<Interval> costs;
  costs.reserve(count);
  for (std::size_t m = 0; m < count; ++m) {
    const bool is_frozen = search.choices().IsFrozen(m, choice);
    Demands demands(count, Demand::kAny);
    for (std::size_t other = 0; other < count; ++other) {
      if (search.choices().IsFrozen(other, choice))
        demands[other] = Demand::kFrozen;
    }
    demands[m] = is_frozen ? Demand::kTrained : Demand::kFrozen;
    std::optional<PlanChoice> other = search.BestFrom(choice, demands);
    if (!other.has_value()) {
      // Modules that are frozen or trained together cannot differ.
      const Demand own = demands[m];
      demands.assign(count, Demand::kAny);
      demands[m] = own;
      other = search.BestFrom(choice, demands);
    }
    if (!other.has_value()) {
      costs.push_back({kUnknown, kUnknown, kUnknown, kUnknown, kUnknown});
      continue;
    }
    costs.push_back(fitted.AsCost(is_frozen
                                      ? Step(fitted, search, *other, choice)
                                      : Step(fitted, search, choice, *other)));
  }
  return costs;
}

}  // namespace frostline

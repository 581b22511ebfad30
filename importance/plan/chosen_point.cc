// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/chosen_point.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "importance/plan/study_plan.h"
#include "importance/plan/worth_draws.h"

namespace frostline {
namespace {

constexpr int kDraws = 400;
constexpr std::size_t kMostEnds = 3;
constexpr std::size_t kMostTried = 8;

void AddNew(std::vector<PlanChoice>& points, PlanChoice one) {
  if (std::find(points.begin(), points.end(), one) == points.end()) {
    points.push_back(std::move(one));
  }
}

// The way from one point to another, one parameter at a time, that which gains
// most first: few changes are surer than many.
void AddWay(const PlanChoices& choices, PlanChoice from, const PlanChoice& to,
            std::vector<PlanChoice>& points) {
  while (from != to) {
    std::optional<PlanChoice> best;
    double most = 0.0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i] == to[i]) continue;
      PlanChoice next = choices.With(from, i, to[i]);
      if (next == from) continue;
      const double worth = choices.Worth(next);
      if (best.has_value() && worth <= most) continue;
      best = std::move(next);
      most = worth;
    }
    if (!best.has_value() || points.size() > 200) return;
    from = *std::move(best);
    if (choices.IsInSpace(from)) AddNew(points, from);
  }
}

// The trials' points of which most is expected.
void AddTried(const PlanChoices& choices, std::vector<PlanChoice>& points) {
  const StudyBelief& belief = choices.belief();
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    order.emplace_back(-choices.Worth(belief.ChoiceOf(row)), row);
  }
  const std::size_t count = std::min(kMostTried, order.size());
  std::partial_sort(order.begin(),
                    order.begin() + static_cast<std::ptrdiff_t>(count),
                    order.end());
  for (std::size_t k = 0; k < count; ++k) {
    AddNew(points, belief.ChoiceOf(order[k].second));
  }
}

}  // namespace

PlanChoice ChoosePoint(const PlanSearch& search) {
  const PlanChoices& choices = search.choices();
  const StudyBelief& belief = choices.belief();
  std::vector<PlanChoice> points = {belief.ChoiceOf(belief.BestTrial())};
  AddTried(choices, points);
  std::vector<PlanChoice> ends = search.Best();
  if (ends.size() > kMostEnds) ends.resize(kMostEnds);
  for (const PlanChoice& end : ends) {
    AddWay(choices, points[0], end, points);
    AddWay(choices, choices.best_tried(), end, points);
  }
  const WorthDraws draws = belief.Draw(points, kDraws);
  std::size_t best = 0;
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (MeanOf(draws, p) > MeanOf(draws, best) &&
        ChanceOf(draws, p, 0) >= kWorthMoving) {
      best = p;
    }
  }
  return points[best];
}

PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance) {
  const PlanChoices& choices = search.choices();
  const StudyBelief& belief = choices.belief();
  std::vector<PlanChoice> points = {choice};
  Demands demands;
  for (const bool frozen : choices.FrozenOf(choice)) {
    demands.push_back(frozen ? Demand::kFrozen : Demand::kAny);
  }
  while (true) {
    std::optional<PlanChoice> best;
    double most = 0.0;
    for (std::size_t m = 0; m < demands.size(); ++m) {
      if (demands[m] == Demand::kFrozen) continue;
      Demands more = demands;
      more[m] = Demand::kFrozen;
      auto frozen = search.BestFrom(points.back(), more, 1);
      if (!frozen.has_value()) continue;
      const double worth = choices.Worth(*frozen);
      if (best.has_value() && worth <= most) continue;
      best = std::move(frozen);
      most = worth;
    }
    if (!best.has_value()) break;
    const std::vector<bool> frozen = choices.FrozenOf(*best);
    for (std::size_t m = 0; m < demands.size(); ++m) {
      if (frozen[m]) demands[m] = Demand::kFrozen;
    }
    points.push_back(*search.BestFrom(*best, demands));
  }
  const WorthDraws draws = belief.Draw(points, kDraws);
  for (std::size_t p = points.size(); p-- > 1;) {
    if (ChanceOfLoss(belief, draws, 0, p, tolerance) >= kSureEnough) {
      return points[p];
    }
  }
  return choice;
}

PlanChoice PlanPoint(const PlanSearch& search, double tolerance) {
  return FreezeMore(search, ChoosePoint(search), tolerance);
}

}  // namespace frostline

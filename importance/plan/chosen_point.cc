// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/chosen_point.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "importance/plan/study_plan.h"
#include "importance/plan/worth_draws.h"

namespace frostline::importance {
namespace {

constexpr int kChoiceDraws = 400;
constexpr std::size_t kMostEnds = 3;
constexpr std::size_t kMostTried = 8;
constexpr int kFewSweeps = 2;
constexpr std::size_t kMostPoints = 120;

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
    if (!best.has_value() || points.size() > kMostPoints) return;
    from = *std::move(best);
    if (choices.IsInSpace(from)) AddNew(points, from);
  }
}

}  // namespace

PlanChoice ChoosePoint(const PlanSearch& search) {
  const PlanChoices& choices = search.choices();
  const StudyBelief& belief = choices.belief();
  std::vector<PlanChoice> points = {belief.ChoiceOf(belief.BestTrial())};
  for (const PlanChoice& one : choices.tried()) {
    if (points.size() > kMostTried) break;
    AddNew(points, one);
  }
  std::vector<PlanChoice> ends = search.Best();
  if (ends.size() > kMostEnds) ends.resize(kMostEnds);
  for (const PlanChoice& end : ends) {
    AddWay(choices, points[0], end, points);
    AddWay(choices, choices.tried()[0], end, points);
  }
  const WorthDraws draws = belief.Draw(points, kChoiceDraws);
  std::size_t best = 0;
  for (std::size_t p = 1; p < points.size(); ++p) {
    if (MeanOf(draws, p) > MeanOf(draws, best) &&
        ChanceOf(draws, p, 0) >= kWorthMoving) {
      best = p;
    }
  }
  return points[best];
}

namespace {

// Of the modules that are left the one that costs least to freeze, the others
// as they are.
std::optional<PlanChoice> FreezeOne(const PlanSearch& search,
                                    const PlanChoice& choice,
                                    const Demands& demands) {
  const PlanChoices& choices = search.choices();
  std::optional<PlanChoice> best;
  double most = 0.0;
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kFrozen || !choices.IsKnown(m)) continue;
    Demands more = demands;
    more[m] = Demand::kFrozen;
    auto frozen = search.BestFrom(choice, more, 0);
    if (!frozen.has_value()) continue;
    const double worth = choices.Worth(*frozen);
    if (best.has_value() && worth <= most) continue;
    best = std::move(frozen);
    most = worth;
  }
  return best;
}

Demands KeepFrozen(const PlanChoices& choices, const PlanChoice& choice) {
  Demands demands;
  for (const bool frozen : choices.FrozenOf(choice)) {
    demands.push_back(frozen ? Demand::kFrozen : Demand::kAny);
  }
  return demands;
}

}  // namespace

PlanChoice FreezeMore(const PlanSearch& search, const PlanChoice& choice,
                      double tolerance) {
  // Whatever is surely better frozen is frozen in the choice.
  if (tolerance == 0.0) return choice;
  const StudyBelief& belief = search.choices().belief();
  std::vector<PlanChoice> points = {choice};
  std::vector<PlanChoice> anew;  // with the others' rates chosen again
  PlanChoice at = choice;
  while (true) {
    const Demands demands = KeepFrozen(search.choices(), at);
    auto next = FreezeOne(search, at, demands);
    if (!next.has_value()) break;
    at = *std::move(next);
    points.push_back(at);
    const auto best =
        search.BestFrom(at, KeepFrozen(search.choices(), at), kFewSweeps);
    if (best.has_value()) anew.push_back(*best);
  }
  const std::size_t steps = points.size();
  points.insert(points.end(), anew.begin(), anew.end());
  const WorthDraws draws = belief.Draw(points, kChoiceDraws);
  const auto is_free = [&](std::size_t p) {
    return ChanceOfLoss(belief, draws, 0, p, tolerance) >= kSureEnough;
  };
  for (std::size_t p = steps; p-- > 1;) {
    const std::size_t other = steps + p - 1;
    if (other < points.size() && is_free(other)) return points[other];
    if (is_free(p)) return points[p];
  }
  return choice;
}

PlanChoice PlanPoint(const PlanSearch& search, double tolerance) {
  return FreezeMore(search, ChoosePoint(search), tolerance);
}

}  // namespace frostline::importance

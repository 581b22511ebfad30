// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/question_points.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/rng.h"
#include "importance/measure/measured_axis.h"
#include "importance/plan/module_costs.h"

namespace frostline::importance {
namespace {

constexpr int kRandomPoints = 64;
constexpr std::size_t kMostNeighbours = 96;
constexpr std::size_t kMostOpen = 256;
constexpr std::uint64_t kSeed = 53;

std::size_t PlaceOf(std::vector<PlanChoice>& points, PlanChoice point) {
  const auto at = std::find(points.begin(), points.end(), point);
  if (at != points.end()) {
    return static_cast<std::size_t>(at - points.begin());
  }
  points.push_back(std::move(point));
  return points.size() - 1;
}

PlanChoice RandomPoint(const PlanChoices& choices, PlanChoice point, Rng& rng) {
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (IsAbsent(choices.values(i)[point[i]].value)) continue;
    const std::size_t first = IsAbsent(choices.values(i)[0].value) ? 1 : 0;
    const std::size_t count = choices.values(i).size() - first;
    point = choices.With(std::move(point), i, first + rng.Below(count));
  }
  return point;
}

std::vector<PlanChoice> Neighbours(const PlanChoices& choices,
                                   const PlanChoice& point) {
  std::vector<PlanChoice> near;
  for (std::size_t i = 0; i < point.size(); ++i) {
    for (std::size_t v = 0; v < choices.values(i).size(); ++v) {
      if (v != point[i]) near.push_back(choices.With(point, i, v));
    }
  }
  return near;
}

// Levels and choices as they are, of a range the nearest value.
std::vector<PlanChoice> NearestTo(const PlanChoices& choices,
                                  const std::vector<const Point*>& points) {
  const std::vector<MeasuredAxis> axes = MeasureSpace(choices.space());
  std::vector<PlanChoice> nearest;
  for (const Point* const point : points) {
    if (nearest.size() == kMostOpen) break;
    PlanChoice& choice = nearest.emplace_back(point->size(), 0);
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const double code = axes[i].CodeOf((*point)[i]);
      const auto distance = [&](const AxisValue& one) {
        return std::abs(axes[i].CodeOf(one.value) - code);
      };
      const std::vector<AxisValue>& values = choices.values(i);
      const auto at =
          std::min_element(values.begin(), values.end(),
                           [&](const AxisValue& a, const AxisValue& b) {
                             return distance(a) < distance(b);
                           });
      choice[i] = static_cast<std::size_t>(at - values.begin());
    }
  }
  return nearest;
}

void AddModules(const PlanSearch& search, const PlanChoice& plan,
                QuestionPoints& asked) {
  const auto& modules = search.choices().space().modules();
  std::set<std::pair<std::size_t, std::size_t>> known;
  std::size_t m = 0;
  for (auto& pair : CompareFreezing(search, plan)) {
    const std::string& name = modules[m++].module;
    if (!pair.has_value()) continue;
    const std::size_t better = PlaceOf(asked.points, std::move(pair->trained));
    const std::size_t worse = PlaceOf(asked.points, std::move(pair->frozen));
    // Modules that are switched together are one question.
    if (!known.insert({better, worse}).second) continue;
    asked.questions.push_back(
        {better, worse,
         absl::StrCat("tells whether ", name, " is worth training")});
  }
}

}  // namespace

QuestionPoints FindQuestions(const PlanSearch& search, const PlanChoice& plan,
                             const std::vector<const Point*>& open) {
  const PlanChoices& choices = search.choices();
  const StudyBelief& belief = choices.belief();
  QuestionPoints asked;
  asked.points.push_back(plan);
  AddModules(search, plan, asked);
  PlanChoice rival = belief.ChoiceOf(belief.BestTrial());
  std::string name = absl::StrCat(
      "trial ", belief.selection().trials[belief.BestTrial()]->number);
  if (rival == plan) {
    rival = search.Best()[0];
    name = "the point of which most is expected";
  }
  if (rival != plan) {
    asked.questions.push_back(
        {0, PlaceOf(asked.points, rival),
         absl::StrCat("tells whether the plan is better than ", name)});
  }
  Rng rng(kSeed);
  std::vector<PlanChoice> near = Neighbours(choices, plan);
  for (PlanChoice& one : Neighbours(choices, rival)) {
    near.push_back(std::move(one));
  }
  for (std::size_t k = near.size(); k > 1; --k) {
    std::swap(near[k - 1], near[static_cast<std::size_t>(rng.Below(k))]);
  }
  near.resize(std::min(kMostNeighbours, near.size()));
  for (int k = 0; k < kRandomPoints; ++k) {
    near.push_back(RandomPoint(choices, plan, rng));
  }
  for (PlanChoice& one : near) {
    if (choices.IsInSpace(one)) PlaceOf(asked.points, std::move(one));
  }
  for (PlanChoice& one : NearestTo(choices, open)) {
    asked.told.push_back(PlaceOf(asked.points, std::move(one)));
  }
  return asked;
}

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace frostline::importance {
namespace {

constexpr std::size_t kStartTrials = 4;
constexpr double kBetter = 1e-9;

}  // namespace

PlanSearch::PlanSearch(const StudyBelief& belief) : choices_(belief) {}

std::vector<bool> PlanSearch::Allowed(std::size_t parameter,
                                      const PlanChoice& choice,
                                      const Demands& demands) const {
  const Space& space = choices_.space();
  const std::vector<AxisValue>& values = choices_.values(parameter);
  std::vector<bool> allowed(values.size(), true);
  Point point(choice.size(), 0.0);
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny ||
        space.modules()[m].parameter != static_cast<int>(parameter)) {
      continue;
    }
    for (std::size_t v = 0; v < values.size(); ++v) {
      point[parameter] = values[v].value;
      const bool frozen = space.IsFrozen(m, point);
      if (frozen != (demands[m] == Demand::kFrozen)) allowed[v] = false;
    }
  }
  return allowed;
}

bool PlanSearch::Improve(std::size_t axis, const Demands& demands,
                         PlanChoice& choice) const {
  const StudyBelief& belief = choices_.belief();
  const std::size_t parameter = belief.rows().parameters[axis];
  const std::vector<AxisValue>& values = choices_.values(parameter);
  const std::size_t current = choice[parameter];
  if (!choices_.has_conditions()) {
    const std::vector<double> worths =
        belief.walk().Along(axis, belief.rows().CellsOf(choice));
    const std::vector<bool> allowed = Allowed(parameter, choice, demands);
    double most = worths[values[current].cell] + kBetter;
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (!allowed[v] || worths[values[v].cell] <= most) continue;
      choice[parameter] = v;
      most = worths[values[v].cell];
    }
    return choice[parameter] != current;
  }
  PlanChoice best = choice;
  double most = choices_.Worth(choice) + kBetter;
  for (std::size_t v = 0; v < values.size(); ++v) {
    PlanChoice other = choices_.With(choice, parameter, v);
    const double worth = choices_.Worth(other);
    if (worth <= most || !choices_.Meets(other, demands) ||
        !choices_.IsInSpace(other)) {
      continue;
    }
    best = std::move(other);
    most = worth;
  }
  const bool improved = best != choice;
  choice = std::move(best);
  return improved;
}

PlanChoice PlanSearch::Descend(PlanChoice choice, const Demands& demands,
                               int sweeps) const {
  const std::size_t axes = choices_.belief().rows().parameters.size();
  std::size_t unchanged = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      unchanged = Improve(axis, demands, choice) ? 0 : unchanged + 1;
      if (unchanged == axes) return choice;
    }
  }
  return choice;
}

std::vector<PlanChoice> PlanSearch::Starts() const {
  std::vector<PlanChoice> starts = choices_.tried();
  if (starts.size() > kStartTrials) starts.resize(kStartTrials);
  if (choices_.IsInSpace(choices_.favourites())) {
    starts.push_back(choices_.favourites());
  }
  return starts;
}

std::vector<PlanChoice> PlanSearch::Best() const {
  const Demands none(choices_.space().modules().size(), Demand::kAny);
  std::vector<std::pair<double, PlanChoice>> ends;
  for (const PlanChoice& start : Starts()) {
    PlanChoice end = Descend(start, none, kSweeps);
    const double worth = choices_.Worth(end);
    ends.emplace_back(-worth, std::move(end));
  }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<PlanChoice> best;
  best.reserve(ends.size());
  for (auto& [worth, choice] : ends) best.push_back(std::move(choice));
  return best;
}

std::vector<std::size_t> PlanSearch::LeversOf(std::size_t module) const {
  const Space& space = choices_.space();
  const ModuleBinding& binding = space.modules()[module];
  std::vector<std::size_t> levers;
  if (binding.frozen_above_depth.has_value() &&
      space.prefix_depth().has_value()) {
    levers.push_back(static_cast<std::size_t>(*space.prefix_depth()));
  }
  if (!binding.parameter.has_value()) return levers;
  const auto own = static_cast<std::size_t>(*binding.parameter);
  const auto& condition = space.parameters()[own].condition;
  if (condition.has_value() &&
      (levers.empty() ||
       levers[0] != static_cast<std::size_t>(condition->parent))) {
    levers.push_back(static_cast<std::size_t>(condition->parent));
  }
  levers.push_back(own);
  return levers;
}

std::optional<PlanChoice> PlanSearch::SatisfyAlone(const PlanChoice& start,
                                                   std::size_t module,
                                                   const Demands& only) const {
  const auto& own = choices_.space().modules()[module].parameter;
  if (!own.has_value()) return std::nullopt;
  const auto parameter = static_cast<std::size_t>(*own);
  const std::vector<std::size_t>& known = choices_.belief().rows().parameters;
  const auto at = std::lower_bound(known.begin(), known.end(), parameter);
  const bool is_known = at != known.end() && *at == parameter;
  std::vector<double> worths(choices_.values(parameter).size(), 0.0);
  if (is_known) {
    worths = choices_.belief().walk().Along(
        static_cast<std::size_t>(at - known.begin()),
        choices_.belief().rows().CellsOf(start));
  }
  const std::vector<bool> allowed = Allowed(parameter, start, only);
  std::optional<PlanChoice> best;
  double most = 0.0;
  for (std::size_t v = 0; v < allowed.size(); ++v) {
    const double worth =
        is_known ? worths[choices_.values(parameter)[v].cell] : 0.0;
    if (!allowed[v] || (best.has_value() && worth <= most)) continue;
    best = start;
    (*best)[parameter] = v;
    most = worth;
  }
  return best;
}

std::optional<PlanChoice> PlanSearch::Satisfy(const PlanChoice& start,
                                              std::size_t module,
                                              Demand demand) const {
  Demands only(choices_.space().modules().size(), Demand::kAny);
  only[module] = demand;
  if (choices_.Meets(start, only)) return start;
  if (!choices_.has_conditions()) return SatisfyAlone(start, module, only);
  std::optional<PlanChoice> best;
  double most = 0.0;
  const auto weigh = [&](const PlanChoice& choice) {
    if (!choices_.Meets(choice, only) || !choices_.IsInSpace(choice)) return;
    const double worth = choices_.Worth(choice);
    if (best.has_value() && worth <= most) return;
    best = choice;
    most = worth;
  };
  const std::vector<std::size_t> levers = LeversOf(module);
  for (const std::size_t lever : levers) {
    for (std::size_t v = 0; v < choices_.values(lever).size(); ++v) {
      const PlanChoice moved = choices_.With(start, lever, v);
      weigh(moved);
      if (lever == levers.back()) continue;
      const std::size_t own = levers.back();
      for (std::size_t w = 0; w < choices_.values(own).size(); ++w) {
        weigh(choices_.With(moved, own, w));
      }
    }
  }
  return best;
}

std::optional<PlanChoice> PlanSearch::BestFrom(const PlanChoice& start,
                                               const Demands& demands,
                                               int sweeps) const {
  PlanChoice choice = start;
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny) continue;
    std::optional<PlanChoice> met = Satisfy(choice, m, demands[m]);
    if (!met.has_value()) return std::nullopt;
    choice = *std::move(met);
  }
  if (!choices_.Meets(choice, demands)) return std::nullopt;
  return Descend(std::move(choice), demands, sweeps);
}

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/plan_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kMostChoicesTried = 100;

}  // namespace

PlanChoices::PlanChoices(const StudyBelief& belief)
    : belief_(belief), has_conditions_(belief.space().HasConditions()) {
  FindTried();
  FindFavourites();
}

void PlanChoices::FindTried() {
  const std::vector<double>& losses = belief_.selection().losses;
  std::vector<std::size_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&losses](std::size_t a, std::size_t b) {
                     return losses[a] < losses[b];
                   });
  order.resize(std::min(order.size(), kMostChoicesTried));
  std::set<PlanChoice> known;
  std::vector<std::pair<double, PlanChoice>> worths;
  for (const std::size_t row : order) {
    PlanChoice choice = belief_.ChoiceOf(row);
    if (!known.insert(choice).second) continue;
    const double worth = Worth(choice);
    worths.emplace_back(-worth, std::move(choice));
  }
  std::sort(worths.begin(), worths.end());
  for (auto& [worth, choice] : worths) tried_.push_back(std::move(choice));
}

void PlanChoices::FindFavourites() {
  favourites_ = tried_[0];
  const surrogate::Cells cells = belief_.rows().CellsOf(tried_[0]);
  const std::vector<std::size_t>& parameters = belief_.rows().parameters;
  for (std::size_t axis = 0; axis < parameters.size(); ++axis) {
    const std::vector<double> worths = belief_.walk().Along(axis, cells);
    const std::size_t i = parameters[axis];
    std::optional<std::size_t> best;
    for (std::size_t v = 0; v < values(i).size(); ++v) {
      if (IsAbsent(values(i)[v].value)) continue;
      if (!best.has_value() ||
          worths[values(i)[v].cell] > worths[values(i)[*best].cell]) {
        best = v;
      }
    }
    favourites_[i] = best.value_or(0);
  }
  for (const std::size_t i : belief_.rows().left_out) {
    if (!IsAbsent(values(i)[favourites_[i]].value)) continue;
    favourites_[i] = values(i).size() - 1;
  }
}

bool PlanChoices::IsKnown(std::size_t module) const {
  const ModuleBinding& binding = space().modules()[module];
  const std::vector<std::size_t>& known = belief_.rows().parameters;
  const auto has = [&known](int parameter) {
    return std::binary_search(known.begin(), known.end(),
                              static_cast<std::size_t>(parameter));
  };
  if (binding.parameter.has_value() && has(*binding.parameter)) return true;
  return binding.frozen_above_depth.has_value() &&
         space().prefix_depth().has_value() && has(*space().prefix_depth());
}

Point PlanChoices::ValuesOf(const PlanChoice& choice) const {
  Point point;
  point.reserve(choice.size());
  for (std::size_t i = 0; i < choice.size(); ++i) {
    point.push_back(values(i)[choice[i]].value);
  }
  return point;
}

Point PlanChoices::PointOf(const PlanChoice& choice) const {
  const std::vector<ParameterValues>& choices = belief_.rows().choices;
  std::optional<std::size_t> best;
  for (std::size_t row = 0; row < belief_.trials(); ++row) {
    std::size_t same = 0;
    while (same < choice.size() &&
           choices[same].value_of_row[row] == choice[same]) {
      ++same;
    }
    if (same < choice.size()) continue;
    const std::vector<double>& losses = belief_.selection().losses;
    if (!best.has_value() || losses[row] < losses[*best]) best = row;
  }
  return best.has_value() ? *belief_.selection().points[*best]
                          : ValuesOf(choice);
}

bool PlanChoices::IsFrozen(std::size_t module, const PlanChoice& choice) const {
  return space().IsFrozen(module, ValuesOf(choice));
}

std::vector<bool> PlanChoices::FrozenOf(const PlanChoice& choice) const {
  const Point point = ValuesOf(choice);
  std::vector<bool> frozen;
  frozen.reserve(space().modules().size());
  for (std::size_t m = 0; m < space().modules().size(); ++m) {
    frozen.push_back(space().IsFrozen(m, point));
  }
  return frozen;
}

double PlanChoices::Worth(const PlanChoice& choice) const {
  return belief_.walk().At(belief_.rows().CellsOf(choice));
}

PlanChoice PlanChoices::With(PlanChoice choice, std::size_t parameter,
                             std::size_t value) const {
  choice[parameter] = value;
  if (!has_conditions_) return choice;
  // Parents come before their children.
  Point point = ValuesOf(choice);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const bool active = space().IsActive(static_cast<int>(i), point);
    if (active == !IsAbsent(point[i])) continue;
    choice[i] = active ? favourites_[i] : 0;  // absent is the first value
    point[i] = values(i)[choice[i]].value;
  }
  return choice;
}

bool PlanChoices::Meets(const PlanChoice& choice,
                        const Demands& demands) const {
  const Point point = ValuesOf(choice);
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kAny) continue;
    if (space().IsFrozen(m, point) != (demands[m] == Demand::kFrozen)) {
      return false;
    }
  }
  return true;
}

bool PlanChoices::IsInSpace(const PlanChoice& choice) const {
  return space().Check(ValuesOf(choice)).ok();
}

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

namespace {

// Returns the plan with one module frozen or trained. Nothing else changes
// unless it has to.
std::optional<PlanChoice> WithModule(const PlanSearch& search,
                                     const PlanChoice& plan, std::size_t module,
                                     bool frozen) {
  if (search.choices().IsFrozen(module, plan) == frozen) return plan;
  Demands demands(search.choices().space().modules().size(), Demand::kAny);
  demands[module] = frozen ? Demand::kFrozen : Demand::kTrained;
  return search.BestFrom(plan, demands, 0);
}

}  // namespace

std::vector<std::optional<TrainedAndFrozen>> CompareFreezing(
    const PlanSearch& search, const PlanChoice& plan) {
  std::vector<std::optional<TrainedAndFrozen>> compared;
  for (std::size_t m = 0; m < search.choices().space().modules().size(); ++m) {
    if (!search.choices().IsKnown(m)) {
      compared.emplace_back(std::nullopt);
      continue;
    }
    std::optional<PlanChoice> trained = WithModule(search, plan, m, false);
    std::optional<PlanChoice> frozen = WithModule(search, plan, m, true);
    if (!trained.has_value() || !frozen.has_value()) {
      compared.emplace_back(std::nullopt);
      continue;
    }
    compared.push_back(
        TrainedAndFrozen{*std::move(trained), *std::move(frozen)});
  }
  return compared;
}

namespace {

constexpr std::size_t kNearestTrials = 5;

struct Nearness {
  double distance;
  double loss;
  std::int64_t number;
};

// So that also a difference in what does not matter is one.
constexpr double kLeastNearWeight = 1e-3;

// By parameter: how much worths change along it, of all parameters' sum.
std::vector<double> WeightsOf(const PlanChoices& choices,
                              const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const std::vector<std::size_t>& parameters = belief.rows().parameters;
  const surrogate::Cells cells = belief.rows().CellsOf(plan);
  std::vector<double> weights(plan.size(), 0.0);
  double whole = 0.0;
  for (std::size_t axis = 0; axis < parameters.size(); ++axis) {
    const std::vector<double> worths = belief.walk().Along(axis, cells);
    const auto [least, most] =
        std::minmax_element(worths.begin(), worths.end());
    weights[parameters[axis]] = *most - *least;
    whole += *most - *least;
  }
  for (double& weight : weights) {
    weight = kLeastNearWeight + (whole > 0.0 ? weight / whole : 0.0);
  }
  return weights;
}

std::vector<std::int64_t> Supporting(const PlanChoices& choices,
                                     const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const std::vector<double> weights = WeightsOf(choices, plan);
  std::vector<Nearness> order;
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    double distance = 0.0;
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::size_t value = belief.rows().choices[i].value_of_row[row];
      distance += value == plan[i] ? 0.0 : weights[i];
    }
    order.push_back({distance, belief.selection().losses[row],
                     belief.selection().trials[row]->number});
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.distance, a.loss, a.number) <
           std::tie(b.distance, b.loss, b.number);
  });
  order.resize(std::min(kNearestTrials, order.size()));
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return std::tie(a.loss, a.number) < std::tie(b.loss, b.number);
  });
  std::vector<std::int64_t> numbers;
  numbers.reserve(order.size());
  for (const Nearness& one : order) numbers.push_back(one.number);
  return numbers;
}

}  // namespace

NearTrials FindNearTrials(const PlanChoices& choices, const PlanChoice& plan) {
  const StudyBelief& belief = choices.belief();
  const Space& space = choices.space();
  const std::vector<ModuleRate> rates = space.Rates(choices.PointOf(plan));
  NearTrials near;
  std::pair<int, double> least;
  for (std::size_t row = 0; row < belief.trials(); ++row) {
    const std::vector<ModuleRate> others =
        space.Rates(*belief.selection().points[row]);
    int differs = 0;
    for (std::size_t m = 0; m < rates.size(); ++m) {
      const bool same =
          rates[m].rate == others[m].rate && rates[m].rank == others[m].rank;
      differs += same ? 0 : 1;
    }
    const std::pair<int, double> one = {differs,
                                        belief.selection().losses[row]};
    if (row > 0 && one >= least) continue;
    least = one;
    near.nearest = belief.selection().trials[row]->number;
  }
  near.differs_in = least.first;
  near.supporting = Supporting(choices, plan);
  return near;
}

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

// Adds the points on the way from one point to another, which changes one
// parameter at a time and the one that gains most first: few changes are surer
// than many.
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

// Freezes one more module: of those left, the one that costs least to freeze
// with the others as they are. Nobody knows what it costs where all trials
// trained it, so those stay.
std::optional<PlanChoice> FreezeOne(const PlanSearch& search,
                                    const PlanChoice& choice,
                                    const Demands& demands,
                                    const std::vector<SeenModule>& seen) {
  const PlanChoices& choices = search.choices();
  std::optional<PlanChoice> best;
  double most = 0.0;
  for (std::size_t m = 0; m < demands.size(); ++m) {
    if (demands[m] == Demand::kFrozen || !choices.IsKnown(m) ||
        !seen[m].both()) {
      continue;
    }
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
  const std::vector<SeenModule> seen = SeenModules(belief);
  while (true) {
    const Demands demands = KeepFrozen(search.choices(), at);
    auto next = FreezeOne(search, at, demands, seen);
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

// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frontier.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "importance/plan/plan_search.h"
#include "importance/plan/study_belief.h"
#include "importance/plan/study_plan.h"

namespace frostline::importance {
namespace {

constexpr std::size_t kMostUnitsOfAll = 8;
constexpr std::size_t kBestOfCount = 3;
constexpr int kSweepsOfSet = 2;

// 0: embeddings, 1 + k: layer.k and its parts; -1: neither.
int LevelOf(const std::string& module) {
  if (module == "embeddings") return 0;
  const std::vector<std::string> parts = absl::StrSplit(module, '.');
  int layer = 0;
  if (parts.size() < 2 || parts[0] != "layer" ||
      !absl::SimpleAtoi(parts[1], &layer)) {
    return -1;
  }
  return 1 + layer;
}

}  // namespace

FrontierSets::FrontierSets(const PlanSearch& search, const PlanChoice& start,
                           const std::stop_token& stop)
    : search_(search), start_(start) {
  FindUnits();
  if (units_.size() <= kMostUnitsOfAll) {
    LookAtAll(stop);
  } else {
    LookGreedily(true, stop);
    LookGreedily(false, stop);
  }
  KeepBest();
}

void FrontierSets::FindUnits() {
  const Space& space = search_.choices().space();
  std::map<int, std::size_t> unit_of_parameter;
  for (const auto& pair : CompareFreezing(search_, start_)) {
    const std::size_t m = can_switch_.size();
    can_switch_.push_back(pair.has_value());
    if (!pair.has_value()) continue;
    const auto& parameter = space.modules()[m].parameter;
    if (parameter.has_value()) {
      const auto [at, is_new] =
          unit_of_parameter.emplace(*parameter, units_.size());
      if (!is_new) {
        units_[at->second].push_back(m);
        continue;
      }
    }
    units_.push_back({m});
  }
}

ModuleSet FrontierSets::SetOf(PlanChoice choice) const {
  ModuleSet set;
  set.frozen = search_.choices().FrozenOf(choice);
  for (std::size_t m = 0; m < set.frozen.size(); ++m) {
    set.trained += can_switch_[m] && !set.frozen[m] ? 1 : 0;
  }
  set.worth = search_.choices().Worth(choice);
  set.choice = std::move(choice);
  return set;
}

Demands FrontierSets::DemandsOf(const std::vector<bool>& trained_units) const {
  Demands demands(can_switch_.size(), Demand::kAny);
  for (std::size_t u = 0; u < units_.size(); ++u) {
    for (const std::size_t m : units_[u]) {
      demands[m] = trained_units[u] ? Demand::kTrained : Demand::kFrozen;
    }
  }
  return demands;
}

// Each set starts from one that is found already and trains one unit less.
void FrontierSets::LookAtAll(const std::stop_token& stop) {
  std::vector<std::optional<PlanChoice>> found(std::size_t{1} << units_.size());
  for (std::size_t mask = 0; mask < found.size(); ++mask) {
    if (stop.stop_requested()) return;
    std::vector<bool> trained(units_.size());
    PlanChoice start = start_;
    double most = 0.0;
    bool has_start = false;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      trained[u] = (mask >> u & 1) != 0;
      const auto& less = found[mask & ~(std::size_t{1} << u)];
      if (!trained[u] || !less.has_value()) continue;
      const double worth = search_.choices().Worth(*less);
      if (has_start && worth <= most) continue;
      start = *less;
      most = worth;
      has_start = true;
    }
    found[mask] = search_.BestFrom(start, DemandsOf(trained), kSweepsOfSet);
    const auto other =
        search_.BestFrom(start_, DemandsOf(trained), kSweepsOfSet);
    if (!other.has_value()) continue;
    if (!found[mask].has_value() || search_.choices().Worth(*other) >
                                        search_.choices().Worth(*found[mask])) {
      found[mask] = other;
    }
    sets_.push_back(SetOf(*found[mask]));
  }
}

// One unit more (or less) at a time, that after which most is expected.
void FrontierSets::LookGreedily(bool up, const std::stop_token& stop) {
  std::vector<bool> trained(units_.size(), !up);
  auto at = search_.BestFrom(start_, DemandsOf(trained), kSweepsOfSet);
  while (true) {
    if (at.has_value()) sets_.push_back(SetOf(*at));
    std::optional<std::size_t> best;
    std::optional<PlanChoice> next;
    double most = 0.0;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      if (stop.stop_requested()) return;
      if (trained[u] == up) continue;
      std::vector<bool> other = trained;
      other[u] = up;
      auto moved = search_.BestFrom(at.value_or(start_), DemandsOf(other), 0);
      if (!moved.has_value()) continue;
      const double worth = search_.choices().Worth(*moved);
      if (best.has_value() && worth <= most) continue;
      best = u;
      next = std::move(moved);
      most = worth;
    }
    if (!best.has_value()) return;
    trained[*best] = up;
    at = search_.BestFrom(*next, DemandsOf(trained), kSweepsOfSet);
  }
}

void FrontierSets::KeepBest() {
  std::stable_sort(
      sets_.begin(), sets_.end(),
      [](const ModuleSet& a, const ModuleSet& b) { return a.worth > b.worth; });
  std::map<std::size_t, std::size_t> kept;
  std::vector<ModuleSet> best;
  for (ModuleSet& set : sets_) {
    const bool is_known = std::any_of(
        best.begin(), best.end(),
        [&set](const ModuleSet& other) { return other.frozen == set.frozen; });
    if (is_known || kept[set.trained] == kBestOfCount) continue;
    ++kept[set.trained];
    best.push_back(std::move(set));
  }
  sets_ = std::move(best);
}

std::vector<FrontierSets::Prefix> FrontierSets::Prefixes() const {
  const auto& modules = search_.choices().space().modules();
  int top = -1;
  for (const ModuleBinding& module : modules) {
    top = std::max(top, LevelOf(module.module));
  }
  std::vector<Prefix> prefixes;
  for (int level = top + 1; level >= 0; --level) {
    Demands demands(modules.size(), Demand::kAny);
    bool is_next_found = level > top;
    for (std::size_t m = 0; m < modules.size(); ++m) {
      const int own = LevelOf(modules[m].module);
      if (own >= 0 && own < level) demands[m] = Demand::kFrozen;
      if (own != level || is_next_found) continue;
      demands[m] = Demand::kTrained;
      is_next_found = true;
    }
    auto choice = search_.BestFrom(start_, demands);
    if (!is_next_found || !choice.has_value()) continue;
    prefixes.push_back({level, SetOf(*std::move(choice))});
  }
  if (prefixes.size() < 2) prefixes.clear();
  return prefixes;
}

namespace {

constexpr int kFrontierDraws = 600;

// All points that may be the best there is, and draws at them.
struct Contest {
  const StudyBelief& belief;
  const PlanSearch& search;
  const FrontierSets& sets;
  const Optimism& optimism;
  std::vector<PlanChoice> points;   // of sets(), then prefixes, then others
  WorthDraws draws;                 // of points that are set against each other
  std::vector<Interval> predicted;  // by point
  std::vector<double> best_scores;  // of the best point, by draw
};

double NoiseOfOneRun(const StudyBelief& belief, double worth) {
  const double deviation = std::sqrt(belief.surrogate().noise_variance());
  return std::abs(belief.ScoreOf(worth) - belief.ScoreOf(worth - deviation));
}

void HoldContest(Contest& contest) {
  const StudyBelief& belief = contest.belief;
  const WorthDraws drawn = belief.Draw(contest.points, kFrontierDraws);
  contest.draws = drawn;
  for (std::size_t p = 0; p < contest.points.size(); ++p) {
    contest.predicted.push_back(PredictMean(
        belief, WithoutOptimism(drawn, p, contest.optimism), contest.optimism));
    const std::vector<double> worths = InContest(drawn, p, contest.optimism);
    for (std::size_t k = 0; k < worths.size(); ++k) {
      contest.draws[k][p] = worths[k];
    }
  }
  for (const std::vector<double>& draw : contest.draws) {
    const double most = *std::max_element(draw.begin(), draw.end());
    contest.best_scores.push_back(belief.ScoreOf(most));
  }
}

double ChanceWithin(const Contest& contest, std::size_t point,
                    double tolerance) {
  const Objective& objective = contest.belief.objective();
  std::size_t within = 0;
  for (std::size_t k = 0; k < contest.draws.size(); ++k) {
    const double score = contest.belief.ScoreOf(contest.draws[k][point]);
    const double lost =
        AsLoss(objective, score) - AsLoss(objective, contest.best_scores[k]);
    within += lost <= tolerance ? 1 : 0;
  }
  return static_cast<double>(within) /
         static_cast<double>(contest.draws.size());
}

std::int64_t TrialsOf(const Contest& contest, const ModuleSet& set) {
  const Selection& selection = contest.belief.selection();
  std::int64_t count = 0;
  for (std::size_t row = 0; row < contest.belief.trials(); ++row) {
    const std::vector<ModuleRate> rates =
        contest.belief.space().Rates(*selection.points[row]);
    bool is_same = true;
    for (std::size_t m = 0; m < rates.size(); ++m) {
      is_same = is_same && (rates[m].rate == 0.0) == set.frozen[m];
    }
    count += is_same ? 1 : 0;
  }
  return count;
}

FrontierSet Describe(const Contest& contest, const ModuleSet& set,
                     std::size_t point, double tolerance) {
  const StudyBelief& belief = contest.belief;
  FrontierSet one;
  for (const std::size_t m : ModulesInDepthOrder(belief.space())) {
    if (!contest.sets.can_switch()[m] || set.frozen[m]) continue;
    one.trained.push_back(belief.space().modules()[m].module);
  }
  one.point = contest.search.choices().PointOf(set.choice);
  const PlanCosts costs =
      EstimateCosts(belief.space(), belief.selection().trials, one.point);
  one.trained_parameters = costs.trained_parameters;
  one.seconds = costs.seconds;
  one.predicted = contest.predicted[point];
  one.within_tolerance_probability = ChanceWithin(contest, point, tolerance);
  one.trials = TrialsOf(contest, set);
  return one;
}

std::string VerdictOf(const Contest& contest, const Frontier& frontier) {
  const std::string& metric = contest.belief.objective().metric;
  const std::size_t all = static_cast<std::size_t>(
      std::count(contest.sets.can_switch().begin(),
                 contest.sets.can_switch().end(), true));
  if (all == 0) return "no module can be both frozen and trained here";
  const bool is_chosen = frontier.chosen >= 0;
  const auto likeliest = std::max_element(
      frontier.by_modules.begin(), frontier.by_modules.end(),
      [](const FrontierSet& a, const FrontierSet& b) {
        return a.within_tolerance_probability < b.within_tolerance_probability;
      });
  const FrontierSet& set =
      is_chosen ? frontier.by_modules[static_cast<std::size_t>(frontier.chosen)]
                : *likeliest;
  const std::string what =
      set.trained.empty()
          ? absl::StrCat("none of the ", all, " modules")
          : absl::StrCat(set.trained.size(), " of ", all, " modules (",
                         SayModules(set.trained), ")");
  const std::string chance = SayChance(set.within_tolerance_probability);
  const std::string within = absl::StrFormat(
      "within %.2g of the best with probability ", frontier.tolerance);
  if (is_chosen) {
    return absl::StrCat("training ", what, " is enough: ", metric, " ",
                        SayInterval(set.predicted), ", ", within, chance);
  }
  return absl::StrCat("what is enough to train is not known: the likeliest, ",
                      what, ", is ", within, "only ", chance);
}

}  // namespace

absl::StatusOr<Frontier> MakeFrontier(const PlanBasis& basis,
                                      const PlanOptions& options) {
  const StudyBelief& belief = basis.belief();
  const PlanSearch& search = basis.search();
  RETURN_IF_ERROR(CheckPlanRequest(belief.space(), options));
  const std::vector<PlanChoice> ends = search.Best();
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  const FrontierSets sets(search, ends[0], options.evaluate.stop);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  const std::vector<FrontierSets::Prefix> prefixes = sets.Prefixes();
  Contest contest{belief, search, sets, basis.optimism(), {}, {}, {}, {}};
  for (const ModuleSet& set : sets.sets()) contest.points.push_back(set.choice);
  for (const auto& one : prefixes) contest.points.push_back(one.set.choice);
  contest.points.insert(contest.points.end(), ends.begin(), ends.end());
  contest.points.push_back(search.choices().tried()[0]);
  contest.points.push_back(belief.ChoiceOf(belief.BestTrial()));
  HoldContest(contest);
  RETURN_IF_ERROR(CheckStop(options.evaluate.stop));
  Frontier frontier;
  frontier.best = QuantilesOf(contest.best_scores);
  frontier.tolerance =
      options.tolerance > 0.0
          ? options.tolerance
          : NoiseOfOneRun(belief, belief.WorthOf(frontier.best.value));
  std::map<std::size_t, std::size_t> best_of_count;  // place among sets()
  for (std::size_t s = 0; s < sets.sets().size(); ++s) {
    const auto [at, is_new] = best_of_count.emplace(sets.sets()[s].trained, s);
    if (!is_new &&
        MeanOf(contest.draws, s) > MeanOf(contest.draws, at->second)) {
      at->second = s;
    }
  }
  for (const auto& [count, s] : best_of_count) {
    frontier.by_modules.push_back(
        Describe(contest, sets.sets()[s], s, frontier.tolerance));
    if (frontier.chosen < 0 &&
        frontier.by_modules.back().within_tolerance_probability >=
            kSureEnough) {
      frontier.chosen = static_cast<int>(frontier.by_modules.size()) - 1;
    }
  }
  for (std::size_t k = 0; k < prefixes.size(); ++k) {
    frontier.by_prefix.push_back(Describe(
        contest, prefixes[k].set, sets.sets().size() + k, frontier.tolerance));
    frontier.by_prefix.back().prefix_frozen = prefixes[k].level;
  }
  // Without a module to switch there is nothing to choose.
  if (frontier.by_modules.size() < 2) frontier.chosen = -1;
  frontier.verdict = VerdictOf(contest, frontier);
  frontier.warnings = belief.warnings();
  return frontier;
}

absl::StatusOr<Frontier> MakeFrontier(const Space& space,
                                      const std::vector<Objective>& objectives,
                                      const History& history,
                                      const PlanOptions& options) {
  ASSIGN_OR_RETURN(const auto basis,
                   MakePlanBasis(space, objectives, history, options));
  return MakeFrontier(*basis, options);
}

}  // namespace frostline::importance

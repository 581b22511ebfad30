// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frontier.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/plain/statistics.h"
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
  LookAtPrefixes();
  for (const Prefix& prefix : prefixes_) sets_.push_back(prefix.set);
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

void FrontierSets::LookAtPrefixes() {
  const auto& modules = search_.choices().space().modules();
  int top = -1;
  for (const ModuleBinding& module : modules) {
    top = std::max(top, LevelOf(module.module));
  }
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
    prefixes_.push_back({level, SetOf(*std::move(choice))});
  }
  if (prefixes_.size() < 2) prefixes_.clear();
}

namespace {

constexpr int kFrontierDraws = 600;
constexpr std::size_t kFewestTimed = 3;
constexpr double kUnknownChance = std::numeric_limits<double>::quiet_NaN();

// The points of all sets, others that may be the best there is, and draws at
// them.
struct Contest {
  const StudyBelief& belief;
  const PlanSearch& search;
  const FrontierSets& sets;
  const Optimism& optimism;
  const double tolerance;
  std::vector<PlanChoice> points;  // of sets(), then prefixes, then others
  WorthDraws draws;
  WorthDraws sober;  // the same without optimism (InContest)
  std::size_t best;  // place of the point of which most is expected
};

void HoldContest(Contest& contest) {
  contest.draws = contest.belief.Draw(contest.points, kFrontierDraws);
  contest.sober = contest.draws;
  for (std::size_t p = 0; p < contest.points.size(); ++p) {
    const std::vector<double> worths =
        InContest(contest.draws, p, contest.optimism);
    for (std::size_t k = 0; k < worths.size(); ++k) {
      contest.sober[k][p] = worths[k];
    }
  }
  contest.best = 0;
  double most = MeanOf(contest.draws, 0);
  for (std::size_t p = 1; p < contest.points.size(); ++p) {
    const double mean = MeanOf(contest.draws, p);
    if (mean <= most) continue;
    contest.best = p;
    most = mean;
  }
}

Interval Predict(const Contest& contest, std::size_t point) {
  return PredictMean(contest.belief,
                     WithoutOptimism(contest.draws, point, contest.optimism),
                     contest.optimism);
}

// The set against the best of each draw, as they are predicted: what is known
// badly is not praised.
double ChanceWithin(const Contest& contest, std::size_t point) {
  WorthDraws pairs;
  pairs.reserve(contest.draws.size());
  for (const std::vector<double>& draw : contest.sober) {
    pairs.push_back({*std::max_element(draw.begin(), draw.end()), draw[point]});
  }
  const double within =
      ShareWithin(LossesOf(contest.belief, pairs, 0, 1), contest.tolerance);
  const auto& survival = contest.belief.survival();
  if (!survival.has_value()) return within;
  // A set that cannot be trained is not enough, whatever it would score.
  return within * survival->ChanceAt(
                      contest.search.choices().PointOf(contest.points[point]));
}

// Says whether trials tell what it costs to leave out what the set leaves out.
bool IsSeen(const Contest& contest, const std::vector<SeenModule>& seen,
            const ModuleSet& set) {
  for (std::size_t m = 0; m < set.frozen.size(); ++m) {
    if (contest.sets.can_switch()[m] && set.frozen[m] && !seen[m].both()) {
      return false;
    }
  }
  return true;
}

// The trials that trained exactly this.
std::vector<const Observation*> TrialsOf(const Contest& contest,
                                         const ModuleSet& set) {
  const Selection& selection = contest.belief.selection();
  std::vector<const Observation*> trials;
  for (std::size_t row = 0; row < contest.belief.trials(); ++row) {
    const std::vector<ModuleRate> rates =
        contest.belief.space().Rates(*selection.points[row]);
    bool is_same = true;
    for (std::size_t m = 0; m < rates.size(); ++m) {
      is_same = is_same && (rates[m].rate == 0.0) == set.frozen[m];
    }
    if (is_same) trials.push_back(selection.trials[row]);
  }
  return trials;
}

// The median of what such trials took; NaN below kFewestTimed.
double SecondsOf(const std::vector<const Observation*>& trials) {
  std::vector<double> seconds;
  for (const Observation* const trial : trials) {
    if (trial->cost_s > 0.0) seconds.push_back(trial->cost_s);
  }
  return seconds.size() < kFewestTimed ? kUnknownChance
                                       : Quantile(std::move(seconds), 0.5);
}

FrontierSet Describe(const Contest& contest, const ModuleSet& set,
                     std::size_t point, const std::vector<SeenModule>& seen) {
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
  const std::vector<const Observation*> same = TrialsOf(contest, set);
  const double seconds = SecondsOf(same);
  one.seconds = std::isnan(seconds) ? costs.seconds : seconds;
  one.predicted = Predict(contest, point);
  one.within_tolerance_probability = IsSeen(contest, seen, set)
                                         ? ChanceWithin(contest, point)
                                         : kUnknownChance;
  one.trials = static_cast<std::int64_t>(same.size());
  return one;
}

// By number trained the set of which most is expected; its place among sets().
std::map<std::size_t, std::size_t> BestByCount(const Contest& contest) {
  std::map<std::size_t, std::size_t> best;
  for (std::size_t s = 0; s < contest.sets.sets().size(); ++s) {
    const auto [at, is_new] = best.emplace(contest.sets.sets()[s].trained, s);
    if (!is_new &&
        MeanOf(contest.draws, s) > MeanOf(contest.draws, at->second)) {
      at->second = s;
    }
  }
  return best;
}

// Modules that can be switched, and that no trial froze or none trained.
std::vector<std::string> NeverSeen(const Contest& contest,
                                   const std::vector<SeenModule>& seen) {
  std::vector<std::string> names;
  for (const std::size_t m : ModulesInDepthOrder(contest.belief.space())) {
    if (!contest.sets.can_switch()[m] || seen[m].both()) continue;
    names.push_back(contest.belief.space().modules()[m].module);
  }
  return names;
}

// Says "training 2 of 7 modules (layer.1, layer.3)".
std::string SayTraining(const FrontierSet& set, std::size_t all) {
  if (set.trained.empty()) return "freezing every module";
  if (set.trained.size() == all) {
    return absl::StrCat("training all ", all, " modules");
  }
  return absl::StrCat("training ", set.trained.size(), " of ", all,
                      " modules (", SayModules(set.trained), ")");
}

// The likeliest set but the one of all modules; nullptr if nothing is known.
const FrontierSet* LikeliestOf(const std::vector<FrontierSet>& sets,
                               std::size_t all) {
  const FrontierSet* likeliest = nullptr;
  for (const FrontierSet& set : sets) {
    if (set.trained.size() == all ||
        std::isnan(set.within_tolerance_probability)) {
      continue;
    }
    if (likeliest == nullptr || set.within_tolerance_probability >
                                    likeliest->within_tolerance_probability) {
      likeliest = &set;
    }
  }
  return likeliest;
}

}  // namespace

const FrontierSet* FindSettledSet(const Frontier& frontier,
                                  double probability) {
  for (const FrontierSet& set : frontier.by_modules) {
    const double chance = set.within_tolerance_probability;
    if (chance >= probability) return &set;
    if (!(chance <= 1.0 - probability)) return nullptr;  // NaN too
  }
  return nullptr;
}

std::string SayEnough(const Frontier& frontier, const FrontierSet& set,
                      const std::string& metric) {
  const std::size_t all = frontier.modules;
  const std::string tolerance = absl::StrFormat("%.2g", frontier.tolerance);
  const std::string expected =
      absl::StrCat(metric, " ", SayInterval(set.predicted));
  if (set.trained.size() == all) {
    return absl::StrCat("train all ", all, " modules: ", expected,
                        "; no smaller set is within ", tolerance,
                        " of the best with probability ",
                        SayChance(kSureEnough));
  }
  return absl::StrCat(SayTraining(set, all), " is enough: ", expected,
                      ", within ", tolerance, " of the best with probability ",
                      SayChance(set.within_tolerance_probability));
}

namespace {

std::string VerdictOf(const Contest& contest, const Frontier& frontier,
                      const std::vector<SeenModule>& seen) {
  const std::string& metric = contest.belief.objective().metric;
  const std::size_t all = frontier.modules;
  if (all == 0) return "no module can be both frozen and trained here";
  const std::string tolerance = absl::StrFormat("%.2g", frontier.tolerance);
  if (frontier.chosen >= 0) {
    return SayEnough(
        frontier,
        frontier.by_modules[static_cast<std::size_t>(frontier.chosen)], metric);
  }
  const std::vector<std::string> never = NeverSeen(contest, seen);
  const std::string unseen =
      never.empty() ? ""
                    : absl::StrCat("; no trial tells what freezing ",
                                   SayModules(never), " costs");
  const FrontierSet* const likeliest = LikeliestOf(frontier.by_modules, all);
  if (likeliest == nullptr) {
    return absl::StrCat("what is enough to train is not known", unseen);
  }
  return absl::StrCat("what is enough to train is not known yet: ",
                      SayTraining(*likeliest, all), " is within ", tolerance,
                      " of the best with probability ",
                      SayChance(likeliest->within_tolerance_probability),
                      unseen);
}

// The points of all sets, and others that may be the best there is.
std::vector<PlanChoice> PointsOf(const FrontierSets& sets,
                                 const std::vector<PlanChoice>& ends,
                                 const PlanChoices& choices) {
  std::vector<PlanChoice> points;
  for (const ModuleSet& set : sets.sets()) points.push_back(set.choice);
  for (const auto& one : sets.prefixes()) points.push_back(one.set.choice);
  points.insert(points.end(), ends.begin(), ends.end());
  points.push_back(choices.tried()[0]);
  points.push_back(choices.belief().ChoiceOf(choices.belief().BestTrial()));
  return points;
}

// The sets of modules that a study can train, and how they compare.
struct ComparedSets {
  std::unique_ptr<const FrontierSets> sets;
  std::unique_ptr<Contest> contest;
};

absl::StatusOr<ComparedSets> CompareSets(const PlanBasis& basis,
                                         const PlanOptions& options) {
  const PlanSearch& search = basis.search();
  const std::stop_token& stop = options.evaluate.stop;
  RETURN_IF_ERROR(CheckPlanRequest(basis.belief().space(), options));
  const std::vector<PlanChoice> ends = search.Best();
  RETURN_IF_ERROR(CheckStop(stop));
  ComparedSets made;
  made.sets = std::make_unique<const FrontierSets>(search, ends[0], stop);
  RETURN_IF_ERROR(CheckStop(stop));
  made.contest = std::make_unique<Contest>(
      Contest{basis.belief(),
              search,
              *made.sets,
              basis.optimism(),
              ToleranceInForce(basis, options),
              PointsOf(*made.sets, ends, search.choices()),
              {},
              {},
              0});
  HoldContest(*made.contest);
  RETURN_IF_ERROR(CheckStop(stop));
  return made;
}

}  // namespace

absl::StatusOr<Frontier> MakeFrontier(const PlanBasis& basis,
                                      const PlanOptions& options) {
  ASSIGN_OR_RETURN(const ComparedSets made, CompareSets(basis, options));
  const Contest& contest = *made.contest;
  const std::vector<ModuleSet>& sets = made.sets->sets();
  const std::vector<SeenModule> seen = SeenModules(basis.belief());
  Frontier frontier;
  frontier.best = Predict(contest, contest.best);
  frontier.tolerance = contest.tolerance;
  const auto& can_switch = made.sets->can_switch();
  frontier.modules = static_cast<std::size_t>(
      std::count(can_switch.begin(), can_switch.end(), true));
  for (const auto& [count, s] : BestByCount(contest)) {
    frontier.by_modules.push_back(Describe(contest, sets[s], s, seen));
    if (frontier.chosen < 0 &&
        frontier.by_modules.back().within_tolerance_probability >=
            kSureEnough) {
      frontier.chosen = static_cast<int>(frontier.by_modules.size()) - 1;
    }
  }
  const std::vector<FrontierSets::Prefix>& prefixes = made.sets->prefixes();
  for (std::size_t k = 0; k < prefixes.size(); ++k) {
    frontier.by_prefix.push_back(
        Describe(contest, prefixes[k].set, sets.size() + k, seen));
    frontier.by_prefix.back().prefix_frozen = prefixes[k].level;
  }
  // Without a module to switch there is nothing to choose.
  if (frontier.by_modules.size() < 2) frontier.chosen = -1;
  frontier.verdict = VerdictOf(contest, frontier, seen);
  frontier.warnings = basis.belief().warnings();
  return frontier;
}

absl::StatusOr<std::optional<OpenSet>> FindOpenSet(const PlanBasis& basis,
                                                   const PlanOptions& options) {
  ASSIGN_OR_RETURN(const ComparedSets made, CompareSets(basis, options));
  const Contest& contest = *made.contest;
  const std::vector<SeenModule> seen = SeenModules(basis.belief());
  const auto by_count = BestByCount(contest);
  for (const auto& [count, s] : by_count) {
    const ModuleSet& set = made.sets->sets()[s];
    const double chance = ChanceWithin(contest, s);
    const bool is_seen = IsSeen(contest, seen, set);
    if (is_seen && chance >= kSureEnough) break;
    if (is_seen && chance <= 1.0 - kSureEnough) continue;
    const FrontierSet told = Describe(contest, set, s, seen);
    return OpenSet{set.choice, contest.points[contest.best],
                   absl::StrCat(SayTraining(told, by_count.rbegin()->first),
                                " is enough")};
  }
  return std::nullopt;
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

// SPDX-License-Identifier: Apache-2.0
#include "importance/plan/frontier_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "importance/plan/module_costs.h"

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

}  // namespace frostline::importance

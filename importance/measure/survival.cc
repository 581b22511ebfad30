// SPDX-License-Identifier: Apache-2.0
#include "importance/measure/survival.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"

namespace frostline::importance {
namespace {

constexpr double kChanceOfAnySplit = 0.01;  // of a split that is none
constexpr std::size_t kMostCuts = 64;       // of a range of many values
constexpr char kFrozenText[] = "frozen";    // a rate of 0 (FormatValue)

double LogChoose(std::int64_t n, std::int64_t k) {
  const auto ln = [](std::int64_t x) {
    return std::lgamma(static_cast<double>(x) + 1.0);
  };
  return ln(n) - ln(k) - ln(n - k);
}

// The chance that so many or more of all who failed are on this side, if sides
// make no difference.
double ChanceOfSplit(const SideOfSplit& bad, const SideOfSplit& good) {
  const std::int64_t failed = bad.failed + good.failed;
  const std::int64_t all = bad.trials() + good.trials();
  const double whole = LogChoose(all, failed);
  double chance = 0.0;
  for (std::int64_t k = bad.failed; k <= std::min(failed, bad.trials()); ++k) {
    if (failed - k > good.trials()) continue;
    chance += std::exp(LogChoose(bad.trials(), k) +
                       LogChoose(good.trials(), failed - k) - whole);
  }
  return chance;
}

double ShareFailed(const SideOfSplit& side) {
  return static_cast<double>(side.failed) /
         static_cast<double>(std::max<std::int64_t>(side.trials(), 1));
}

bool IsAtSplit(const SurvivalSplit& split, double value) {
  return split.is_choice ? value == split.value : value >= split.value;
}

// The values that trials had, rising.
std::vector<double> DistinctOf(std::vector<double> values) {
  std::erase_if(values, IsAbsent);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Values to split at: each choice, or each value but the lowest.
std::vector<double> CutsOf(std::vector<double> values, bool is_choice) {
  if (!is_choice && !values.empty()) values.erase(values.begin());
  if (values.size() <= kMostCuts) return values;
  std::vector<double> cuts;
  for (std::size_t k = 0; k < kMostCuts; ++k) {
    cuts.push_back(values[k * values.size() / kMostCuts]);
  }
  return cuts;
}

// Fills in who failed and who ran; the bad side is where more fail.
void CountSides(const std::vector<double>& seen, const Selection& selection,
                SurvivalSplit& split) {
  const std::size_t ran = selection.points.size();
  SideOfSplit at, beside;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (IsAbsent(seen[i])) continue;
    SideOfSplit& side = IsAtSplit(split, seen[i]) ? at : beside;
    ++(i < ran ? side.ran : side.failed);
    if (i >= ran && selection.diverged[i - ran]->out_of_memory) {
      ++side.out_of_memory;
    }
  }
  split.fails_at = ShareFailed(at) >= ShareFailed(beside);
  split.bad = split.fails_at ? at : beside;
  split.good = split.fails_at ? beside : at;
}

// "that train it" and "that freeze it", or "at 0.001 or more" and "below".
std::pair<std::string, std::string> NamesOfSides(const Parameter& parameter,
                                                 const SurvivalSplit& split) {
  const std::string value = FormatValue(parameter.domain, split.value);
  if (split.is_choice) return {"with " + value, "with others"};
  if (split.of_freezing) return {"that train it", "that freeze it"};
  return {absl::StrCat("at ", value, " or more"), "below"};
}

std::string SayOutcome(const SideOfSplit& side, const std::string& name) {
  return absl::StrCat(side.failed, " of ", side.trials(), " ", name);
}

// " ran out of memory", or what else it was, too.
std::string SayCause(const SideOfSplit& bad) {
  if (bad.out_of_memory == 0) return " could not be trained";
  if (bad.out_of_memory == bad.failed) return " ran out of memory";
  return absl::StrCat(" could not be trained (", bad.out_of_memory,
                      " ran out of memory)");
}

void Say(const Parameter& parameter, SurvivalSplit& split) {
  auto [at, beside] = NamesOfSides(parameter, split);
  if (!split.fails_at) std::swap(at, beside);
  split.sentence = absl::StrCat(
      parameter.name,
      " decides whether a run survives: ", SayOutcome(split.bad, at),
      SayCause(split.bad), ", and ", SayOutcome(split.good, beside));
}

}  // namespace

bool SurvivalSplit::IsBad(const Point& point) const {
  const double at = point[static_cast<std::size_t>(parameter)];
  return !IsAbsent(at) && IsAtSplit(*this, at) == fails_at;
}

double SurvivalSplit::ChanceAt(const Point& point) const {
  if (IsAbsent(point[static_cast<std::size_t>(parameter)])) return 1.0;
  return (IsBad(point) ? bad : good).ChanceToRun();
}

std::optional<SurvivalSplit> FindSurvivalSplit(const Space& space,
                                               const Selection& selection) {
  if (selection.diverged.empty()) return std::nullopt;
  std::optional<SurvivalSplit> best;
  double least = kChanceOfAnySplit;
  std::size_t splits = 0;
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    std::vector<double> seen;
    for (const Point* const point : selection.points) {
      seen.push_back((*point)[i]);
    }
    for (const Observation* const trial : selection.diverged) {
      seen.push_back(trial->point[i]);
    }
    const Domain& domain = space.parameters()[i].domain;
    const bool is_choice = std::holds_alternative<Categorical>(domain);
    const std::vector<double> values = DistinctOf(seen);
    const bool has_frozen = !is_choice && !values.empty() &&
                            FormatValue(domain, values[0]) == kFrozenText;
    const std::vector<double> cuts = CutsOf(values, is_choice);
    splits += cuts.size();
    for (const double cut : cuts) {
      SurvivalSplit split;
      split.parameter = static_cast<int>(i);
      split.is_choice = is_choice;
      split.value = cut;
      split.of_freezing = has_frozen && cut == cuts.front();
      CountSides(seen, selection, split);
      // Of two choices the bad one is named.
      if (is_choice && values.size() == 2 && !split.fails_at) continue;
      const double chance = ChanceOfSplit(split.bad, split.good);
      if (chance >= least) continue;
      least = chance;
      best = split;
    }
  }
  if (!best.has_value() ||
      least * static_cast<double>(splits) >= kChanceOfAnySplit) {
    return std::nullopt;
  }
  Say(space.parameters()[static_cast<std::size_t>(best->parameter)], *best);
  return best;
}

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "sampler/tpe/native_tpe.h"

namespace frostline::sampler {
namespace {

constexpr std::int64_t kRemembered = 25;  // newest trials that weigh 1
constexpr double kRunningTrials = 8.0;    // what running ones may weigh

// A ramp from nothing to 1 over all but the newest trials.
double RecencyWeight(std::int64_t number, std::int64_t newest) {
  const std::int64_t old = newest - kRemembered;
  if (number >= old) return 1.0;
  return static_cast<double>(number + 1) / static_cast<double>(old + 1);
}

}  // namespace

std::vector<std::uint32_t> NativeTpe::GoodTrials(const History& history,
                                                 std::int64_t number) {
  std::vector<std::uint32_t> good;
  if (objectives_.size() > 1) {
    keys_.CatchUp(history);
    const auto trials = keys_.List(history, number, false);
    return SplitTrials(trials, CountBelow(trials.size(), objectives_.size()))
        .below;
  }
  const std::size_t wanted = CountGood(table_.results());
  const bool feasible = table_.best()[0].group != SplitGroup::kInfeasible;
  for (const RankedTrial& trial : table_.best()) {
    if (trial.number == number) continue;
    if (good.size() == wanted) break;
    if (feasible && trial.group == SplitGroup::kInfeasible) break;
    good.push_back(trial.index);
  }
  return good;
}

NativeTpe::Sides NativeTpe::SplitSides(const History& history,
                                       std::int64_t number,
                                       const CostModel* cost) {
  Sides sides;
  const std::vector<std::uint32_t> good = GoodTrials(history, number);
  const bool ranked = options_.rank_weights && objectives_.size() == 1;
  const std::vector<double> weights =
      ranked ? RankWeights(good.size()) : std::vector<double>(good.size(), 1);
  for (std::size_t i = 0; i < good.size(); ++i) {
    // Good per second: half the seconds are worth a second good trial.
    const double seconds =
        cost == nullptr
            ? 1.0
            : std::exp(cost->LogCost(history.trials()[good[i]].point) -
                       cost->LogCost(history.trials()[good[0]].point));
    sides.good.push_back({table_.cells(good[i]), weights[i] / seconds, false});
  }
  AddRest(history, number, good, sides);
  AddPriors(history, sides);
  return sides;
}

void NativeTpe::AddRest(const History& history, std::int64_t number,
                        const std::vector<std::uint32_t>& good,
                        Sides& sides) const {
  std::vector<std::uint32_t> rest;
  std::size_t all = table_.results();
  if (options_.avoid_failures) all += table_.failures();
  std::int64_t newest = number;
  for (const std::uint32_t i : table_.Sample()) {
    const std::int64_t its_number = history.trials()[i].number;
    const bool failed = table_.use(i) == CellTable::Use::kFailed;
    if (its_number == number || (failed && !options_.avoid_failures) ||
        std::find(good.begin(), good.end(), i) != good.end()) {
      continue;
    }
    if (rest.size() == options_.kernels) break;
    newest = std::max(newest, its_number);
    rest.push_back(i);
  }
  // Each of a sample speaks for several.
  const double share = rest.empty() || all < good.size() + rest.size()
                           ? 1.0
                           : static_cast<double>(all - good.size()) /
                                 static_cast<double>(rest.size());
  for (const std::uint32_t i : rest) {
    const double weight = RecencyWeight(history.trials()[i].number, newest);
    sides.rest.push_back({table_.cells(i), share * weight,
                          table_.use(i) == CellTable::Use::kFailed});
  }
  if (!options_.constant_liar) return;
  // However many run, together they are not more than a few bad trials.
  const double each = std::min(
      1.0, kRunningTrials / static_cast<double>(table_.running().size()));
  for (const auto& [its_number, i] : table_.running()) {
    if (its_number != number) sides.rest.push_back({table_.cells(i), each});
  }
}

void NativeTpe::AddPriors(const History& history, Sides& sides) {
  for (PriorEvidence& prior : priors_) {
    prior.AddTo(prior.Weight(history, table_), sides.good, sides.rest);
  }
}

}  // namespace frostline::sampler

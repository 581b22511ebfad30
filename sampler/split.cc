// SPDX-License-Identifier: Apache-2.0
#include "sampler/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sampler/split/pareto.h"

namespace frostline::sampler {
namespace {

constexpr double kWorst = std::numeric_limits<double>::infinity();

double WorstIfNan(double loss) { return std::isnan(loss) ? kWorst : loss; }

double ViolationOf(const Observation& trial) {
  if (trial.state == TrialState::kInfeasible) return kWorst;
  double violation = 0.0;
  for (const double constraint : trial.constraints) {
    violation += std::max(0.0, WorstIfNan(constraint));
  }
  return violation;
}

SplitKey PrunedKey(const Observation& trial, const Objective& objective) {
  SplitKey key;
  key.group = SplitGroup::kPruned;
  // Pruned before it reported anything: behind all that did report.
  key.first = 1.0;
  if (!trial.intermediate.empty()) {
    const IntermediateValue& last = trial.intermediate.back();
    key.first = -static_cast<double>(last.step);
    key.second = WorstIfNan(AsLoss(objective, last.value));
  }
  return key;
}

bool IsBetter(const KeyedTrial& a, const KeyedTrial& b) {
  if (a.key->first != b.key->first) return a.key->first < b.key->first;
  return a.key->second < b.key->second;
}

// Orders [begin, end) so that the best `wanted` come first.
using Iterator = std::vector<KeyedTrial>::iterator;
void OrderBest(Iterator begin, Iterator end, std::size_t wanted) {
  const bool several = begin != end && !begin->key->losses.empty();
  if (!several) {
    std::stable_sort(begin, end, IsBetter);
    return;
  }
  std::vector<std::vector<double>> losses;
  for (Iterator i = begin; i != end; ++i) losses.push_back(i->key->losses);
  std::vector<bool> chosen(losses.size(), false);
  for (const std::size_t i : BestByHypervolume(losses, wanted))
    chosen[i] = true;
  std::stable_partition(begin, end, [&](const KeyedTrial& trial) {
    return chosen[static_cast<std::size_t>(&trial - &*begin)];
  });
}

std::vector<std::uint32_t> IndicesByNumber(Iterator begin, Iterator end) {
  std::sort(begin, end, [](const KeyedTrial& a, const KeyedTrial& b) {
    return a.number < b.number;
  });
  std::vector<std::uint32_t> indices;
  for (Iterator i = begin; i != end; ++i) indices.push_back(i->index);
  return indices;
}

}  // namespace

std::optional<SplitKey> SplitKeyOf(const Observation& trial,
                                   const std::vector<Objective>& objectives) {
  SplitKey key;
  if (trial.state == TrialState::kRunning) return key;
  const bool finished = trial.state == TrialState::kSucceeded &&
                        trial.values.size() == objectives.size();
  const bool pruned = trial.state == TrialState::kPruned;
  if (!finished && !pruned && trial.state != TrialState::kInfeasible) {
    return std::nullopt;
  }
  const double violation = ViolationOf(trial);
  if (violation > 0.0) {
    key.group = SplitGroup::kInfeasible;
    key.first = violation;
    return key;
  }
  if (pruned) return PrunedKey(trial, objectives[0]);
  key.group = SplitGroup::kFinished;
  key.first = WorstIfNan(AsLoss(objectives[0], trial.values[0]));
  for (std::size_t i = 0; objectives.size() > 1 && i < objectives.size(); ++i) {
    key.losses.push_back(WorstIfNan(AsLoss(objectives[i], trial.values[i])));
  }
  return key;
}

std::size_t CountBelow(std::size_t n, std::size_t objectives) {
  const auto tenth =
      static_cast<std::size_t>(std::ceil(0.1 * static_cast<double>(n)));
  return objectives == 1 ? std::min<std::size_t>(tenth, 25) : tenth;
}

Split SplitTrials(std::vector<KeyedTrial> trials, std::size_t below) {
  // By number first: among equals the older trial is the better one.
  std::sort(trials.begin(), trials.end(),
            [](const KeyedTrial& a, const KeyedTrial& b) {
              return std::pair(a.key->group, a.number) <
                     std::pair(b.key->group, b.number);
            });
  Iterator begin = trials.begin();
  std::size_t left = below;
  for (const SplitGroup group :
       {SplitGroup::kFinished, SplitGroup::kPruned, SplitGroup::kInfeasible}) {
    const Iterator end = std::find_if(
        begin, trials.end(),
        [group](const KeyedTrial& trial) { return trial.key->group != group; });
    const std::size_t taken =
        std::min(left, static_cast<std::size_t>(end - begin));
    OrderBest(begin, end, taken);
    left -= taken;
    begin += static_cast<std::ptrdiff_t>(taken);
    // Once a group is not used up, nothing after it is good.
    if (left == 0) break;
  }
  Split split;
  split.below = IndicesByNumber(trials.begin(), begin);
  split.above = IndicesByNumber(begin, trials.end());
  return split;
}

}  // namespace frostline::sampler

// SPDX-License-Identifier: Apache-2.0
#include "sampler/split.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "study/objective.h"

namespace frostline::sampler {

void ParetoStair::Add(double x, double y) {
  const auto after = steps_.upper_bound(x);
  const double ceiling =
      after == steps_.begin() ? top_ : std::prev(after)->second;
  if (x >= right_ || y >= ceiling) return;
  // Steps to the right that are higher are cut off, one after the other.
  double left = x, height = ceiling;
  auto step = steps_.lower_bound(x);
  for (; step != steps_.end() && step->second >= y; step = steps_.erase(step)) {
    area_ += (step->first - left) * (height - y);
    left = step->first;
    height = step->second;
  }
  const double end = step == steps_.end() ? right_ : step->first;
  area_ += (end - left) * (height - y);
  steps_[x] = y;
}

namespace {

constexpr double kInfiniteVolume = std::numeric_limits<double>::infinity();

double Area(const LossVectors& points, const std::vector<double>& reference) {
  ParetoStair stair(reference);
  for (const auto& point : points) stair.Add(point[0], point[1]);
  return stair.area();
}

// Returns the volume as a sum of slices along the last objective, whose bottoms
// only grow. REQUIRES: points by rising last objective.
double VolumeOfSlices(const LossVectors& points,
                      const std::vector<double>& reference) {
  ParetoStair stair(reference);
  double volume = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    stair.Add(points[i][0], points[i][1]);
    const double next = i + 1 < points.size()
                            ? std::min(points[i + 1][2], reference[2])
                            : reference[2];
    volume += stair.area() * std::max(0.0, next - points[i][2]);
  }
  return volume;
}

bool IsCovered(const std::vector<double>& point, const LossVectors& front) {
  return std::any_of(front.begin(), front.end(), [&](const auto& other) {
    return std::equal(other.begin(), other.end(), point.begin(),
                      [](double a, double b) { return a <= b; });
  });
}

double FiniteVolume(LossVectors points, const std::vector<double>& reference);

// Returns the volume that `point` adds. Every point in `before` is at least as
// good in the last objective, so within the box of `point` they differ in the
// others alone.
double AddedByLast(std::vector<double> point, const LossVectors& before,
                   std::vector<double> reference) {
  const double depth = std::max(0.0, reference.back() - point.back());
  point.pop_back();
  reference.pop_back();
  LossVectors moved;
  for (const std::vector<double>& other : before) {
    moved.push_back(point);
    for (std::size_t m = 0; m < point.size(); ++m) {
      moved.back()[m] = std::max(point[m], other[m]);
    }
  }
  return depth * (BoxVolume(point, reference) -
                  FiniteVolume(std::move(moved), reference));
}

double FiniteVolume(LossVectors points, const std::vector<double>& reference) {
  if (reference.size() == 2) return Area(points, reference);
  std::sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(),
                                        b.rend());
  });
  if (reference.size() == 3) return VolumeOfSlices(points, reference);
  double volume = 0.0;
  LossVectors front;
  for (const std::vector<double>& point : points) {
    if (IsCovered(point, front)) continue;
    volume += AddedByLast(point, front, reference);
    front.push_back(point);
  }
  return volume;
}

}  // namespace

double BoxVolume(const std::vector<double>& point,
                 const std::vector<double>& reference) {
  double volume = 1.0;
  for (std::size_t m = 0; m < point.size(); ++m) {
    if (point[m] >= reference[m]) return 0.0;
    volume *= reference[m] - point[m];
  }
  return volume;
}

double AddedVolume(const std::vector<double>& point, LossVectors others,
                   const std::vector<double>& reference) {
  for (std::vector<double>& other : others) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      other[m] = std::max(other[m], point[m]);
    }
  }
  return BoxVolume(point, reference) -
         Hypervolume(std::move(others), reference);
}

double Hypervolume(LossVectors points, const std::vector<double>& reference) {
  const auto is_infinite = [](double value) { return std::isinf(value); };
  if (std::any_of(reference.begin(), reference.end(), is_infinite)) {
    return kInfiniteVolume;
  }
  std::erase_if(points, [&](const std::vector<double>& point) {
    return BoxVolume(point, reference) == 0.0;
  });
  for (const std::vector<double>& point : points) {
    if (std::isinf(BoxVolume(point, reference))) return kInfiniteVolume;
  }
  return FiniteVolume(std::move(points), reference);
}

namespace {

using Indices = std::vector<std::size_t>;

// Sorted so, a point can only be dominated by one before it.
Indices Lexicographic(const LossVectors& points) {
  Indices order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  return order;
}

bool IsDominatedBy(const Indices& front, const LossVectors& losses,
                   std::size_t point) {
  // With two objectives the latest member is the best in the second one.
  const std::size_t look = losses[point].size() == 2 ? 1 : front.size();
  return std::any_of(front.rbegin(),
                     front.rbegin() + static_cast<std::ptrdiff_t>(look),
                     [&](std::size_t other) {
                       return Dominates(losses[other], losses[point]);
                     });
}

// The members of each rank, by rising index.
std::vector<Indices> FrontsOf(const std::vector<int>& ranks) {
  std::vector<Indices> fronts;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    if (rank >= fronts.size()) fronts.resize(rank + 1);
    fronts[rank].push_back(i);
  }
  return fronts;
}

// A little beyond the worst value of every objective.
std::vector<double> ReferenceOf(const LossVectors& points) {
  std::vector<double> reference = points[0];
  for (const std::vector<double>& point : points) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      reference[m] = std::max(reference[m], point[m]);
    }
  }
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0.0) worst = 1e-12;
  }
  return reference;
}

}  // namespace

std::vector<int> NonDominationRanks(const LossVectors& losses) {
  std::vector<int> ranks(losses.size(), 0);
  std::vector<Indices> fronts;
  for (const std::size_t i : Lexicographic(losses)) {
    // Whoever a front dominates, the fronts before it dominate too.
    const auto found = std::partition_point(
        fronts.begin(), fronts.end(),
        [&](const Indices& front) { return IsDominatedBy(front, losses, i); });
    ranks[i] = static_cast<int>(found - fronts.begin());
    if (found == fronts.end()) {
      fronts.push_back({i});
    } else {
      found->push_back(i);
    }
  }
  return ranks;
}

std::vector<int> NonDominationRanks(const LossVectors& losses,
                                    const std::vector<double>& violations) {
  Indices kept;
  LossVectors feasible;
  std::vector<double> broken;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (violations[i] > 0.0) {
      broken.push_back(violations[i]);
    } else {
      kept.push_back(i);
      feasible.push_back(losses[i]);
    }
  }
  std::sort(broken.begin(), broken.end());
  broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
  const std::vector<int> best = NonDominationRanks(feasible);
  int behind = 0;
  std::vector<int> ranks(losses.size());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    ranks[kept[k]] = best[k];
    behind = std::max(behind, best[k] + 1);
  }
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!(violations[i] > 0.0)) continue;
    const auto place =
        std::lower_bound(broken.begin(), broken.end(), violations[i]);
    ranks[i] = behind + static_cast<int>(place - broken.begin());
  }
  return ranks;
}

std::vector<std::size_t> BestByHypervolume(const LossVectors& losses,
                                           std::size_t count) {
  Indices best;
  for (const Indices& members : FrontsOf(NonDominationRanks(losses))) {
    if (best.size() == count) break;
    if (members.size() <= count - best.size()) {
      best.insert(best.end(), members.begin(), members.end());
      continue;
    }
    LossVectors points;
    for (const std::size_t i : members) points.push_back(losses[i]);
    for (const std::size_t i : SelectByHypervolume(points, ReferenceOf(points),
                                                   count - best.size())) {
      best.push_back(members[i]);
    }
  }
  return best;
}

namespace {

using SubsetIndices = std::vector<std::size_t>;

// One index for each distinct point, in lexicographic order.
SubsetIndices DistinctOf(const LossVectors& points) {
  SubsetIndices order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  order.erase(std::unique(order.begin(), order.end(),
                          [&](std::size_t a, std::size_t b) {
                            return points[a] == points[b];
                          }),
              order.end());
  return order;
}

// Selects points of two objectives. A front's points lie side by side, so each
// adds a rectangle up to its chosen neighbours. `order` is consumed.
SubsetIndices SelectOfTwo(const LossVectors& points, SubsetIndices order,
                          const std::vector<double>& reference,
                          std::size_t count) {
  LossVectors corners(order.size(), reference);
  SubsetIndices chosen;
  while (chosen.size() < count) {
    std::size_t best = 0;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::vector<double>& point = points[order[k]];
      const double added =
          (corners[k][0] - point[0]) * (corners[k][1] - point[1]);
      if (added > most) {
        most = added;
        best = k;
      }
    }
    const std::vector<double>& taken = points[order[best]];
    chosen.push_back(order[best]);
    order.erase(order.begin() + static_cast<std::ptrdiff_t>(best));
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(best));
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t side = k < best ? 0 : 1;
      corners[k][side] = std::min(corners[k][side], taken[side]);
    }
  }
  return chosen;
}

// Selects the point that adds most, again and again. What a point adds only
// falls as others are chosen, so a point that added less than the present best
// when last looked at is not looked at again.
SubsetIndices SelectLazily(const LossVectors& points,
                           const SubsetIndices& order,
                           const std::vector<double>& reference,
                           std::size_t count) {
  std::vector<double> at_most;
  for (const std::size_t i : order) {
    at_most.push_back(BoxVolume(points[i], reference));
  }
  SubsetIndices places(order.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  SubsetIndices chosen;
  LossVectors taken;
  while (chosen.size() < count) {
    std::sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
      return at_most[a] != at_most[b] ? at_most[a] > at_most[b] : a < b;
    });
    auto best = places.begin();
    double most = -1.0;
    for (auto k = places.begin(); k != places.end() && at_most[*k] >= most;
         ++k) {
      double& added = at_most[*k];
      added = std::max(0.0, AddedVolume(points[order[*k]], taken, reference));
      if (added > most || (added == most && *k < *best)) {
        most = added;
        best = k;
      }
    }
    chosen.push_back(order[*best]);
    taken.push_back(points[order[*best]]);
    places.erase(best);
  }
  return chosen;
}

}  // namespace

std::vector<std::size_t> SelectByHypervolume(
    const LossVectors& points, const std::vector<double>& reference,
    std::size_t count) {
  SubsetIndices all(points.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (count >= points.size()) return all;
  SubsetIndices distinct = DistinctOf(points);
  if (distinct.size() < count) {
    std::vector<bool> is_twin(points.size(), true);
    for (const std::size_t i : distinct) is_twin[i] = false;
    std::size_t twins = count - distinct.size();
    std::erase_if(all, [&](std::size_t i) {
      return is_twin[i] && (twins == 0 || twins-- == 0);
    });
    return all;
  }
  const bool finite =
      std::all_of(reference.begin(), reference.end(),
                  [](double value) { return std::isfinite(value); });
  // Without a volume to compare, the lexicographic order decides.
  if (!finite || distinct.size() == count) {
    distinct.resize(count);
    return distinct;
  }
  return reference.size() == 2
             ? SelectOfTwo(points, std::move(distinct), reference, count)
             : SelectLazily(points, distinct, reference, count);
}

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

void TrialTable::CatchUp(const History& history) {
  if (history.revision() < revision_) {
    revision_ = 0;
    keys_.clear();
  }
  keys_.resize(history.size());
  for (; revision_ < history.revision(); ++revision_) {
    const auto i = history.changes()[static_cast<std::size_t>(revision_)];
    const Observation& trial = history.trials()[i];
    std::optional<SplitKey> key = SplitKeyOf(trial, objectives_);
    // Trials from another space tell nothing about this one.
    if (key.has_value() && !space_.Check(trial.point).ok()) key.reset();
    keys_[i] = std::move(key);
  }
}

std::vector<KeyedTrial> TrialTable::List(const History& history,
                                         std::int64_t own,
                                         bool with_running) const {
  std::vector<KeyedTrial> trials;
  trials.reserve(keys_.size());
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (!keys_[i].has_value() || history.trials()[i].number == own) continue;
    if (!with_running && keys_[i]->group == SplitGroup::kRunning) continue;
    trials.push_back({history.trials()[i].number, static_cast<std::uint32_t>(i),
                      &*keys_[i]});
  }
  return trials;
}

}  // namespace frostline::sampler

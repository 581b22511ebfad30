// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "importance/forest/forest.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {
namespace {

// So many trees are asked first whether more of them are worth growing, and
// what is the least that they must promise, in deviations.
constexpr int kPilotTrees = 16;
constexpr double kPromising = 2.0;
// A forest clearly helps from these on. On additive truths the weight is up
// to .2 and up to 2.5 deviations by chance, on cliffs .7 to 1 and 9 or more.
constexpr double kClear = 3.5;
constexpr double kLeastWeight = 0.25;

struct Weight {
  double value = 0.0;  // 0 … 1
  double deviation = 0.0;
  double gain = 0.0;  // squared error that it takes away

  bool IsAbove(double deviations) const {
    return value > 0.0 && value >= deviations * deviation;
  }
};

// Adds the mean prediction of each row by the trees that have not seen it.
struct OutOfBag {
  std::vector<double> sums;
  std::vector<double> counts;

  void Add(const Dataset& data, const Forest& forest,
           const std::stop_token& stop) {
    sums.resize(data.rows(), 0.0);
    counts.resize(data.rows(), 0.0);
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      if (stop.stop_requested()) return;
      for (std::size_t row = 0; row < data.rows(); ++row) {
        if (forest.drawn[t][row] > 0) continue;
        sums[row] += forest.trees[t].Predict(data, row);
        counts[row] += 1.0;
      }
    }
  }
};

// Least squares of what level effects miss on what the forest would change.
Weight Weigh(const OutOfBag& forest, const std::vector<double>& targets,
             const std::vector<double>& missed) {
  double size = 0.0;
  double product = 0.0;
  double left = 0.0;
  for (std::size_t row = 0; row < missed.size(); ++row) {
    left += missed[row] * missed[row];
    if (forest.counts[row] == 0.0) continue;
    const double adds =
        forest.sums[row] / forest.counts[row] - (targets[row] - missed[row]);
    size += adds * adds;
    product += adds * missed[row];
  }
  Weight weight;
  if (!(size > 0.0)) return weight;
  weight.value = std::clamp(product / size, 0.0, 1.0);
  weight.gain = weight.value * (2.0 * product - weight.value * size);
  const double variance =
      std::max(left - weight.gain, 0.0) / static_cast<double>(missed.size());
  weight.deviation = std::sqrt(variance / size);
  return weight;
}

Mixture WithoutForest(const GroupedRidge& ridge,
                      const std::vector<double>& missed) {
  Mixture mixture;
  mixture.levels_r2 = ridge.R2Of(missed);
  mixture.r2 = mixture.levels_r2;
  mixture.missed = missed;
  if (ridge.target_variance() > 0.0) {
    mixture.missed_variance = (1.0 - mixture.r2) * ridge.target_variance();
  }
  return mixture;
}

// What the forest has of the products of predictions with targets.
double ForestPart(const OutOfBag& forest, const std::vector<double>& targets,
                  const std::vector<double>& missed, double weight) {
  double of_forest = 0.0;
  double of_levels = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    if (forest.counts[row] == 0.0) continue;
    of_forest += forest.sums[row] / forest.counts[row] * targets[row];
    of_levels += (targets[row] - missed[row]) * targets[row];
  }
  of_forest = weight * std::max(of_forest, 0.0);
  of_levels = (1.0 - weight) * std::max(of_levels, 0.0);
  const double both = of_forest + of_levels;
  return both > 0.0 ? of_forest / both : 0.0;
}

void Append(std::vector<Tree>& trees, Forest forest) {
  for (Tree& tree : forest.trees) trees.push_back(std::move(tree));
}

}  // namespace

Mixture LevelsAlone(const LevelEffects& model) {
  return WithoutForest(model.ridge(), model.ridge().LeftOutResiduals());
}

Mixture FitMixture(const Dataset& data, const LevelEffects& model,
                   const MixtureOptions& options) {
  const std::vector<double> missed = model.ridge().LeftOutResiduals();
  Mixture mixture = WithoutForest(model.ridge(), missed);
  const double variance = model.ridge().target_variance();
  if (!(variance > 0.0)) return mixture;
  const RowWeights all(data.rows(), 1);
  const int pilots = std::min(options.trees, kPilotTrees);
  OutOfBag seen;
  const auto grow = [&](int trees, int first) {
    Forest forest = FitForest(data, data.targets, all, trees, options.seed,
                              static_cast<std::uint64_t>(first),
                              options.threads, options.stop);
    seen.Add(data, forest, options.stop);
    Append(mixture.trees, std::move(forest));
  };
  grow(pilots, 0);
  Weight weight = Weigh(seen, data.targets, missed);
  if (weight.IsAbove(kPromising)) {
    grow(options.trees - pilots, pilots);
    weight = Weigh(seen, data.targets, missed);
  }
  if (!weight.IsAbove(kClear) || weight.value < kLeastWeight) {
    mixture.trees.clear();
    return mixture;
  }
  mixture.forest_weight = weight.value;
  mixture.weight_deviation = weight.deviation;
  const double gain = weight.gain / static_cast<double>(data.rows());
  mixture.r2 += gain / variance;
  mixture.missed_variance -= gain;
  mixture.forest_part = ForestPart(seen, data.targets, missed, weight.value);
  for (std::size_t row = 0; row < missed.size(); ++row) {
    if (seen.counts[row] == 0.0) continue;
    const double forest = data.targets[row] - seen.sums[row] / seen.counts[row];
    mixture.missed[row] += weight.value * (forest - missed[row]);
  }
  return mixture;
}

MixtureModel::MixtureModel(const LevelEffects& model,
                           const std::vector<FineAxis>& axes,
                           const Mixture& mixture,
                           std::vector<std::vector<int>> groups,
                           std::uint64_t seed, NamedSubsets subsets,
                           int threads, const std::stop_token& stop)
    : model_(model),
      axes_(axes),
      mixture_(mixture),
      groups_(std::move(groups)),
      subsets_(std::move(subsets)),
      kept_(1.0 - mixture.forest_weight) {
  tables_.reserve(model_.terms().size());
  for (std::size_t t = 0; t < model_.terms().size(); ++t) {
    tables_.push_back(model_.Table(t));
    if (model_.terms()[t].size() > 2) higher_terms_.push_back(t);
  }
  for (const std::vector<int>& group : groups_) {
    std::vector<bool>& members = in_group_.emplace_back(axes_.size(), false);
    for (const int axis : group) members[static_cast<std::size_t>(axis)] = true;
  }
  if (!mixture_.trees.empty()) {
    forest_ = FindTreeEffects(axes_, mixture_.trees, PairsOfForest());
  }
  FindPairs();
  asked_ = FindAsked(model_, pairs_, subsets_);
  FindChange(seed, stop);
  if (!stop.stop_requested()) FindSubsetChanges(seed, threads);
}

// Those that level effects have, as the sum of both is squared, and those that
// sets are asked for with, as these are told exactly.
std::vector<AxisPair> MixtureModel::PairsOfForest() const {
  std::vector<AxisPair> always;
  for (const EffectTerm& term : model_.terms()) {
    if (term.size() == 2) always.emplace_back(term[0], term[1]);
  }
  for (std::vector<int> subset : subsets_) {
    std::sort(subset.begin(), subset.end());
    for (std::size_t a = 0; a < subset.size(); ++a) {
      for (std::size_t b = a + 1; b < subset.size(); ++b) {
        always.emplace_back(subset[a], subset[b]);
      }
    }
  }
  return ChoosePairs(FindSplitGains(axes_, mixture_.trees), always);
}

void MixtureModel::FindPairs() {
  std::set<AxisPair> known;
  const auto none = model_.terms().size();
  std::map<AxisPair, std::size_t> entered;
  term_of_axis_.assign(axes_.size(), none);
  for (std::size_t t = 0; t < none; ++t) {
    const EffectTerm& term = model_.terms()[t];
    if (term.size() == 1) term_of_axis_[term[0]] = t;
    if (term.size() == 2) entered[{term[0], term[1]}] = t;
  }
  for (const auto& [pair, t] : entered) known.insert(pair);
  for (const LeftOutTerm& one : model_.left_out()) {
    if (one.term.size() == 2) known.insert({one.term[0], one.term[1]});
  }
  for (const auto& [pair, table] : forest_.pairs) known.insert(pair);
  pairs_.assign(known.begin(), known.end());
  for (const AxisPair& pair : pairs_) {
    const auto found = entered.find(pair);
    term_of_pair_.push_back(found == entered.end() ? none : found->second);
  }
}

MixtureShares MixtureModel::Combine(const EffectShares& levels,
                                    const Change& change) const {
  const bool alone = mixture_.trees.empty();
  const double scale = kept_ * kept_ * levels.variance;
  MixtureShares shares;
  shares.main.assign(axes_.size(), 0.0);
  shares.total.assign(axes_.size(), 0.0);
  shares.pairs.assign(pairs_.size(), 0.0);
  shares.groups.assign(groups_.size(), 0.0);
  // What no forest explains may all the same be there (FindRest of shares).
  double rest = (alone ? scale * levels.rest : 0.0) + change.rest;
  const auto add = [&](std::span<const std::size_t> term, double variance) {
    for (const std::size_t axis : term) shares.total[axis] += variance;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const bool within =
          std::all_of(term.begin(), term.end(),
                      [&](std::size_t axis) { return in_group_[g][axis]; });
      if (within) shares.groups[g] += variance;
    }
    shares.variance += variance;
  };
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    shares.main[i] = std::max(scale * levels.main[i] + change.main[i], 0.0);
    add(std::array{i}, shares.main[i]);
  }
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const std::size_t t = term_of_pair_[p];
    const double own = t < levels.terms.size() ? scale * levels.terms[t] : 0.0;
    shares.pairs[p] = std::max(own + change.pairs[p], 0.0);
    if (shares.pairs[p] > 0.0) {
      add(std::array{pairs_[p].first, pairs_[p].second}, shares.pairs[p]);
    }
  }
  for (std::size_t t = 0; t < levels.terms.size(); ++t) {
    if (model_.terms()[t].size() < 3) continue;
    add(model_.terms()[t], scale * levels.terms[t]);
    shares.unexplained += scale * levels.terms[t];
  }
  rest = std::max(rest, -shares.unexplained);
  shares.variance += rest;
  shares.unexplained += rest;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    // Level effects and the forest may take from each other.
    shares.total[i] =
        std::max(shares.total[i] + change.rest_total[i], shares.main[i]);
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    shares.groups[g] += std::max(change.rest_groups[g], 0.0);
  }
  for (std::size_t s = 0; s < asked_.size(); ++s) {
    shares.subsets.push_back(
        CombineSubset(asked_[s], levels, change.subsets[s], shares));
  }
  if (!(shares.variance > 0.0)) {
    shares.unexplained = 1.0;
    return shares;
  }
  for (SubsetShare& subset : shares.subsets) {
    subset.together = std::min(subset.together / shares.variance, 1.0);
    subset.beyond = std::min(subset.beyond / shares.variance, 1.0);
  }
  for (auto* const list :
       {&shares.main, &shares.total, &shares.pairs, &shares.groups}) {
    for (double& share : *list) {
      share = std::min(share / shares.variance, 1.0);
    }
  }
  shares.unexplained /= shares.variance;
  return shares;
}

MixtureShares MixtureModel::Shares() const {
  return Combine(SharesOf(model_), change_);
}

std::vector<double> MixtureModel::Curve(std::size_t axis) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  std::vector<double> curve(fine.size(), 0.0);
  for (std::size_t k = 0; k < fine.size(); ++k) {
    if (t < tables_.size()) curve[k] += kept_ * tables_[t][fine.effect_cell[k]];
    if (!forest_.main.empty()) {
      curve[k] += mixture_.forest_weight * forest_.main[axis][k];
    }
  }
  return curve;
}

// What a forest changes in main effects and pairs of level effects.

namespace {

constexpr std::size_t kChangedTreesPerBag = 4;

}  // namespace

double MixtureModel::MainChange(std::size_t axis,
                                const std::vector<double>& forest) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  double change = 0.0;
  for (std::size_t k = 0; k < fine.size(); ++k) {
    const double level =
        t < tables_.size() ? kept_ * tables_[t][fine.effect_cell[k]] : 0.0;
    const double both = level + mixture_.forest_weight * forest[k];
    change += fine.masses[k] * (both * both - level * level);
  }
  return change;
}

double MixtureModel::PairChange(std::size_t pair) const {
  const auto found = forest_.pairs.find(pairs_[pair]);
  if (found == forest_.pairs.end()) return 0.0;
  const FineAxis& first = axes_[pairs_[pair].first];
  const FineAxis& second = axes_[pairs_[pair].second];
  const std::size_t t = term_of_pair_[pair];
  const std::size_t width = model_.axes()[pairs_[pair].second].cells();
  double change = 0.0;
  for (std::size_t x = 0; x < first.size(); ++x) {
    for (std::size_t y = 0; y < second.size(); ++y) {
      double level = 0.0;
      if (t < tables_.size()) {
        level =
            kept_ *
            tables_[t][first.effect_cell[x] * width + second.effect_cell[y]];
      }
      const double both =
          level + mixture_.forest_weight * found->second[x * second.size() + y];
      change +=
          first.masses[x] * second.masses[y] * (both * both - level * level);
    }
  }
  return change;
}

void MixtureModel::FindChange(std::uint64_t seed, const std::stop_token& stop) {
  change_.main.assign(axes_.size(), 0.0);
  change_.pairs.assign(pairs_.size(), 0.0);
  change_.rest_total.assign(axes_.size(), 0.0);
  change_.rest_groups.assign(groups_.size(), 0.0);
  if (mixture_.trees.empty()) return;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    change_.main[i] = MainChange(i, forest_.main[i]);
  }
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    change_.pairs[p] = PairChange(p);
  }
  FindRest(seed, stop);
  const std::span<const Tree> trees(mixture_.trees);
  for (std::size_t t = 0; t + kChangedTreesPerBag <= trees.size();
       t += kChangedTreesPerBag) {
    if (stop.stop_requested()) return;
    const TreeEffects bag =
        FindTreeEffects(axes_, trees.subspan(t, kChangedTreesPerBag), {});
    std::vector<double> main;
    main.reserve(axes_.size());
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      main.push_back(MainChange(i, bag.main[i]));
    }
    bags_.push_back(std::move(main));
  }
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    double mean = 0.0;
    for (const auto& bag : bags_) {
      mean += bag[i] / static_cast<double>(bags_.size());
    }
    for (auto& bag : bags_) bag[i] -= mean;
  }
}

// What the sum of level effects and a forest has beyond main effects and pairs,
// met at points that are drawn from the space.

namespace {

// Points at which what is neither main effect nor pair is looked up.
constexpr int kPoints = 512;
// A stream of the seed; the forest has those from 0.
constexpr std::uint64_t kPointStream = std::uint64_t{3} << 32;

// One number for a point, and one for it with each axis moved. What is added to
// all of them is told apart only where it reads the moved axis: so a step costs
// a sweep over plain numbers, not a look into tables for each axis.
class MovedSums {
 public:
  explicit MovedSums(std::size_t axes) : sums_(axes + 1, 0.0) {}

  // To that with this axis moved, at the next AddToOthers.
  void AddWhereMoved(std::size_t axis, double value) {
    apart_.emplace_back(axis, sums_[axis] + value);
  }
  void AddToOthers(double value) {
    for (double& sum : sums_) sum += value;
    for (const auto& [axis, sum] : apart_) sums_[axis] = sum;
    apart_.clear();
  }
  void DivideBy(double count) {
    for (double& sum : sums_) sum /= count;
  }

  double unmoved() const { return sums_.back(); }
  double moved(std::size_t axis) const { return sums_[axis]; }

 private:
  std::vector<double> sums_;  // by axis; the last is of the point itself
  std::vector<std::pair<std::size_t, double>> apart_;
};

}  // namespace

double MixtureModel::LevelsAt(std::size_t term, const FinePoint& point) const {
  std::size_t cell = 0;
  for (const std::size_t axis : model_.terms()[term]) {
    cell = cell * model_.axes()[axis].cells() +
           axes_[axis].effect_cell[point[axis]];
  }
  return kept_ * tables_[term][cell];
}

double MixtureModel::LevelsRest(const FinePoint& point) const {
  double rest = 0.0;
  for (const std::size_t t : higher_terms_) rest += LevelsAt(t, point);
  return rest;
}

double MixtureModel::Predict(const FinePoint& point, double mean_target) const {
  double predicted = kept_ * mean_target;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    predicted += LevelsAt(t, point);
  }
  if (mixture_.trees.empty()) return predicted;
  return predicted +
         mixture_.forest_weight * PredictAt(axes_, mixture_.trees, point);
}

// Both are without mean, main effects and pairs: of level effects alone, and
// with the forest.
MixtureModel::Rest MixtureModel::RestAt(const FinePoint& point) const {
  Rest rest;
  rest.levels = LevelsRest(point);
  double forest = PredictAt(axes_, mixture_.trees, point) - forest_.mean;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    forest -= forest_.main[i][point[i]];
  }
  for (const auto& [pair, table] : forest_.pairs) {
    forest -= table[point[pair.first] * axes_[pair.second].size() +
                    point[pair.second]];
  }
  rest.both = rest.levels + mixture_.forest_weight * forest;
  return rest;
}

// As RestAt at the point, and with each axis moved to where `other` has it; to
// the bit, as what is added up is added up in the same order.
MixtureModel::MovedRests MixtureModel::RestsAround(
    const FinePoint& point, const FinePoint& other) const {
  FinePoint moved = point;
  MovedSums forest(axes_.size());
  std::vector<std::size_t> way;
  for (const Tree& tree : mixture_.trees) {
    way.clear();
    const double value = PredictAt(axes_, tree, point, &way);
    for (const std::size_t axis : way) {
      moved[axis] = other[axis];
      forest.AddWhereMoved(axis, PredictAt(axes_, tree, moved));
      moved[axis] = point[axis];
    }
    forest.AddToOthers(value);
  }
  forest.DivideBy(static_cast<double>(mixture_.trees.size()));
  forest.AddToOthers(-forest_.mean);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    forest.AddWhereMoved(i, -forest_.main[i][other[i]]);
    forest.AddToOthers(-forest_.main[i][point[i]]);
  }
  for (const auto& [pair, table] : forest_.pairs) {
    const auto [a, b] = pair;
    const std::size_t width = axes_[b].size();
    forest.AddWhereMoved(a, -table[other[a] * width + point[b]]);
    forest.AddWhereMoved(b, -table[point[a] * width + other[b]]);
    forest.AddToOthers(-table[point[a] * width + point[b]]);
  }
  const auto both = [this](double levels, double of_forest) {
    return Rest{levels, levels + mixture_.forest_weight * of_forest};
  };
  MovedRests rests{both(LevelsRest(point), forest.unmoved()), {}};
  rests.moved.reserve(axes_.size());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    moved[i] = other[i];
    rests.moved.push_back(both(LevelsRest(moved), forest.moved(i)));
    moved[i] = point[i];
  }
  return rests;
}

// Totals by Jansen's formula ("Analysis of variance designs for model output",
// 1999), groups by the product of two points that have the group in common.
void MixtureModel::FindRest(std::uint64_t seed, const std::stop_token& stop) {
  Rng rng(seed, kPointStream);
  for (int n = 0; n < kPoints && !stop.stop_requested(); ++n) {
    FinePoint point, other;
    point.reserve(axes_.size());
    other.reserve(axes_.size());
    for (const FineAxis& axis : axes_) {
      point.push_back(DrawCode(axis, rng));
      other.push_back(DrawCode(axis, rng));
    }
    const MovedRests rests = RestsAround(point, other);
    const Rest& here = rests.unmoved;
    const auto product = [&here](const Rest& there) {
      return (here.both * there.both - here.levels * there.levels) / kPoints;
    };
    change_.rest += product(here);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (other[i] == point[i]) continue;
      const Rest& there = rests.moved[i];
      const double both = here.both - there.both;
      const double levels = here.levels - there.levels;
      change_.rest_total[i] += 0.5 * (both * both - levels * levels) / kPoints;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      FinePoint shared = other;
      for (const int i : groups_[g]) {
        shared[static_cast<std::size_t>(i)] =
            point[static_cast<std::size_t>(i)];
      }
      change_.rest_groups[g] += product(RestAt(shared));
    }
  }
}

// The sets of parameters that were asked for, as the mixture has them.

namespace {

// A stream of the seed; one for all sets, so that the answer to one does not
// depend on what else is asked.
constexpr std::uint64_t kSubsetStream = std::uint64_t{5} << 32;

}  // namespace

SubsetShare MixtureModel::SubsetChange(const AskedSubset& asked,
                                       std::uint64_t seed) const {
  SubsetShare change;
  if (asked.axes.size() < 3) return change;
  Rng rng(seed, kSubsetStream);
  const SubsetPoints points = MakeSubsetPoints(axes_, asked.axes, rng);
  const SubsetRest forest =
      FindSubsetRest(axes_, mixture_.trees, asked.axes, points);
  for (std::size_t n = 0; n < points.masses.size(); ++n) {
    double within = 0.0;  // of level effects
    double own = 0.0;
    for (const std::size_t t : asked.terms) {
      const EffectTerm& term = model_.terms()[t];
      std::size_t cell = 0;
      for (std::size_t s = 0; s < asked.axes.size(); ++s) {
        const std::size_t axis = asked.axes[s];
        if (std::find(term.begin(), term.end(), axis) == term.end()) continue;
        cell = cell * model_.axes()[axis].cells() +
               axes_[axis].effect_cell[points.codes[s][n]];
      }
      within += kept_ * tables_[t][cell];
      if (term == asked.axes) own += kept_ * tables_[t][cell];
    }
    const double weight = mixture_.forest_weight;
    const auto add = [mass = points.masses[n]](double& sum, double levels,
                                               double more) {
      const double both = levels + more;
      sum += mass * (both * both - levels * levels);
    };
    add(change.together, within, weight * forest.together[n]);
    add(change.beyond, own, weight * forest.beyond[n]);
  }
  return change;
}

void MixtureModel::FindSubsetChanges(std::uint64_t seed, int threads) {
  change_.subsets.resize(asked_.size());
  if (mixture_.trees.empty()) return;
  ParallelFor(threads, asked_.size(), [&](std::size_t s) {
    change_.subsets[s] = SubsetChange(asked_[s], seed);
  });
}

// `shares` are still variances.
SubsetShare MixtureModel::CombineSubset(const AskedSubset& asked,
                                        const EffectShares& levels,
                                        const SubsetShare& change,
                                        const MixtureShares& shares) const {
  const double scale = kept_ * kept_ * levels.variance;
  SubsetShare found;
  for (const std::size_t i : asked.axes) found.together += shares.main[i];
  for (const std::size_t p : asked.pairs) found.together += shares.pairs[p];
  double rest = change.together;
  double own = change.beyond;
  for (const std::size_t t : asked.terms) {
    rest += scale * levels.terms[t];
    if (model_.terms()[t] == asked.axes) own += scale * levels.terms[t];
  }
  found.together += std::max(rest, 0.0);
  if (asked.axes.size() == axes_.size()) found.together = shares.variance;
  if (asked.axes.size() == 1) {
    found.beyond = shares.main[asked.axes[0]];
  } else if (asked.axes.size() > 2) {
    found.beyond = std::max(own, 0.0);
  } else if (!asked.pairs.empty()) {
    found.beyond = shares.pairs[asked.pairs[0]];
  }
  return found;
}

// Draws of a mixture's shares: what the trials leave possible.

namespace {

// What a few trees differ by, for what the forest would with other trials: by
// this much its intervals hold known cliffs as often as they say.
constexpr double kBagSpread = 2.0;
// Streams of the seed of their own.
constexpr std::uint64_t kDrawStream = std::uint64_t{4} << 32;
constexpr std::uint64_t kSubsetDrawStream = std::uint64_t{6} << 32;

}  // namespace

// One possible change: the weight is uncertain, main effects differ as they do
// between trees, and of what nothing predicts a part may be of many parameters
// together that so few trials do not show.
MixtureModel::Change MixtureModel::DrawChange(Rng& rng) const {
  Change change = change_;
  const double weight = std::clamp(
      mixture_.forest_weight + mixture_.weight_deviation * rng.Normal(), 0.0,
      1.0);
  const double size = weight / mixture_.forest_weight;
  const auto& bag = bags_[static_cast<std::size_t>(
      rng.Below(static_cast<std::uint64_t>(bags_.size())))];
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    change.main[i] = size * change.main[i] + kBagSpread * bag[i];
  }
  for (double& pair : change.pairs) pair *= size;
  change.rest *= size;
  for (double& rest : change.rest_total) rest *= size;
  for (double& rest : change.rest_groups) rest *= size;
  for (SubsetShare& subset : change.subsets) {
    subset.together *= size;
    subset.beyond *= size;
  }
  return change;
}

// Adds what nothing predicts. A part of it may be of many parameters together,
// which so few trials do not show; the more is missed, the larger that part.
void MixtureModel::AddMissed(Change& change, Rng& rng, Rng& subset_rng) const {
  if (!(mixture_.missed_variance > 0.0)) return;
  const double place = rng.Uniform();
  const double part =
      bags_.empty() ? std::clamp(2.0 * (1.0 - mixture_.r2), 0.0, 1.0) : 1.0;
  const double more = place * part * mixture_.missed_variance;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    // As far as a forest knows whose they are.
    change.rest_total[i] +=
        more * (change_.rest > 0.0 ? change_.rest_total[i] / change_.rest
                                   : rng.Uniform());
  }
  change.rest += more;
  AddMissedToSets(more, change, subset_rng);
}

// Whose the effects are that nothing predicts is known as far as a forest
// knows it; that level effects sought one and found none is known too.
void MixtureModel::AddMissedToSets(double more, Change& change,
                                   Rng& rng) const {
  const double part = rng.Uniform();  // one, however many sets there are
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].size() < 2) continue;
    change.rest_groups[g] +=
        more *
        (change_.rest > 0.0 ? change_.rest_groups[g] / change_.rest : part);
  }
  for (std::size_t s = 0; s < asked_.size(); ++s) {
    if (asked_[s].axes.size() < 3) continue;
    const auto share = [&](double of_forest) {
      if (!(change_.rest > 0.0)) return part;
      return std::clamp(of_forest / change_.rest, 0.0, 1.0);
    };
    change.subsets[s].together += more * share(change_.subsets[s].together);
    if (asked_[s].is_sought && !(change_.rest > 0.0)) continue;
    change.subsets[s].beyond += more * share(change_.subsets[s].beyond);
  }
}

std::vector<MixtureShares> MixtureModel::Draw(
    int count, std::uint64_t seed, const std::stop_token& stop) const {
  std::vector<MixtureShares> drawn;
  Rng rng(seed, kDrawStream);
  // A stream of its own, so what is asked for changes no other number.
  Rng subset_rng(seed, kSubsetDrawStream);
  for (const EffectShares& one :
       DrawShares(model_, mixture_.levels_r2, count, seed, stop)) {
    if (stop.stop_requested()) break;
    Change change = bags_.empty() ? change_ : DrawChange(rng);
    AddMissed(change, rng, subset_rng);
    drawn.push_back(Combine(one, change));
  }
  return drawn;
}

}  // namespace frostline::importance

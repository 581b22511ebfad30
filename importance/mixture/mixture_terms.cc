// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture_terms.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/rng.h"
#include "importance/measure/numbers.h"

namespace frostline::importance {

MixtureTerms::MixtureTerms(const LevelEffects& model,
                           const std::vector<FineAxis>& axes,
                           const Mixture& mixture, const NamedSubsets& subsets)
    : model_(model),
      axes_(axes),
      mixture_(mixture),
      levels_weight_(1.0 - mixture.forest_weight) {
  tables_.reserve(model_.terms().size());
  for (std::size_t t = 0; t < model_.terms().size(); ++t) {
    tables_.push_back(model_.Table(t));
    if (model_.terms()[t].size() > 2) higher_terms_.push_back(t);
  }
  if (!mixture_.trees.empty()) {
    forest_ = FindTreeEffects(axes_, mixture_.trees, PairsOfForest(subsets));
  }
  FindPairs();
}

// Pairs of level effects are always among them, since the sum of both is
// squared, and pairs within asked sets, since these are told exactly.
std::vector<AxisPair> MixtureTerms::PairsOfForest(
    const NamedSubsets& subsets) const {
  std::vector<AxisPair> always;
  for (const EffectTerm& term : model_.terms()) {
    if (term.size() == 2) always.emplace_back(term[0], term[1]);
  }
  for (std::vector<int> subset : subsets) {
    std::sort(subset.begin(), subset.end());
    for (std::size_t a = 0; a < subset.size(); ++a) {
      for (std::size_t b = a + 1; b < subset.size(); ++b) {
        always.emplace_back(subset[a], subset[b]);
      }
    }
  }
  return ChoosePairs(FindSplitGains(axes_, mixture_.trees), always);
}

void MixtureTerms::FindPairs() {
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

std::vector<double> MixtureTerms::Curve(std::size_t axis) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  std::vector<double> curve(fine.size(), 0.0);
  for (std::size_t k = 0; k < fine.size(); ++k) {
    curve[k] += LevelIn(t, fine.effect_cell[k]);
    if (!forest_.main.empty()) {
      curve[k] += mixture_.forest_weight * forest_.main[axis][k];
    }
  }
  return curve;
}

double MixtureTerms::Predict(const FinePoint& point, double mean_target) const {
  double predicted = levels_weight_ * mean_target;
  for (std::size_t t = 0; t < tables_.size(); ++t) {
    predicted += LevelsAt(t, point);
  }
  if (mixture_.trees.empty()) return predicted;
  return predicted +
         mixture_.forest_weight * PredictAt(axes_, mixture_.trees, point);
}

double MixtureTerms::LevelsAt(std::size_t term, const FinePoint& point) const {
  std::size_t cell = 0;
  for (const std::size_t axis : model_.terms()[term]) {
    cell = cell * model_.axes()[axis].cells() +
           axes_[axis].effect_cell[point[axis]];
  }
  return LevelIn(term, cell);
}

double MixtureTerms::LevelsRest(const FinePoint& point) const {
  double rest = 0.0;
  for (const std::size_t t : higher_terms_) rest += LevelsAt(t, point);
  return rest;
}

double MixtureTerms::MainChange(std::size_t axis,
                                const std::vector<double>& forest) const {
  const FineAxis& fine = axes_[axis];
  const std::size_t t = term_of_axis_[axis];
  double change = 0.0;
  for (std::size_t k = 0; k < fine.size(); ++k) {
    const double level = LevelIn(t, fine.effect_cell[k]);
    const double both = level + mixture_.forest_weight * forest[k];
    change += fine.masses[k] * (both * both - level * level);
  }
  return change;
}

double MixtureTerms::PairChange(std::size_t pair) const {
  const auto found = forest_.pairs.find(pairs_[pair]);
  if (found == forest_.pairs.end()) return 0.0;
  const FineAxis& first = axes_[pairs_[pair].first];
  const FineAxis& second = axes_[pairs_[pair].second];
  const std::size_t t = term_of_pair_[pair];
  const std::size_t width = model_.axes()[pairs_[pair].second].cells();
  double change = 0.0;
  for (std::size_t x = 0; x < first.size(); ++x) {
    for (std::size_t y = 0; y < second.size(); ++y) {
      const double level =
          LevelIn(t, first.effect_cell[x] * width + second.effect_cell[y]);
      const double both =
          level + mixture_.forest_weight * found->second[x * second.size() + y];
      change +=
          first.masses[x] * second.masses[y] * (both * both - level * level);
    }
  }
  return change;
}

namespace {

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

MixtureTerms::Rest MixtureTerms::RestAt(const FinePoint& point) const {
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

MixtureTerms::MovedRests MixtureTerms::RestsAround(
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

namespace {

constexpr int kRestPoints = 512;
constexpr std::size_t kChangedTreesPerBag = 4;
// Streams of the seed; the forest has those from 0. All subsets have one, so
// the answer to one does not depend on which others are asked for.
constexpr std::uint64_t kPointStream = std::uint64_t{3} << 32;
constexpr std::uint64_t kSubsetStream = std::uint64_t{5} << 32;

// Adds the rest at this pair of points, by the formulas of the header.
void AddRestsOf(const MixtureTerms& terms,
                const std::vector<std::vector<int>>& groups,
                const FinePoint& point, const FinePoint& other,
                ForestChange& change) {
  const MixtureTerms::MovedRests rests = terms.RestsAround(point, other);
  const MixtureTerms::Rest& here = rests.unmoved;
  const auto product = [&here](const MixtureTerms::Rest& there) {
    return (here.both * there.both - here.levels * there.levels) / kRestPoints;
  };
  change.rest += product(here);
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (other[i] == point[i]) continue;
    const MixtureTerms::Rest& there = rests.moved[i];
    const double both = here.both - there.both;
    const double levels = here.levels - there.levels;
    change.rest_total[i] += 0.5 * (both * both - levels * levels) / kRestPoints;
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    FinePoint shared = other;
    for (const int i : groups[g]) {
      shared[static_cast<std::size_t>(i)] = point[static_cast<std::size_t>(i)];
    }
    change.rest_groups[g] += product(terms.RestAt(shared));
  }
}

void FindRests(const MixtureTerms& terms,
               const std::vector<std::vector<int>>& groups, std::uint64_t seed,
               const std::stop_token& stop, ForestChange& change) {
  Rng rng(seed, kPointStream);
  for (int n = 0; n < kRestPoints && !stop.stop_requested(); ++n) {
    FinePoint point, other;
    point.reserve(terms.axes().size());
    other.reserve(terms.axes().size());
    for (const FineAxis& axis : terms.axes()) {
      point.push_back(DrawCode(axis, rng));
      other.push_back(DrawCode(axis, rng));
    }
    AddRestsOf(terms, groups, point, other, change);
  }
}

// Returns what the forest changes in terms of three and more axes, all of them
// within the subset.
SubsetVariance SubsetChange(const MixtureTerms& terms,
                            const SubsetTerms& subset, std::uint64_t seed) {
  SubsetVariance change;
  if (subset.axes.size() < 3) return change;
  Rng rng(seed, kSubsetStream);
  const SubsetPoints points = MakeSubsetPoints(terms.axes(), subset.axes, rng);
  const SubsetRest forest =
      FindSubsetRest(terms.axes(), terms.trees(), subset.axes, points);
  FinePoint point(terms.axes().size(), 0);
  for (std::size_t n = 0; n < points.masses.size(); ++n) {
    for (std::size_t s = 0; s < subset.axes.size(); ++s) {
      point[subset.axes[s]] = points.codes[s][n];
    }
    double within = 0.0;  // of level effects
    double own = 0.0;
    for (const std::size_t t : subset.terms) {
      const double level = terms.LevelsAt(t, point);
      within += level;
      if (terms.model().terms()[t] == subset.axes) own += level;
    }
    const double weight = terms.forest_weight();
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

}  // namespace

ForestChange FindForestChange(const MixtureTerms& terms,
                              const std::vector<std::vector<int>>& groups,
                              const std::vector<SubsetTerms>& subsets,
                              std::uint64_t seed, int threads,
                              const std::stop_token& stop) {
  ForestChange change;
  change.main.assign(terms.axes().size(), 0.0);
  change.pairs.assign(terms.pairs().size(), 0.0);
  change.rest_total.assign(terms.axes().size(), 0.0);
  change.rest_groups.assign(groups.size(), 0.0);
  change.subsets.resize(subsets.size());
  if (terms.trees().empty()) return change;
  for (std::size_t i = 0; i < change.main.size(); ++i) {
    change.main[i] = terms.MainChange(i);
  }
  for (std::size_t p = 0; p < change.pairs.size(); ++p) {
    change.pairs[p] = terms.PairChange(p);
  }
  FindRests(terms, groups, seed, stop, change);
  if (stop.stop_requested()) return change;
  ParallelFor(threads, subsets.size(), [&](std::size_t s) {
    change.subsets[s] = SubsetChange(terms, subsets[s], seed);
  });
  return change;
}

std::vector<std::vector<double>> FindBagChanges(const MixtureTerms& terms,
                                                const std::stop_token& stop) {
  std::vector<std::vector<double>> bags;
  const std::size_t axes = terms.axes().size();
  for (std::size_t t = 0; t + kChangedTreesPerBag <= terms.trees().size();
       t += kChangedTreesPerBag) {
    if (stop.stop_requested()) return bags;
    const TreeEffects bag = FindTreeEffects(
        terms.axes(), terms.trees().subspan(t, kChangedTreesPerBag), {});
    std::vector<double>& main = bags.emplace_back();
    main.reserve(axes);
    for (std::size_t i = 0; i < axes; ++i) {
      main.push_back(terms.MainChange(i, bag.main[i]));
    }
  }
  for (std::size_t i = 0; i < axes; ++i) {
    double mean = 0.0;
    for (const auto& bag : bags) {
      mean += bag[i] / static_cast<double>(bags.size());
    }
    for (auto& bag : bags) bag[i] -= mean;
  }
  return bags;
}

}  // namespace frostline::importance

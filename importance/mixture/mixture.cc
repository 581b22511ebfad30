// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/forest/forest.h"
#include "importance/measure/numbers.h"

namespace frostline::importance {
namespace {

// This many trees are grown first. More are grown only if these promise a
// weight of so many deviations.
constexpr int kPilotTrees = 16;
constexpr double kPromising = 2.0;
// A forest clearly helps if its weight has this many deviations and this value.
// On additive truths the weight is up to .2 and up to 2.5 deviations by chance,
// on cliffs .7 to 1 and 9 or more.
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

// Predictions of each row by the trees that have not seen it.
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

// Returns the weight by least squares: of what level effects miss, on what the
// forest would change.
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

// Returns the forest's part of what is predicted, by the products of both
// models' predictions with the targets.
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

}  // namespace frostline::importance

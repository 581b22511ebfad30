// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/importance/adaptive_forests.h"

#include <algorithm>

#include "importance/forest/fanova.h"
#include "importance/forest/forest.h"

namespace frostline::bench {
namespace {

constexpr int kTrees = 64;
constexpr double kAdded = 0.5;  // trials to every level
constexpr double kMostByMedian = 10.0;

// Rows of `among`, as many as there are of them, by their weights.
importance::RowWeights DrawWeighted(const std::vector<std::uint32_t>& among,
                                    const std::vector<double>& weights,
                                    std::size_t rows, Rng& rng) {
  std::vector<double> up_to;
  up_to.reserve(among.size());
  double sum = 0.0;
  for (const std::uint32_t row : among) up_to.push_back(sum += weights[row]);
  importance::RowWeights drawn(rows, 0);
  for (std::size_t i = 0; i < among.size(); ++i) {
    const auto found =
        std::upper_bound(up_to.begin(), up_to.end(), rng.Uniform() * sum);
    const auto at = std::min(static_cast<std::size_t>(found - up_to.begin()),
                             among.size() - 1);
    ++drawn[among[at]];
  }
  return drawn;
}

// Leaves take the weighted mean of these rows; one that none of them reaches
// that of the nearest node above it which some do.
void FillLeaves(const importance::Dataset& data,
                const std::vector<std::uint32_t>& rows,
                const std::vector<double>& weights, importance::Tree& tree) {
  std::vector<double> sums(tree.nodes.size(), 0.0);
  std::vector<double> counts(tree.nodes.size(), 0.0);
  for (const std::uint32_t row : rows) {
    std::size_t at = 0;
    while (true) {
      sums[at] += weights[row] * data.targets[row];
      counts[at] += weights[row];
      const importance::TreeNode& node = tree.nodes[at];
      if (node.axis < 0) break;
      const double code = data.codes[static_cast<std::size_t>(node.axis)][row];
      at = static_cast<std::size_t>(code <= node.threshold ? node.left
                                                           : node.right);
    }
  }
  std::vector<double> means(tree.nodes.size(), 0.0);
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (counts[i] > 0.0) means[i] = sums[i] / counts[i];
    importance::TreeNode& node = tree.nodes[i];
    node.value = means[i];
    if (node.axis < 0) continue;
    means[static_cast<std::size_t>(node.left)] = means[i];
    means[static_cast<std::size_t>(node.right)] = means[i];
  }
}

}  // namespace

importance::Dataset DatasetOf(const Space& space, const History& history) {
  std::vector<const Point*> points;
  std::vector<double> losses;
  for (const Observation& trial : history.trials()) {
    points.push_back(&trial.point);
    losses.push_back(-trial.values[0]);
  }
  return importance::MakeDataset(importance::MeasureSpace(space), points,
                                 losses);
}

std::vector<double> SamplingWeights(const importance::Dataset& data) {
  std::vector<double> weights(data.rows(), 1.0);
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    const std::vector<double> levels = data.axes[i].CountableCodes();
    std::vector<double> tried(levels.size(), kAdded);
    for (const double code : data.codes[i]) {
      tried[static_cast<std::size_t>(code)] += 1.0;
    }
    for (std::size_t row = 0; row < data.rows(); ++row) {
      weights[row] /= tried[static_cast<std::size_t>(data.codes[i][row])];
    }
  }
  std::vector<double> sorted = weights;
  std::sort(sorted.begin(), sorted.end());
  const double most = kMostByMedian * sorted[sorted.size() / 2];
  double sum = 0.0;
  for (double& weight : weights) sum += weight = std::min(weight, most);
  for (double& weight : weights) {
    weight *= static_cast<double>(data.rows()) / sum;
  }
  return weights;
}

double EffectiveTrials(const std::vector<double>& weights) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double weight : weights) {
    sum += weight;
    squares += weight * weight;
  }
  return sum * sum / squares;
}

std::vector<double> ForestMain(const importance::Dataset& data,
                               const ForestKind& kind, std::uint64_t seed) {
  const std::vector<double> weights =
      kind.weighted ? SamplingWeights(data)
                    : std::vector<double>(data.rows(), 1.0);
  std::vector<importance::Tree> trees;
  for (int t = 0; t < kTrees; ++t) {
    Rng rng(seed, static_cast<std::uint64_t>(t));
    std::vector<std::uint32_t> splitting, filling;
    for (std::uint32_t row = 0; row < data.rows(); ++row) {
      const bool fills = kind.honest && rng.Uniform() < 0.5;
      (fills ? filling : splitting).push_back(row);
    }
    // Without weights as FitForest draws them.
    const importance::RowWeights drawn =
        kind.weighted || kind.honest
            ? DrawWeighted(splitting, weights, data.rows(), rng)
            : importance::DrawRows(importance::RowWeights(data.rows(), 1), rng);
    trees.push_back(importance::FitTree(data, data.targets, drawn, rng));
    if (kind.honest) FillLeaves(data, filling, weights, trees.back());
  }
  return importance::ForestMainShares(trees, data.axes);
}

}  // namespace frostline::bench

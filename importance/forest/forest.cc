// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "importance/measure/parallel.h"

namespace frostline::importance {
namespace {

constexpr double kNoTree = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kTreeBlock = 256;  // rows that one thread takes at a time

}  // namespace

RowWeights DrawRows(const RowWeights& among, Rng& rng) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < among.size(); ++row) {
    rows.insert(rows.end(), among[row], row);
  }
  RowWeights drawn(among.size(), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ++drawn[rows[static_cast<std::size_t>(rng.Below(rows.size()))]];
  }
  return drawn;
}

Forest FitForest(const Dataset& data, const std::vector<double>& targets,
                 const RowWeights& among, int trees, std::uint64_t seed,
                 std::uint64_t stream, int threads,
                 const std::stop_token& stop) {
  Forest forest;
  forest.trees.resize(static_cast<std::size_t>(trees));
  forest.drawn.resize(forest.trees.size());
  ParallelFor(threads, forest.trees.size(), [&](std::size_t t) {
    Rng rng(seed, stream + t);
    forest.drawn[t] = DrawRows(among, rng);
    forest.trees[t] = FitTree(data, targets, forest.drawn[t], rng, stop);
  });
  return forest;
}

double OutOfBagR2(const Dataset& data, const Forest& forest, int threads) {
  // NaN: every tree has seen the row.
  std::vector<double> predictions(data.rows(), kNoTree);
  const std::size_t blocks = (data.rows() + kTreeBlock - 1) / kTreeBlock;
  ParallelFor(threads, blocks, [&](std::size_t block) {
    const std::size_t end = std::min(data.rows(), (block + 1) * kTreeBlock);
    for (std::size_t row = block * kTreeBlock; row < end; ++row) {
      double prediction = 0.0, trees = 0.0;
      for (std::size_t t = 0; t < forest.trees.size(); ++t) {
        if (forest.drawn[t][row] > 0) continue;
        prediction += forest.trees[t].Predict(data, row);
        trees += 1.0;
      }
      if (trees > 0.0) predictions[row] = prediction / trees;
    }
  });
  double rows = 0.0, sum = 0.0, squares = 0.0, errors = 0.0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    if (std::isnan(predictions[row])) continue;
    const double target = data.targets[row];
    const double error = target - predictions[row];
    rows += 1.0;
    sum += target;
    squares += target * target;
    errors += error * error;
  }
  const double spread = rows > 0.0 ? squares - sum * sum / rows : 0.0;
  return spread > 0.0 ? 1.0 - errors / spread : kNoTree;
}

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include "importance/forest/forest.h"

#include <limits>

namespace frostline {

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
                 std::uint64_t stream) {
  Forest forest;
  for (int t = 0; t < trees; ++t) {
    Rng rng(seed, stream + static_cast<std::uint64_t>(t));
    forest.drawn.push_back(DrawRows(among, rng));
    forest.trees.push_back(FitTree(data, targets, forest.drawn.back(), rng));
  }
  return forest;
}

double OutOfBagR2(const Dataset& data, const Forest& forest) {
  double rows = 0.0, sum = 0.0, squares = 0.0, errors = 0.0;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    double prediction = 0.0;
    double trees = 0.0;
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
      if (forest.drawn[t][row] > 0) continue;
      prediction += forest.trees[t].Predict(data, row);
      trees += 1.0;
    }
    if (trees == 0.0) continue;
    const double target = data.targets[row];
    const double error = target - prediction / trees;
    rows += 1.0;
    sum += target;
    squares += target * target;
    errors += error * error;
  }
  const double spread = rows > 0.0 ? squares - sum * sum / rows : 0.0;
  return spread > 0.0 ? 1.0 - errors / spread
                      : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_truth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/bench/tables/main_effects_fit.h"

namespace frostline {
namespace {

double LevelsOf(const RecordedTable& table, std::size_t axis) {
  return CountValues(table.space.parameters()[axis].domain);
}

double MeanOf(const RecordedTable& table) {
  double mean = 0.0;
  for (const RecordedCell& cell : table.cells) {
    mean += cell.Mean() / static_cast<double>(table.cells.size());
  }
  return mean;
}

// Variance of what is expected of a point when only `axes` of it are known.
double VarianceKnowing(const RecordedTable& table,
                       const std::vector<std::size_t>& axes) {
  std::map<std::vector<double>, std::pair<double, double>> groups;
  for (const RecordedCell& cell : table.cells) {
    std::vector<double> key;
    for (const std::size_t axis : axes) key.push_back(cell.point[axis]);
    groups[key].first += cell.Mean();
    groups[key].second += 1.0;
  }
  const double mean = MeanOf(table);
  double variance = 0.0;
  for (const auto& [key, sum] : groups) {
    const double off = sum.first / sum.second - mean;
    variance += off * off / static_cast<double>(groups.size());
  }
  return variance;
}

// Exact, less what the noise of the means is expected to add to each term.
void FindShares(const RecordedTable& table, TableTruth& truth) {
  const std::size_t axes = table.space.parameters().size();
  const auto cells = static_cast<double>(table.cells.size());
  const double noise = truth.noise.variance_of_mean / cells;
  std::vector<std::size_t> all(axes);
  std::iota(all.begin(), all.end(), std::size_t{0});
  truth.variance = VarianceKnowing(table, all) - noise * (cells - 1.0);
  std::vector<double> raw(axes);
  double explained = 0.0;
  for (std::size_t i = 0; i < axes; ++i) {
    raw[i] = VarianceKnowing(table, {i});
    const double main = raw[i] - noise * (LevelsOf(table, i) - 1.0);
    truth.main.push_back(std::max(0.0, main) / truth.variance);
    explained += truth.main.back();
  }
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t j = i + 1; j < axes; ++j) {
      const double both =
          VarianceKnowing(table, {i, j}) - raw[i] - raw[j] -
          noise * (LevelsOf(table, i) - 1.0) * (LevelsOf(table, j) - 1.0);
      truth.pairs.push_back({i, j, std::max(0.0, both) / truth.variance});
      explained += truth.pairs.back().share;
    }
  }
  std::ranges::sort(truth.pairs, std::greater<>(), &TablePair::share);
  truth.main_errors.assign(axes, 0.0);
  truth.rest = std::max(0.0, 1.0 - explained);
}

}  // namespace

TableTruth TruthOf(const RecordedTable& table) {
  TableTruth truth;
  truth.noise = NoiseOf(table);
  truth.complete = table.IsComplete();
  for (const RecordedCell& cell : table.cells) {
    if (cell.Succeeded() == 0) continue;
    if (truth.best == nullptr ||
        table.Score(cell.Mean()) > table.Score(truth.best->Mean())) {
      truth.best = &cell;
    }
  }
  if (truth.complete) {
    FindShares(table, truth);
  } else {
    const FittedMain fitted =
        FitMainEffects(table, truth.noise.variance_of_mean);
    truth.main = fitted.shares;
    truth.main_errors = fitted.errors;
    truth.variance = fitted.variance;
  }
  return truth;
}

}  // namespace frostline

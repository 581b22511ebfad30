// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_truth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/plain/statistics.h"
#include "base/rng.h"
#include "tests/bench/tables/main_effects_fit.h"

namespace frostline::bench {
namespace {

constexpr int kTruthDraws = 100;

double LevelsOf(const RecordedTable& table, std::size_t axis) {
  return CountValues(table.space.parameters()[axis].domain);
}

using Means = std::vector<double>;  // by cell

Means MeansOf(const RecordedTable& table) {
  Means means;
  for (const RecordedCell& cell : table.cells) means.push_back(cell.Mean());
  return means;
}

// Variance of what is expected of a point when only `axes` of it are known.
double VarianceKnowing(const RecordedTable& table, const Means& means,
                       const std::vector<std::size_t>& axes) {
  std::map<std::vector<double>, std::pair<double, double>> groups;
  double mean = 0.0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    std::vector<double> key;
    for (const std::size_t axis : axes) {
      key.push_back(table.cells[i].point[axis]);
    }
    groups[key].first += means[i];
    groups[key].second += 1.0;
    mean += means[i] / static_cast<double>(means.size());
  }
  double variance = 0.0;
  for (const auto& [key, sum] : groups) {
    const double off = sum.first / sum.second - mean;
    variance += off * off / static_cast<double>(groups.size());
  }
  return variance;
}

// How far the shares of main effects would be off if the seeds were others: the
// noise of the means is drawn upon them once more.
std::vector<double> ErrorsOfMain(const RecordedTable& table,
                                 const TableTruth& truth) {
  const std::size_t axes = table.space.parameters().size();
  std::vector<std::vector<double>> shares(axes);
  for (int draw = 0; draw < kTruthDraws; ++draw) {
    Rng rng(14, static_cast<std::uint64_t>(draw));
    Means means = MeansOf(table);
    for (double& mean : means) {
      mean += std::sqrt(truth.noise.variance_of_mean) * rng.Normal();
    }
    for (std::size_t i = 0; i < axes; ++i) {
      shares[i].push_back(VarianceKnowing(table, means, {i}) / truth.variance);
    }
  }
  std::vector<double> errors;
  for (const std::vector<double>& one : shares) {
    errors.push_back((Quantile(one, 0.84) - Quantile(one, 0.16)) / 2.0);
  }
  return errors;
}

// Exact, less what the noise of the means is expected to add to each term.
void FindShares(const RecordedTable& table, TableTruth& truth) {
  const std::size_t axes = table.space.parameters().size();
  const auto cells = static_cast<double>(table.cells.size());
  const double noise = truth.noise.variance_of_mean / cells;
  std::vector<std::size_t> all(axes);
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Means means = MeansOf(table);
  truth.variance = VarianceKnowing(table, means, all) - noise * (cells - 1.0);
  std::vector<double> raw(axes);
  double explained = 0.0;
  for (std::size_t i = 0; i < axes; ++i) {
    raw[i] = VarianceKnowing(table, means, {i});
    const double main = raw[i] - noise * (LevelsOf(table, i) - 1.0);
    truth.main.push_back(std::max(0.0, main) / truth.variance);
    explained += truth.main.back();
  }
  for (std::size_t i = 0; i < axes; ++i) {
    for (std::size_t j = i + 1; j < axes; ++j) {
      const double both =
          VarianceKnowing(table, means, {i, j}) - raw[i] - raw[j] -
          noise * (LevelsOf(table, i) - 1.0) * (LevelsOf(table, j) - 1.0);
      truth.pairs.push_back({i, j, std::max(0.0, both) / truth.variance});
      explained += truth.pairs.back().share;
    }
  }
  std::ranges::sort(truth.pairs, std::greater<>(), &TablePair::share);
  truth.main_errors = ErrorsOfMain(table, truth);
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

}  // namespace frostline::bench

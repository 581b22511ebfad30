// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <map>

#include "base/plain/statistics.h"
#include "tests/bench/tables/table_truth.h"

namespace frostline::bench {
namespace {

constexpr double kMedianCounts = 4.0;  // as so many runs of the cell

double NoiseVarianceOf(const std::vector<double>& values) {
  double mean = 0.0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  double sum = 0.0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// What each seed adds in the mean of all cells that were run with it.
std::map<std::int64_t, double> SeedEffects(const RecordedTable& table) {
  std::map<std::int64_t, double> sums;
  std::map<std::int64_t, int> counts;
  for (const RecordedCell& cell : table.cells) {
    for (const RecordedRun& run : cell.runs) {
      if (!run.succeeded) continue;
      sums[run.seed] += run.value - cell.Mean();
      ++counts[run.seed];
    }
  }
  for (auto& [seed, sum] : sums) sum /= counts[seed];
  return sums;
}

}  // namespace

TableNoise NoiseOf(const RecordedTable& table) {
  std::map<std::int64_t, double> effects = SeedEffects(table);
  TableNoise noise;
  std::vector<double> deviations;
  double all = 0.0;
  double of_means = 0.0;
  for (const RecordedCell& cell : table.cells) {
    std::vector<double> values;
    std::vector<double> without_seed;
    for (const RecordedRun& run : cell.runs) {
      if (!run.succeeded) continue;
      values.push_back(run.value);
      without_seed.push_back(run.value - effects[run.seed]);
    }
    if (values.size() < 2) continue;
    const double variance = NoiseVarianceOf(values);
    deviations.push_back(std::sqrt(variance));
    all += variance;
    of_means +=
        NoiseVarianceOf(without_seed) / static_cast<double>(values.size());
  }
  if (deviations.empty()) return noise;
  const auto count = static_cast<double>(deviations.size());
  noise.deviation = std::sqrt(all / count);
  noise.median_deviation = Quantile(deviations, 0.5);
  noise.variance_of_mean = of_means / count;
  return noise;
}

double DeviationOfRun(const RecordedCell& cell, const TableNoise& noise) {
  double sum = kMedianCounts * noise.median_deviation * noise.median_deviation;
  double weight = kMedianCounts - 1.0;
  const double mean = cell.Mean();
  for (const RecordedRun& run : cell.runs) {
    if (!run.succeeded) continue;
    sum += (run.value - mean) * (run.value - mean);
    weight += 1.0;
  }
  return std::sqrt(sum / weight);
}

}  // namespace frostline::bench

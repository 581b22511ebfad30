// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/table_truth.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "base/plain/statistics.h"
#include "base/rng.h"

namespace frostline::bench {
namespace {

constexpr int kRounds = 30;  // of fitting one axis after the other
constexpr int kDraws = 200;

using Cells = std::vector<const RecordedCell*>;

struct Effect {
  std::vector<double> of_level;
  std::vector<double> count;  // cells that have it
};

struct Fit {
  std::vector<Effect> effects;
  std::vector<double> left;  // residuals, by cell
  double variance = 0.0;     // of the cells' means
};

std::size_t LevelOf(const RecordedCell& cell, std::size_t axis) {
  return static_cast<std::size_t>(cell.point[axis]);
}

// One axis against what the others leave; its levels' mean is 0 over levels.
void FitAxis(const Cells& cells, std::size_t axis, Fit& fit) {
  Effect& effect = fit.effects[axis];
  std::vector<double> change(effect.of_level.size(), 0.0);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::size_t level = LevelOf(*cells[i], axis);
    change[level] += fit.left[i] / effect.count[level];
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    fit.left[i] -= change[LevelOf(*cells[i], axis)];
  }
  for (std::size_t k = 0; k < change.size(); ++k) {
    effect.of_level[k] += change[k];
  }
}

Fit FitTo(const RecordedTable& table, const Cells& cells) {
  Fit fit;
  const auto count = static_cast<double>(cells.size());
  double mean = 0.0;
  for (const RecordedCell* cell : cells) mean += cell->Mean() / count;
  for (const RecordedCell* cell : cells) {
    fit.left.push_back(cell->Mean() - mean);
    fit.variance += fit.left.back() * fit.left.back() / (count - 1.0);
  }
  for (const Parameter& parameter : table.space.parameters()) {
    const auto levels = static_cast<std::size_t>(CountValues(parameter.domain));
    fit.effects.push_back(
        {std::vector<double>(levels, 0.0), std::vector<double>(levels, 0.0)});
  }
  for (std::size_t axis = 0; axis < fit.effects.size(); ++axis) {
    for (const RecordedCell* cell : cells) {
      fit.effects[axis].count[LevelOf(*cell, axis)] += 1.0;
    }
  }
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t axis = 0; axis < fit.effects.size(); ++axis) {
      FitAxis(cells, axis, fit);
    }
  }
  return fit;
}

// Variance of the levels' effects, less what chance adds to it.
double VarianceOf(const Effect& effect, double left) {
  double mean = 0.0;
  double seen = 0.0;
  for (std::size_t k = 0; k < effect.count.size(); ++k) {
    if (effect.count[k] == 0.0) continue;
    mean += effect.of_level[k];
    seen += 1.0;
  }
  mean /= seen;
  double variance = 0.0;
  for (std::size_t k = 0; k < effect.count.size(); ++k) {
    if (effect.count[k] == 0.0) continue;
    const double off = effect.of_level[k] - mean;
    variance +=
        (off * off - left / effect.count[k] * (seen - 1.0) / seen) / seen;
  }
  return std::max(0.0, variance);
}

std::vector<double> SharesOf(const Fit& fit, double noise) {
  double left = 0.0;
  double parameters = 1.0;
  for (const Effect& effect : fit.effects) {
    parameters += static_cast<double>(effect.of_level.size()) - 1.0;
  }
  const auto count = static_cast<double>(fit.left.size());
  for (const double each : fit.left) {
    left += each * each / std::max(1.0, count - parameters);
  }
  const double variance = std::max(fit.variance - noise, 1e-300);
  std::vector<double> shares;
  for (const Effect& effect : fit.effects) {
    shares.push_back(VarianceOf(effect, left) / variance);
  }
  return shares;
}

}  // namespace

FittedMain FitMainEffects(const RecordedTable& table, double noise) {
  Cells cells;
  for (const RecordedCell& cell : table.cells) {
    if (cell.Succeeded() > 0) cells.push_back(&cell);
  }
  const Fit fit = FitTo(table, cells);
  FittedMain out{SharesOf(fit, noise), {}, fit.variance - noise};
  std::vector<double> sums(out.shares.size(), 0.0);
  std::vector<double> squares = sums;
  for (int draw = 0; draw < kDraws; ++draw) {
    Rng rng(14, static_cast<std::uint64_t>(draw));
    Cells drawn;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      drawn.push_back(cells[rng.Below(cells.size())]);
    }
    const std::vector<double> shares = SharesOf(FitTo(table, drawn), noise);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      sums[i] += shares[i] / kDraws;
      squares[i] += shares[i] * shares[i] / kDraws;
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out.errors.push_back(
        std::sqrt(std::max(0.0, squares[i] - sums[i] * sums[i])));
  }
  return out;
}

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

// What is expected of each cell when only the axes of `mask` are known.
Means MeansKnowing(const RecordedTable& table, const Means& means,
                   std::size_t mask) {
  std::map<std::vector<double>, std::pair<double, double>> groups;
  std::vector<std::vector<double>> keys(means.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    for (std::size_t axis = 0; axis < table.cells[i].point.size(); ++axis) {
      if ((mask >> axis & 1) != 0)
        keys[i].push_back(table.cells[i].point[axis]);
    }
    groups[keys[i]].first += means[i];
    groups[keys[i]].second += 1.0;
  }
  Means known;
  known.reserve(means.size());
  for (const auto& key : keys) {
    known.push_back(groups[key].first / groups[key].second);
  }
  return known;
}

}  // namespace

std::vector<double> SteadyScores(const RecordedTable& table, double noise) {
  const std::size_t axes = table.space.parameters().size();
  const std::size_t cells = table.cells.size();
  Means scores;
  for (const RecordedCell& cell : table.cells) {
    scores.push_back(table.Score(cell.Mean()));
  }
  // By mask of axes: first what is known, then the term alone.
  std::vector<Means> terms;
  for (std::size_t mask = 0; mask < std::size_t{1} << axes; ++mask) {
    terms.push_back(MeansKnowing(table, scores, mask));
    for (std::size_t less = 0; less < mask; ++less) {
      if ((less & mask) != less) continue;
      for (std::size_t i = 0; i < cells; ++i) terms[mask][i] -= terms[less][i];
    }
  }
  std::vector<double> energy(axes + 1, 0.0), added(axes + 1, 0.0);  // by order
  for (std::size_t mask = 1; mask < terms.size(); ++mask) {
    double freedom = 1.0;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      if ((mask >> axis & 1) != 0) freedom *= LevelsOf(table, axis) - 1.0;
    }
    const auto order = static_cast<std::size_t>(std::popcount(mask));
    added[order] += noise * freedom;
    for (const double part : terms[mask]) energy[order] += part * part;
  }
  std::vector<double> steady = terms[0];
  for (std::size_t mask = 1; mask < terms.size(); ++mask) {
    const auto order = static_cast<std::size_t>(std::popcount(mask));
    const double kept = std::max(0.0, 1.0 - added[order] / energy[order]);
    for (std::size_t i = 0; i < cells; ++i) steady[i] += kept * terms[mask][i];
  }
  return steady;
}

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
    truth.steady = SteadyScores(table, truth.noise.variance_of_mean);
    truth.best_steady = *std::ranges::max_element(truth.steady);
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

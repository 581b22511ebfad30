// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/tables/main_effects_fit.h"

#include <algorithm>
#include <cmath>

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

}  // namespace frostline::bench

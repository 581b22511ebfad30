// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe_model.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace frostline {
namespace {

// The variance of a uniform variable, in squared boxes.
constexpr double kUniformVariance = 1.0 / 12.0;
// Widths: of good kernels in spreads, of bad ones in boxes; none is narrower
// than this many steps of an exact axis, or this share of the box.
constexpr double kGoodWidth = 0.8;
constexpr double kRestWidth = 0.1;
constexpr double kLeastSteps = 0.4;
constexpr double kLeastShare = 0.01;
// In trials: what the priors count, and which share of each density takes the
// parameters one by one.
constexpr CellDensity::Settings kGoodSettings = {.prior_weight = 0.5,
                                                 .separate_share = 0.5};
constexpr CellDensity::Settings kRestSettings = {.prior_weight = 0.5,
                                                 .separate_share = 0.35};
// Failures say nothing where there are none.
constexpr CellDensity::Settings kFailedSettings = {.prior_weight = 0.1,
                                                   .separate_share = 0.35};
constexpr double kLeastChance = 0.02;
constexpr double kGoodRoots = 0.4;  // good trials by the root of all
constexpr std::size_t kLeastGood = 2, kMostGood = 25;
constexpr std::array kFrozenSteps = {0.5, 1.0, 2.0, 4.0, 8.0};

double LeastWidth(const CellAxis& axis) {
  return axis.exact() ? kLeastSteps * axis.step() : kLeastShare;
}

// The spread of the good trials' values counts them and one uniform draw.
double GoodWidth(const CellAxis& axis, std::size_t a,
                 const std::vector<WeightedCells>& good) {
  double sum = 0.0, mean = 0.0, square = 0.0, count = 0.0;
  for (const WeightedCells& trial : good) {
    const Cell cell = trial.cells[a];
    if (cell == kNoCell || (axis.frozen() && !axis.exact() && cell == 0)) {
      continue;
    }
    const double place = axis.place(cell);
    sum += trial.weight;
    mean += trial.weight * place;
    square += trial.weight * place * place;
    count += 1.0;
  }
  double variance = kUniformVariance;
  if (count > 0.0) {
    mean /= sum;
    variance += count * std::max(0.0, square / sum - mean * mean);
  }
  const double spread = std::sqrt(variance / (count + 1.0));
  const double width =
      kGoodWidth * spread * std::pow(std::max(1.0, count), -0.2);
  return std::max(width, LeastWidth(axis));
}

}  // namespace

std::size_t CountGood(std::size_t n) {
  const double root = kGoodRoots * std::sqrt(static_cast<double>(n));
  return std::min(n, std::clamp(static_cast<std::size_t>(std::ceil(root)),
                                kLeastGood, kMostGood));
}

double LogChanceOfSuccess(const TpeModel& model, double log_good,
                          double log_rest, double log_failed) {
  const double failed = model.failed.mass() * std::exp(log_failed - log_rest);
  const double all =
      model.rest.mass() + model.good.mass() * std::exp(log_good - log_rest);
  return std::log(std::max(kLeastChance, 1.0 - failed / all));
}

std::vector<double> RankWeights(std::size_t m) {
  std::vector<double> weights;
  double sum = 0.0;
  for (std::size_t i = 0; i < m; ++i) {
    weights.push_back(std::log(static_cast<double>(m) + 0.5) -
                      std::log(static_cast<double>(i) + 1.0));
    sum += weights.back();
  }
  for (double& weight : weights) weight *= static_cast<double>(m) / sum;
  return weights;
}

double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths) {
  std::array<double, kFrozenSteps.size()> log_likelihood{};
  std::vector<double> count;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (!axes[a].frozen()) continue;
    double all = 0.0;
    count.assign(axes[a].cells(), 0.0);
    for (const WeightedCells& trial : good) {
      if (trial.cells[a] == kNoCell) continue;
      count[trial.cells[a]] += 1.0;
      all += 1.0;
    }
    // Nothing was near: nothing to learn.
    if (count[0] == 0.0 && count[1] == 0.0) continue;
    for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
      CellKernel& kernel = kernels.Get(a, widths[a], kFrozenSteps[s]);
      for (std::size_t x = 0; x < count.size(); ++x) {
        if (count[x] == 0.0) continue;
        const CellKernel::Row& row = kernel.RowOf(static_cast<Cell>(x));
        double others = -row.ratio[x];
        for (std::size_t c = 0; c < count.size(); ++c) {
          others += count[c] * row.ratio[c];
        }
        const double density = std::max(0.0, others) * std::exp(row.log_scale);
        log_likelihood[s] += count[x] * std::log((density + 1.0) / all);
      }
    }
  }
  std::size_t best = 0;
  for (std::size_t s = 0; s < kFrozenSteps.size(); ++s) {
    log_likelihood[s] -= 0.5 * std::abs(std::log2(kFrozenSteps[s] / 2.0));
    if (log_likelihood[s] > log_likelihood[best]) best = s;
  }
  return kFrozenSteps[best];
}

TpeModel FitModel(const std::vector<CellAxis>& axes, KernelCache& kernels,
                  const std::vector<WeightedCells>& good,
                  const std::vector<WeightedCells>& rest,
                  const TpeOptions& options) {
  std::vector<double> widths;
  bool frozen = false;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    widths.push_back(GoodWidth(axes[a], a, good));
    frozen = frozen || axes[a].frozen();
  }
  const double steps = options.learn_frozen && frozen
                           ? LearnFrozenSteps(axes, kernels, good, widths)
                           : 1.0;
  std::vector<CellKernel*> near, wide;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    near.push_back(&kernels.Get(a, widths[a], steps));
    const double width = std::max(kRestWidth, LeastWidth(axes[a]));
    wide.push_back(&kernels.Get(a, width, steps));
  }
  CellDensity::Settings good_settings = kGoodSettings;
  CellDensity::Settings rest_settings = kRestSettings;
  CellDensity::Settings failed_settings = kFailedSettings;
  if (!options.multivariate) {
    good_settings.separate_share = rest_settings.separate_share =
        failed_settings.separate_share = 1.0;
  }
  TpeModel model{CellDensity(axes, near, good_settings),
                 CellDensity(axes, wide, rest_settings),
                 CellDensity(axes, wide, failed_settings), steps};
  model.good.Reserve(good.size());
  model.rest.Reserve(rest.size());
  for (const WeightedCells& trial : good) {
    model.good.Add(trial.cells, trial.weight);
  }
  for (const WeightedCells& trial : rest) {
    model.rest.Add(trial.cells, trial.weight);
    if (trial.failed) model.failed.Add(trial.cells, trial.weight);
  }
  model.good.Finish();
  model.rest.Finish();
  model.failed.Finish();
  return model;
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "sampler/tpe/tpe_model.h"

#include <algorithm>
#include <cmath>

namespace frostline::sampler {
namespace {

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
    wide.push_back(&kernels.Get(a, RestWidth(axes[a]), steps));
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
                 CellDensity(axes, wide, failed_settings)};
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

}  // namespace frostline::sampler

// SPDX-License-Identifier: Apache-2.0
#include "sampler/optuna/compat_volume.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/split/pareto.h"

namespace frostline::sampler {
namespace {

constexpr double kNearlyNothing = 1e-12;

bool IsFeasibleInVolume(const Observation& trial, std::size_t objectives) {
  return trial.values.size() == objectives &&
         std::all_of(trial.constraints.begin(), trial.constraints.end(),
                     [](double constraint) { return constraint <= 0.0; });
}

// A little beyond the worst value of every objective.
std::vector<double> VolumeReferenceOf(const LossVectors& losses) {
  std::vector<double> reference(losses[0].size(),
                                -std::numeric_limits<double>::infinity());
  for (const std::vector<double>& point : losses) {
    for (std::size_t m = 0; m < point.size(); ++m) {
      reference[m] = std::max(reference[m], point[m]);
    }
  }
  for (double& worst : reference) {
    worst = std::max(1.1 * worst, 0.9 * worst);
    if (worst == 0.0) worst = kNearlyNothing;
  }
  return reference;
}

// What each point of the front adds to the others, 0 for points behind it.
// Nothing where volumes are infinite.
std::vector<double> Additions(const LossVectors& losses) {
  const std::vector<double> reference = VolumeReferenceOf(losses);
  const std::vector<int> ranks = NonDominationRanks(losses);
  LossVectors front;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (ranks[i] == 0) front.push_back(losses[i]);
  }
  const double all = Hypervolume(front, reference);
  if (!std::isfinite(all)) return {};
  std::vector<double> additions(losses.size(), 0.0);
  std::size_t at = 0;  // in the front
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (ranks[i] != 0) continue;
    LossVectors others = front;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at++));
    additions[i] =
        all - (others.empty() ? 0.0 : Hypervolume(others, reference));
  }
  return additions;
}

}  // namespace

std::vector<double> CompatVolumeWeights(
    const History& history, const std::vector<std::uint32_t>& trials,
    const std::vector<Objective>& objectives) {
  std::vector<double> weights(trials.size(), kNearlyNothing);
  std::vector<std::size_t> feasible;
  LossVectors losses;
  for (std::size_t t = 0; t < trials.size(); ++t) {
    const Observation& trial = history.trials()[trials[t]];
    if (!IsFeasibleInVolume(trial, objectives.size())) continue;
    feasible.push_back(t);
    weights[t] = 1.0;
    losses.emplace_back();
    for (std::size_t m = 0; m < objectives.size(); ++m) {
      losses.back().push_back(AsLoss(objectives[m], trial.values[m]));
    }
  }
  if (feasible.size() <= 1) return weights;
  const std::vector<double> additions = Additions(losses);
  if (additions.empty()) return weights;
  const double most = std::max(
      *std::max_element(additions.begin(), additions.end()), kNearlyNothing);
  for (std::size_t i = 0; i < feasible.size(); ++i) {
    weights[feasible[i]] = std::max(additions[i] / most, kNearlyNothing);
  }
  return weights;
}

}  // namespace frostline::sampler

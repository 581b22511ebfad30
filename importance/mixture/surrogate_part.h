// SPDX-License-Identifier: Apache-2.0
//
// File: surrogate_part.h
//
// The part of an answer that a Gaussian process gives. It is believed instead
// of level effects and a forest as far as it predicts unseen trials better:
//
//   weight = argmin_w Σ_i (w g_i + (1 - w) m_i)²  + k D (w - w0)²
//
// with g_i, m_i what the process and the mixture miss of trial i left out
// (stacking; Wolpert, "Stacked generalization", 1992; Breiman, 1996), D their
// mean squared difference, so few trials leave the weight near w0.
//
// Shares are weighted means of both. Of the draws, as many as the weight says
// are the process's (Yao et al., "Using stacking to average Bayesian predictive
// distributions", 2018).
//
//   g = {1, -1},  m = {3, -3},  k = 0:   weight 1, since argmin is 3/2
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_

#include <cstdint>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "importance/effects/level_effects.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/mixture_model.h"
#include "importance/mixture/subsets.h"
#include "study/space.h"
#include "surrogate/influence.h"

namespace frostline::importance {

// Shares, and what else the trials leave possible.
struct DrawnShares {
  MixtureShares shares;
  std::vector<MixtureShares> draws;  // empty: no intervals

  // Returns the interval of one share, which `pick` reads. Its ends are
  // quantiles of the draws, and never stop short of the value.
  template <typename Pick>
  Interval IntervalOf(const Pick& pick) const {
    std::vector<double> values;
    values.reserve(draws.size());
    for (const MixtureShares& one : draws) values.push_back(pick(one));
    return IntervalOfDraws(pick(shares), std::move(values));
  }
};

// Returns the shares of two models together. The second has this weight.
DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight);

// What the Gaussian process says, and its weight.
struct SurrogatePart {
  double weight = 0.0;  // 0: no part, and nothing else is known
  double r2 = 0.0;      // of both together, on trials not seen
  double noise_share = 0.0;
  DrawnShares drawn;
  std::vector<std::vector<double>> curves;  // by cell; lower is better
  // By axis, the chance that higher values are better; NaN without an
  // order.
  std::vector<double> rising_probability;
  // What it would say without some trials: first those with a target, then the
  // hopeless ones. Null with a weight of 0, and without intervals.
  std::shared_ptr<const surrogate::Influence> influence;
  // For MixtureModel::pairs(), the chance that both trained are worth less
  // than each alone promises; NaN without a frozen cell.
  std::vector<double> substitutes_probability;
};

struct SurrogatePartOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  std::stop_token stop = {};
};

// The process also learns from the trials at `hopeless`, which could not be
// trained and count as the worst, with doubt. The mixture has not seen them,
// and is believed less where it misses them. The weight is 0 above
// kMaxSurrogateAxes parameters. After a stop the part means nothing.
SurrogatePart MakeSurrogatePart(const Space& space, const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless,
                                const SurrogatePartOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_

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
#include <optional>
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
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

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
  int threads = 1;  // as EvaluateOptions has them; changes no number
};

// The process alone, and what it says of trials and effects. The mixture is not
// needed for it, so both can be fitted at the same time.
struct FittedProcess {
  surrogate::Saturation saturation;
  double noise_variance = 0.0;
  std::vector<surrogate::Belief> left_out =
      {};  // of trials, then hopeless ones
  surrogate::EffectDraws draws = {};
  std::shared_ptr<const surrogate::Influence> influence = nullptr;  // or none
};

// The process also learns from the trials at `hopeless`, which could not be
// trained and count as the worst, with doubt. There is none above
// kMaxSurrogateAxes parameters, of equal targets, and after a stop.
std::optional<FittedProcess> FitProcess(const Space& space,
                                        const std::vector<EffectAxis>& axes,
                                        const std::vector<FineAxis>& fine,
                                        const std::vector<double>& targets,
                                        const std::vector<FinePoint>& hopeless,
                                        const SurrogatePartOptions& options);

// Weighs both. The mixture has not seen the hopeless trials, and is believed
// less where it misses them. Without a process the weight is 0.
SurrogatePart MakeSurrogatePart(const std::optional<FittedProcess>& process,
                                const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_SURROGATE_PART_H_

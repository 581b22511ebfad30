// SPDX-License-Identifier: Apache-2.0
//
// File: fanova_evaluator.h
//
// The evaluators `fanova` and `levels`, and how far a Gaussian process is
// believed instead.
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/measure/selection.h"
#include "importance/mixture/mixture.h"
#include "importance/report.h"
#include "study/space.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {

// Gives the Gaussian process a part, as far as it predicts unseen trials better
// than level effects and a forest do:
//
//   weight = argmin_w Σ_i (w g_i + (1 - w) m_i)²  + k D (w - w0)²
//
// with g_i, m_i what each misses of trial i left out (stacking; Wolpert, 1992;
// Breiman, 1996), D their mean squared difference, so few trials leave the
// weight near w0. Shares are weighted means, draws are one's or the other's by
// weight (Yao et al., 2018).

struct DrawnShares {
  MixtureShares shares;
  std::vector<MixtureShares> draws;  // empty: no intervals

  // Draws lie around what trials say, the value nearer to what is likely: ends
  // are as drawn, and reach the value.
  template <typename Pick>
  Interval IntervalOf(const Pick& pick) const {
    std::vector<double> values;
    values.reserve(draws.size());
    for (const MixtureShares& one : draws) values.push_back(pick(one));
    return IntervalOfDraws(pick(shares), std::move(values));
  }
};

// REQUIRES: there is a draw.
MixtureShares MeanOf(const std::vector<MixtureShares>& draws);

// Blends the shares of two models. The second has `weight`, and as many draws
// as the first.
DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight);

class ProcessShares {
 public:
  // Keeps references. Pairs and subsets are the model's.
  ProcessShares(const surrogate::EffectDraws& draws, const MixtureModel& shares,
                const std::vector<std::vector<int>>& groups);

  // Goes by pair of the model.
  const std::vector<std::size_t>& place_of_pair() const {
    return place_of_pair_;
  }
  MixtureShares SharesOf(std::size_t draw) const;

 private:
  // Take all within the set, and all of it alone.
  double Within(std::vector<int> set, std::size_t draw) const;
  double Beyond(const std::vector<int>& set, std::size_t draw) const;
  // Takes likewise what three axes have together.
  double HigherPart(std::vector<int> set, bool own) const;

  const surrogate::EffectDraws& draws_;
  const MixtureModel& shares_;
  const std::vector<std::vector<int>>& groups_;
  std::vector<std::size_t> place_of_pair_;
};

struct SurrogatePart {
  double weight = 0.0;  // 0: no part, and nothing else is known
  double r2 = 0.0;      // of both together, on trials not seen
  double noise_share = 0.0;
  DrawnShares drawn;
  std::vector<std::vector<double>> curves;  // by cell; lower is better
  // By axis, the chance that higher values are better; NaN without an
  // order.
  std::vector<double> rising_probability;
  // For MixtureModel::pairs(), the chance that both trained are worth less
  // than each alone promises; NaN without a frozen cell.
  std::vector<double> substitutes_probability;
};

struct SurrogatePartOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  std::stop_token stop = {};
};

// Trials at `hopeless` could not be trained and count as the worst, with doubt.
// The process learns them; the mixture is believed less for missing them. There
// is no part above kMaxSurrogateAxes parameters. After a stop it is any part.
SurrogatePart MakeSurrogatePart(const Space& space, const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless,
                                const SurrogatePartOptions& options);

struct MixtureReportOptions {
  std::uint64_t seed = 0;
  bool intervals = true;
  bool pairs = true;
  std::stop_token stop = {};
};

// Fills in parameters, pairs, groups (without names), unexplained and
// main_draws. A `part` of weight 0 is none. CANCELLED after a stop.
absl::StatusOr<Report> MakeMixtureReport(const LevelEffects& model,
                                         const MixtureModel& shares,
                                         const SurrogatePart& part,
                                         const MixtureReportOptions& options);

// fanova_evaluator.cc ranks pairs, strongest first, and describes sets, with
// what terms that did not enter may have.
std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const SurrogatePart& part,
                                      const DrawnShares& drawn);

std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn,
    const std::vector<PairImportance>& pairs);  // RankPairs'

// Both read `seed`, `pairs`, `subsets`, and whether there are `bootstraps`, for
// intervals; fanova also `trees` and `threads`.
absl::StatusOr<Report> EvaluateFanova(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_FANOVA_EVALUATOR_H_

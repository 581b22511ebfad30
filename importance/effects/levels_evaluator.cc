// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/levels_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/plain/statistics.h"
#include "importance/effects/level_effects_shares.h"
#include "importance/statistics.h"
#include "importance/warnings.h"

namespace frostline {
namespace {

constexpr int kDraws = 1000;
constexpr double kChanceOfAny = 0.05;  // for a parameter to look real

using Drawn = std::vector<EffectShares>;

// Draws are around what the trials say, the value is drawn towards what is
// likely: so the ends are as they are drawn, and reach at least the value.
template <typename Pick>
Interval IntervalOf(const EffectShares& shares, const Drawn& drawn,
                    const Pick& pick) {
  const double value = pick(shares);
  if (drawn.empty()) return {value, value, value, value, value};
  std::vector<double> values;
  for (const EffectShares& one : drawn) values.push_back(pick(one));
  std::sort(values.begin(), values.end());
  const auto end = [&values](double q) {
    return values[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {value, std::min(end(0.1), value), std::max(end(0.9), value),
          std::min(end(0.025), value), std::max(end(0.975), value)};
}

// Losses: falling is better.
double DirectionOf(const EffectAxis& axis, const std::vector<double>& curve) {
  std::vector<double> gains;
  for (std::size_t c = axis.first_ordered; c < curve.size(); ++c) {
    gains.push_back(-curve[c]);
  }
  if (!axis.is_ordered || gains.empty()) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<double> order(gains.size());
  std::iota(order.begin(), order.end(), 0.0);
  return RankCorrelation(order, gains);
}

std::vector<ParameterImportance> DescribeParameters(const LevelEffects& model,
                                                    const EffectShares& shares,
                                                    const Drawn& drawn) {
  const std::size_t count = model.axes().size();
  const std::vector<int> ranks = RankByFalling(shares.main);
  std::vector<ParameterImportance> parameters(count);
  for (std::size_t i = 0; i < count; ++i) {
    ParameterImportance& one = parameters[i];
    one.parameter = static_cast<int>(i);
    one.rank = ranks[i];
    one.main = IntervalOf(shares, drawn,
                          [i](const EffectShares& s) { return s.main[i]; });
    one.total = IntervalOf(shares, drawn,
                           [i](const EffectShares& s) { return s.total[i]; });
    if (drawn.empty()) one.top3_probability = ranks[i] <= 3 ? 1.0 : 0.0;
  }
  for (const EffectShares& draw : drawn) {
    const std::vector<int> order = RankByFalling(draw.main);
    for (std::size_t i = 0; i < count; ++i) {
      parameters[i].top3_probability +=
          order[i] <= 3 ? 1.0 / static_cast<double>(drawn.size()) : 0.0;
    }
  }
  const double chance = std::log(kChanceOfAny / static_cast<double>(count));
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    if (model.terms()[t].size() != 1) continue;
    const std::size_t i = model.terms()[t][0];
    parameters[i].direction = DirectionOf(model.axes()[i], model.Curve(t));
    parameters[i].distinguishable = LogChanceOf(model, t) < chance;
    parameters[i].top3_probability =
        std::min(parameters[i].top3_probability, 1.0);
  }
  return parameters;
}

// Of a pair that did not enter: 0, and what it might have all the same.
Interval LeftOutInterval(const TermEvidence& evidence, double variance,
                         bool intervals) {
  Interval share;
  if (!intervals || !(variance > 0.0)) return share;
  const double seen = std::max(evidence.variance, 0.0);
  share.hi80 = std::min((seen + 1.2816 * evidence.deviation) / variance, 1.0);
  share.hi95 = std::min((seen + 1.96 * evidence.deviation) / variance, 1.0);
  return share;
}

std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const EffectShares& shares,
                                      const Drawn& drawn) {
  std::vector<PairImportance> pairs;
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    const EffectTerm& term = model.terms()[t];
    if (term.size() != 2) continue;
    pairs.push_back({static_cast<int>(term[0]), static_cast<int>(term[1]),
                     IntervalOf(shares, drawn, [t](const EffectShares& s) {
                       return s.terms[t];
                     })});
  }
  for (const LeftOutTerm& one : model.left_out()) {
    if (one.term.size() != 2) continue;
    pairs.push_back(
        {static_cast<int>(one.term[0]), static_cast<int>(one.term[1]),
         LeftOutInterval(one.evidence, shares.variance, !drawn.empty())});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const PairImportance& a, const PairImportance& b) {
              if (a.share.value != b.share.value) {
                return a.share.value > b.share.value;
              }
              return std::pair(a.first, a.second) <
                     std::pair(b.first, b.second);
            });
  return pairs;
}

// What neither main effects nor pairs explain.
double Unexplained(const LevelEffects& model, const EffectShares& shares) {
  double left = 1.0;
  for (std::size_t t = 0; t < shares.terms.size(); ++t) {
    if (model.terms()[t].size() <= 2) left -= shares.terms[t];
  }
  return std::max(left, 0.0);
}

}  // namespace

absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options) {
  const Dataset data =
      MakeDataset(MeasureSpace(space), selection.points, selection.losses);
  std::vector<EffectAxis> axes;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    axes.push_back(MakeEffectAxis(data.axes[i], data.codes[i]));
  }
  const LevelEffects model(std::move(axes), data.targets);
  const EffectShares shares = SharesOf(model);
  Drawn drawn;
  if (options.bootstraps > 0) drawn = DrawShares(model, kDraws, options.seed);
  Report report;
  report.trials_used = static_cast<std::int64_t>(data.rows());
  report.trials_left_out = selection.left_out;
  report.parameters = DescribeParameters(model, shares, drawn);
  if (options.pairs) report.pairs = RankPairs(model, shares, drawn);
  report.unexplained = IntervalOf(
      shares, drawn,
      [&model](const EffectShares& s) { return Unexplained(model, s); });
  report.out_of_bag_r2 = model.ridge().LeftOutR2();
  report.noise_variance = NoiseVariance(selection);
  report.warnings = FindWarnings(space, data);
  return report;
}

}  // namespace frostline

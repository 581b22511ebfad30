// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture_report.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "importance/statistics.h"

namespace frostline {
namespace {

constexpr int kDraws = 1000;
constexpr double kAbsentCode = -2.0;   // code of an ordered axis
constexpr double kLeastKnown = 0.25;   // of what a term's evidence tells
constexpr double kChanceOfAny = 0.05;  // for a parameter to look real

using Drawn = std::vector<MixtureShares>;

// Draws are around what the trials say, the value is drawn towards what is
// likely: so the ends are as they are drawn, and reach at least the value.
template <typename Pick>
Interval IntervalOf(const MixtureShares& shares, const Drawn& drawn,
                    const Pick& pick) {
  const double value = pick(shares);
  if (drawn.empty()) return {value, value, value, value, value};
  std::vector<double> values;
  for (const MixtureShares& one : drawn) values.push_back(pick(one));
  std::sort(values.begin(), values.end());
  const auto end = [&values](double q) {
    return values[static_cast<std::size_t>(
        std::lround(q * static_cast<double>(values.size() - 1)))];
  };
  return {value, std::min(end(0.1), value), std::max(end(0.9), value),
          std::min(end(0.025), value), std::max(end(0.975), value)};
}

// Of an ordered axis the curve where the parameter is there.
std::vector<double> OrderedPart(const FineAxis& axis,
                                const std::vector<double>& curve) {
  std::vector<double> losses;
  for (std::size_t k = 0; k < curve.size() && axis.is_ordered; ++k) {
    if (axis.codes[k] != kAbsentCode) losses.push_back(curve[k]);
  }
  return losses;
}

std::vector<ParameterImportance> DescribeParameters(const LevelEffects& model,
                                                    const MixtureModel& mixture,
                                                    const MixtureShares& shares,
                                                    const Drawn& drawn) {
  const std::size_t count = model.axes().size();
  const std::vector<int> ranks = RankByFalling(shares.main);
  std::vector<std::vector<double>> draws;
  for (const MixtureShares& draw : drawn) draws.push_back(draw.main);
  const std::vector<double> top3 = Top3Probabilities(shares.main, draws);
  std::vector<ParameterImportance> parameters(count);
  for (std::size_t i = 0; i < count; ++i) {
    ParameterImportance& one = parameters[i];
    one.parameter = static_cast<int>(i);
    one.rank = ranks[i];
    one.main = IntervalOf(shares, drawn,
                          [i](const MixtureShares& s) { return s.main[i]; });
    one.total = IntervalOf(shares, drawn,
                           [i](const MixtureShares& s) { return s.total[i]; });
    one.direction =
        DirectionOf(OrderedPart(mixture.axes()[i], mixture.Curve(i)));
    one.top3_probability = top3[i];
  }
  const double chance = std::log(kChanceOfAny / static_cast<double>(count));
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    if (model.terms()[t].size() != 1) continue;
    parameters[model.terms()[t][0]].distinguishable =
        LogChanceOf(model, t) < chance;
  }
  return parameters;
}

// What a pair that did not enter the level effects might have all the same. The
// more it had, the wider would be what is estimated of it: so the end is where
// the estimate would be low by `z` deviations of its own.
void Widen(Interval& share, const TermEvidence& evidence, double functions,
           double unit) {
  if (!(unit > 0.0)) return;
  const double seen = std::max(evidence.variance, 0.0);
  const auto end = [&](double drawn, double z) {
    const double known =
        std::max(1.0 - z * std::sqrt(2.0 / functions), kLeastKnown);
    const double more = (seen + z * evidence.deviation) / known * unit;
    return std::min(std::max(drawn, share.value + more), 1.0);
  };
  share.hi80 = end(share.hi80, 1.2816);
  share.hi95 = end(share.hi95, 1.96);
}

// Residuals are smaller than noise is, by what went into the coefficients, and
// than what is missed of trials not seen, by effects that went to other terms;
// in parts of the variance that the shares are of.
double UnitOfEvidence(const LevelEffects& model, const MixtureModel& mixture,
                      double variance) {
  const GroupedRidge& ridge = model.ridge();
  double squares = 0.0;
  for (const double r : ridge.residuals()) squares += r * r;
  const double n = static_cast<double>(ridge.residuals().size());
  if (!(squares > 0.0) || !(variance > 0.0)) return 0.0;
  const double missed = std::max(ridge.noise(), mixture.MissedByLevels());
  return missed * n / squares / variance;
}

std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const MixtureShares& shares,
                                      const Drawn& drawn) {
  std::map<AxisPair, TermEvidence> left_out;
  for (const LeftOutTerm& one : model.left_out()) {
    if (one.term.size() == 2) {
      left_out[{one.term[0], one.term[1]}] = one.evidence;
    }
  }
  const double unit = UnitOfEvidence(model, mixture, shares.variance);
  std::vector<PairImportance> pairs;
  for (std::size_t p = 0; p < mixture.pairs().size(); ++p) {
    const AxisPair& pair = mixture.pairs()[p];
    const auto evidence = left_out.find(pair);
    const bool is_out = evidence != left_out.end();
    Interval share;
    if (!is_out || shares.pairs[p] > 0.0) {
      share = IntervalOf(shares, drawn,
                         [p](const MixtureShares& s) { return s.pairs[p]; });
    }
    if (is_out && !drawn.empty()) {
      const EffectTerm term = {pair.first, pair.second};
      const auto width = static_cast<double>(WidthOf(model.axes(), term));
      Widen(share, evidence->second, width, unit);
    }
    pairs.push_back(
        {static_cast<int>(pair.first), static_cast<int>(pair.second), share});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const PairImportance& a, const PairImportance& b) {
                     return a.share.value > b.share.value;
                   });
  return pairs;
}

// Sets of one and two are what the report says of main effects and pairs.
std::vector<SubsetImportance> DescribeSubsets(const LevelEffects& model,
                                              const MixtureModel& mixture,
                                              const MixtureShares& shares,
                                              const Drawn& drawn,
                                              const Report& report) {
  const double unit = UnitOfEvidence(model, mixture, shares.variance);
  std::vector<SubsetImportance> described(mixture.subsets().size());
  for (std::size_t s = 0; s < described.size(); ++s) {
    const std::vector<int>& subset = mixture.subsets()[s];
    const auto interval = [&](double SubsetShare::* field, bool own) {
      Interval share =
          IntervalOf(shares, drawn, [s, field](const MixtureShares& draw) {
            return draw.subsets[s].*field;
          });
      const LeftOutEvidence left_out = LeftOutWithin(model, subset, own);
      if (left_out.functions > 0.0 && !drawn.empty()) {
        Widen(share, left_out.evidence, left_out.functions, unit);
      }
      return share;
    };
    SubsetImportance& one = described[s];
    one.parameters = subset;
    one.together = interval(&SubsetShare::together, false);
    if (subset.size() != 2) {
      one.beyond = interval(&SubsetShare::beyond, true);
    } else if (const auto* const pair = FindPair(report.pairs, subset)) {
      one.beyond = pair->share;
    }
  }
  return described;
}

}  // namespace

Report MakeMixtureReport(const LevelEffects& model, const MixtureModel& mixture,
                         const MixtureReportOptions& options) {
  const MixtureShares shares = mixture.Shares();
  Drawn drawn;
  if (options.intervals) drawn = mixture.Draw(kDraws, options.seed);
  Report report;
  report.parameters = DescribeParameters(model, mixture, shares, drawn);
  if (options.pairs || !mixture.subsets().empty()) {
    report.pairs = RankPairs(model, mixture, shares, drawn);
  }
  report.subsets = DescribeSubsets(model, mixture, shares, drawn, report);
  if (!options.pairs) report.pairs.clear();
  for (std::size_t g = 0; g < shares.groups.size(); ++g) {
    report.groups.push_back(
        {"", IntervalOf(shares, drawn,
                        [g](const MixtureShares& s) { return s.groups[g]; })});
  }
  report.unexplained = IntervalOf(
      shares, drawn, [](const MixtureShares& s) { return s.unexplained; });
  for (const MixtureShares& one : drawn) report.main_draws.push_back(one.main);
  return report;
}

}  // namespace frostline

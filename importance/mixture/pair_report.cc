// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>

#include "importance/mixture/mixture_report.h"

namespace frostline::importance {
namespace {

constexpr double kLeastKnown = 0.25;  // of what a term's evidence tells

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
  const double seen = ridge.ResidualVariance();
  if (!(seen > 0.0) || !(variance > 0.0)) return 0.0;
  return std::max(ridge.noise(), mixture.MissedByLevels()) / seen / variance;
}

}  // namespace

std::vector<PairImportance> RankPairs(const LevelEffects& model,
                                      const MixtureModel& mixture,
                                      const SurrogatePart& part,
                                      const DrawnShares& drawn) {
  std::map<AxisPair, TermEvidence> left_out;
  for (const LeftOutTerm& one : model.left_out()) {
    if (one.term.size() == 2) {
      left_out[{one.term[0], one.term[1]}] = one.evidence;
    }
  }
  const double unit = UnitOfEvidence(model, mixture, drawn.shares.variance);
  std::vector<PairImportance> pairs;
  pairs.reserve(mixture.pairs().size());
  for (std::size_t p = 0; p < mixture.pairs().size(); ++p) {
    const AxisPair& pair = mixture.pairs()[p];
    const auto evidence = left_out.find(pair);
    const bool is_out = evidence != left_out.end();
    Interval share;
    if (!is_out || drawn.shares.pairs[p] > 0.0) {
      share =
          drawn.IntervalOf([p](const MixtureShares& s) { return s.pairs[p]; });
    }
    if (is_out && !drawn.draws.empty()) {
      const EffectTerm term = {pair.first, pair.second};
      const auto width = static_cast<double>(WidthOf(model.axes(), term));
      Widen(share, evidence->second, width, unit);
    }
    PairImportance& one = pairs.emplace_back();
    one.first = static_cast<int>(pair.first);
    one.second = static_cast<int>(pair.second);
    one.share = share;
    if (!part.substitutes_probability.empty()) {
      one.substitutes_probability = part.substitutes_probability[p];
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const PairImportance& a, const PairImportance& b) {
                     return a.share.value > b.share.value;
                   });
  return pairs;
}

// Sets of one and two are what the report says of main effects and pairs.
std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn, const std::vector<PairImportance>& pairs) {
  const double unit = UnitOfEvidence(model, mixture, drawn.shares.variance);
  std::vector<SubsetImportance> described(mixture.subsets().size());
  for (std::size_t s = 0; s < described.size(); ++s) {
    const std::vector<int>& subset = mixture.subsets()[s];
    const auto interval = [&](double SubsetShare::* field, bool own) {
      Interval share = drawn.IntervalOf([s, field](const MixtureShares& draw) {
        return draw.subsets[s].*field;
      });
      const LeftOutEvidence left_out = LeftOutWithin(model, subset, own);
      if (left_out.functions > 0.0 && !drawn.draws.empty()) {
        Widen(share, left_out.evidence, left_out.functions, unit);
      }
      return share;
    };
    SubsetImportance& one = described[s];
    one.parameters = subset;
    one.together = interval(&SubsetShare::together, false);
    if (subset.size() != 2) {
      one.beyond = interval(&SubsetShare::beyond, true);
    } else if (const auto* const pair = FindPair(pairs, subset)) {
      one.beyond = pair->share;
    }
  }
  return described;
}

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/fanova_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"
#include "importance/cells.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/subsets.h"
#include "importance/report.h"
#include "surrogate/saturation.h"
#include "surrogate/surrogate.h"

namespace frostline::importance {
namespace {

void AddTo(std::vector<double>& sum, const std::vector<double>& one,
           double weight) {
  sum.resize(one.size(), 0.0);
  for (std::size_t i = 0; i < one.size(); ++i) sum[i] += weight * one[i];
}

void AddShares(MixtureShares& sum, const MixtureShares& one, double weight) {
  AddTo(sum.main, one.main, weight);
  AddTo(sum.total, one.total, weight);
  AddTo(sum.pairs, one.pairs, weight);
  AddTo(sum.groups, one.groups, weight);
  sum.subsets.resize(one.subsets.size());
  for (std::size_t s = 0; s < one.subsets.size(); ++s) {
    sum.subsets[s].together += weight * one.subsets[s].together;
    sum.subsets[s].beyond += weight * one.subsets[s].beyond;
  }
  sum.unexplained += weight * one.unexplained;
  sum.variance += weight * one.variance;
}

}  // namespace

MixtureShares MeanOf(const std::vector<MixtureShares>& draws) {
  MixtureShares mean;
  for (const MixtureShares& one : draws) {
    AddShares(mean, one, 1.0 / static_cast<double>(draws.size()));
  }
  // A sum of many parts may come out above 1 by rounding.
  mean.unexplained = std::min(mean.unexplained, 1.0);
  for (double& one : mean.main) one = std::min(one, 1.0);
  for (double& one : mean.total) one = std::min(one, 1.0);
  for (double& one : mean.groups) one = std::min(one, 1.0);
  for (SubsetShare& one : mean.subsets) {
    one.together = std::min(one.together, 1.0);
  }
  return mean;
}

DrawnShares Blend(DrawnShares first, const DrawnShares& second, double weight) {
  if (weight == 0.0) return first;
  MixtureShares both;
  AddShares(both, first.shares, 1.0 - weight);
  AddShares(both, second.shares, weight);
  first.shares = std::move(both);
  double due = 0.0;
  std::size_t next = 0;
  for (MixtureShares& one : first.draws) {
    due += weight;
    if (due < 1.0) continue;
    due -= 1.0;
    one = second.draws[next++ % second.draws.size()];
  }
  return first;
}

ProcessShares::ProcessShares(const surrogate::EffectDraws& draws,
                             const MixtureModel& shares,
                             const std::vector<std::vector<int>>& groups)
    : draws_(draws), shares_(shares), groups_(groups) {
  std::map<surrogate::EffectDraws::Pair, std::size_t> place;
  for (std::size_t p = 0; p < draws.pairs.size(); ++p) {
    place[draws.pairs[p]] = p;
  }
  for (const AxisPair& pair : shares.pairs()) {
    place_of_pair_.push_back(place.at(pair));
  }
}

MixtureShares ProcessShares::SharesOf(std::size_t draw) const {
  const std::vector<double>& main = draws_.main[draw];
  const std::vector<double>& joint = draws_.joint[draw];
  const double higher = draws_.higher[draw];
  MixtureShares made;
  made.variance = higher;
  for (const double one : main) made.variance += one;
  for (const double one : joint) made.variance += one;
  const double unit = made.variance > 0.0 ? 1.0 / made.variance : 0.0;
  double rest = higher;
  for (std::size_t a = 0; a < main.size(); ++a) {
    made.main.push_back(main[a] * unit);
    made.total.push_back(made.main[a] + higher * draws_.higher_part[a] * unit);
  }
  for (std::size_t p = 0; p < joint.size(); ++p) {
    rest += joint[p];
    made.total[draws_.pairs[p].first] += joint[p] * unit;
    made.total[draws_.pairs[p].second] += joint[p] * unit;
  }
  for (const std::size_t p : place_of_pair_) {
    made.pairs.push_back(joint[p] * unit);
    rest -= joint[p];
  }
  made.unexplained = std::clamp(rest * unit, 0.0, 1.0);
  for (const std::vector<int>& group : groups_) {
    made.groups.push_back(Within(group, draw) * unit);
  }
  for (const std::vector<int>& subset : shares_.subsets()) {
    made.subsets.push_back(
        {Within(subset, draw) * unit, Beyond(subset, draw) * unit});
  }
  return made;
}

double ProcessShares::Within(std::vector<int> set, std::size_t draw) const {
  std::sort(set.begin(), set.end());
  std::vector<bool> inside(draws_.main[draw].size(), false);
  double sum = draws_.higher[draw] * HigherPart(set, false);
  for (const int a : set) {
    inside[static_cast<std::size_t>(a)] = true;
    sum += draws_.main[draw][static_cast<std::size_t>(a)];
  }
  for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
    const auto [a, b] = draws_.pairs[p];
    if (inside[a] && inside[b]) sum += draws_.joint[draw][p];
  }
  return sum;
}

double ProcessShares::Beyond(const std::vector<int>& set,
                             std::size_t draw) const {
  if (set.size() == 1) {
    return draws_.main[draw][static_cast<std::size_t>(set[0])];
  }
  if (set.size() == 2) {
    double sum = 0.0;
    for (std::size_t p = 0; p < draws_.pairs.size(); ++p) {
      const auto [a, b] = draws_.pairs[p];
      const bool is_it =
          std::minmax(static_cast<int>(a), static_cast<int>(b)) ==
          std::minmax(set[0], set[1]);
      if (is_it) sum += draws_.joint[draw][p];
    }
    return sum;
  }
  return draws_.higher[draw] * HigherPart(set, true);
}

double ProcessShares::HigherPart(std::vector<int> set, bool own) const {
  std::sort(set.begin(), set.end());
  if (set.size() < 3 || (own && set.size() > 3)) return 0.0;
  double e1 = 0.0, e2 = 0.0, e3 = 0.0;
  for (const int a : set) {
    const double v = draws_.joint_scale[static_cast<std::size_t>(a)];
    e3 += v * e2;
    e2 += v * e1;
    e1 += v;
  }
  double all1 = 0.0, all2 = 0.0, all3 = 0.0;
  for (const double v : draws_.joint_scale) {
    all3 += v * all2;
    all2 += v * all1;
    all1 += v;
  }
  return all3 > 0.0 ? e3 / all3 : 0.0;
}

namespace {

constexpr double kNoPart = std::numeric_limits<double>::quiet_NaN();
constexpr int kEffectDraws = 200;
constexpr int kEffectDrawsWithoutIntervals = 60;
// Before any trial is seen the process is believed so far, by so many trials.
constexpr double kUsualWeight = 1.0;
constexpr double kUsualTrials = 12.0;
// What is missed by more than so many deviations counts as so much.
constexpr double kFarOff = 3.0;

surrogate::Rows BelievedRowsOf(const Space& space, const LevelEffects& model,
                               const std::vector<double>& targets) {
  surrogate::Rows rows;
  rows.values = targets;
  rows.cells.resize(targets.size());
  for (std::size_t i = 0; i < model.axes().size(); ++i) {
    AddSurrogateAxis(space.parameters()[i].domain, model.axes()[i], rows);
  }
  return rows;
}

std::vector<surrogate::Cells> BelievedCellsOf(
    const std::vector<FinePoint>& points, const std::vector<FineAxis>& axes) {
  std::vector<surrogate::Cells> cells(points.size());
  for (std::size_t row = 0; row < points.size(); ++row) {
    cells[row].reserve(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      cells[row].push_back(
          static_cast<std::uint8_t>(axes[i].effect_cell[points[row][i]]));
    }
  }
  return cells;
}

// Returns the deviation of what is missed, by the median, so a run that
// diverged does not set it.
double RobustDeviation(std::vector<double> missed) {
  for (double& one : missed) one = std::abs(one);
  const auto middle =
      missed.begin() + static_cast<std::ptrdiff_t>(missed.size() / 2);
  std::nth_element(missed.begin(), middle, missed.end());
  return *middle / 0.6745;
}

// What is missed of each trial, as if it had not been seen. After those with a
// target come the hopeless ones, which the mixture has never seen.
struct Missed {
  std::vector<double> process;
  std::vector<double> mixture;
};

Missed WhatIsMissed(const surrogate::Surrogate& process,
                    const surrogate::Saturation& saturation,
                    const Mixture& mixture, const MixtureModel& shares,
                    const std::vector<FinePoint>& hopeless,
                    std::vector<double> targets, const std::stop_token& stop) {
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) /
                      static_cast<double>(targets.size());
  const double worst = *std::max_element(targets.begin(), targets.end());
  targets.resize(targets.size() + hopeless.size(), worst);
  Missed missed{{}, mixture.missed};
  missed.mixture.reserve(targets.size());
  for (const FinePoint& point : hopeless) {
    missed.mixture.push_back(worst - shares.Predict(point, mean));
  }
  missed.process.reserve(targets.size());
  const std::vector<surrogate::Belief> left_out = process.LeftOut(stop);
  for (std::size_t row = 0; row < targets.size(); ++row) {
    missed.process.push_back(
        targets[row] -
        saturation.MeanBack(left_out[row].mean, left_out[row].variance));
  }
  return missed;
}

double WeightOf(const Missed& missed) {
  const auto& [process, mixture] = missed;
  const double far =
      kFarOff * std::max(RobustDeviation(process), RobustDeviation(mixture));
  double product = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < process.size(); ++i) {
    const double m = std::clamp(mixture[i], -far, far);
    const double by = m - std::clamp(process[i], -far, far);
    product += m * by;
    difference += by * by;
  }
  if (!(difference > 0.0)) return kUsualWeight;
  const double usual =
      kUsualTrials * difference / static_cast<double>(process.size());
  return std::clamp((product + usual * kUsualWeight) / (difference + usual),
                    0.0, 1.0);
}

// Curves of the ordered cells, as drawn: how often they fall, which is better.
double RisingProbability(const EffectAxis& axis,
                         const surrogate::EffectDraws& draws, std::size_t a) {
  if (!axis.is_ordered || axis.cells() - axis.first_ordered < 2) return kNoPart;
  double rising = 0.0;
  for (const auto& curves : draws.curves) {
    const auto begin =
        curves[a].begin() + static_cast<std::ptrdiff_t>(axis.first_ordered);
    const double direction =
        ClearDirectionOf(std::vector<double>(begin, curves[a].end()));
    rising += direction > 0.0 ? 1.0 : direction < 0.0 ? 0.0 : 0.5;
  }
  return rising / static_cast<double>(draws.curves.size());
}

// Targets are losses: what both trained add to a loss is lost.
double SubstitutesProbability(const surrogate::EffectDraws& draws,
                              std::size_t pair) {
  double substitutes = 0.0;
  for (const auto& both : draws.both) {
    if (both[pair] == 0.0) return kNoPart;
    substitutes += both[pair] > 0.0 ? 1.0 : 0.0;
  }
  return substitutes / static_cast<double>(draws.both.size());
}

}  // namespace

SurrogatePart MakeSurrogatePart(const Space& space, const LevelEffects& model,
                                const Mixture& mixture,
                                const MixtureModel& shares,
                                const std::vector<std::vector<int>>& groups,
                                const std::vector<double>& targets,
                                const std::vector<FinePoint>& hopeless,
                                const SurrogatePartOptions& options) {
  SurrogatePart part;
  part.r2 = mixture.r2;
  const std::size_t axes = model.axes().size();
  if (axes > kMaxSurrogateAxes || !(model.ridge().target_variance() > 0.0)) {
    return part;
  }
  surrogate::Rows rows = BelievedRowsOf(space, model, targets);
  // One point alone teaches nothing but its noise.
  if (std::equal(rows.cells.begin() + 1, rows.cells.end(),
                 rows.cells.begin())) {
    return part;
  }
  const surrogate::Saturation saturation =
      surrogate::FindSaturation(rows, {.stop = options.stop});
  if (options.stop.stop_requested()) return part;
  for (double& value : rows.values) value = saturation.Forward(value);
  surrogate::AddHopeless(BelievedCellsOf(hopeless, shares.axes()), rows);
  const surrogate::Surrogate process(
      std::move(rows), {.seed = options.seed, .stop = options.stop});
  if (options.stop.stop_requested()) return part;
  const Missed missed = WhatIsMissed(process, saturation, mixture, shares,
                                     hopeless, targets, options.stop);
  if (options.stop.stop_requested()) return part;
  part.weight = WeightOf(missed);
  double square = 0.0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double both = part.weight * missed.process[row] +
                        (1.0 - part.weight) * missed.mixture[row];
    square += both * both / static_cast<double>(targets.size());
  }
  const double variance = model.ridge().target_variance();
  part.r2 = 1.0 - square / variance;
  part.noise_share = std::clamp(
      process.noise_variance() * saturation.SquareSlope(targets) / variance,
      0.0, 1.0);
  const surrogate::EffectDraws draws = process.DrawEffects(
      options.intervals ? kEffectDraws : kEffectDrawsWithoutIntervals,
      options.seed, /*saturates=*/true, options.stop);
  if (options.stop.stop_requested()) return part;
  const ProcessShares maker(draws, shares, groups);
  for (std::size_t d = 0; d < draws.main.size(); ++d) {
    part.drawn.draws.push_back(maker.SharesOf(d));
  }
  part.drawn.shares = MeanOf(part.drawn.draws);
  const double each = 1.0 / static_cast<double>(draws.curves.size());
  part.curves.resize(axes);
  for (std::size_t a = 0; a < axes; ++a) {
    for (const auto& curves : draws.curves) {
      part.curves[a].resize(curves[a].size(), 0.0);
      for (std::size_t c = 0; c < curves[a].size(); ++c) {
        part.curves[a][c] += each * curves[a][c];
      }
    }
    part.rising_probability.push_back(
        RisingProbability(model.axes()[a], draws, a));
  }
  for (const std::size_t p : maker.place_of_pair()) {
    part.substitutes_probability.push_back(SubstitutesProbability(draws, p));
  }
  return part;
}

namespace {

constexpr int kMixtureDraws = 1000;
constexpr double kAbsentMixtureCode = -2.0;   // code of an ordered axis
constexpr double kMixtureChanceOfAny = 0.05;  // for a parameter to look real

// Returns the curve of an ordered axis where the parameter is there.
std::vector<double> OrderedPart(const FineAxis& axis,
                                const std::vector<double>& curve) {
  std::vector<double> losses;
  for (std::size_t k = 0; k < curve.size() && axis.is_ordered; ++k) {
    if (axis.codes[k] != kAbsentMixtureCode) losses.push_back(curve[k]);
  }
  return losses;
}

// The curve at the codes of the fine axis, of both.
std::vector<double> MixtureCurveOf(const MixtureModel& mixture,
                                   const SurrogatePart& part,
                                   std::size_t axis) {
  std::vector<double> curve = mixture.Curve(axis);
  if (part.weight == 0.0) return curve;
  const std::vector<std::uint16_t>& cells = mixture.axes()[axis].effect_cell;
  for (std::size_t k = 0; k < curve.size(); ++k) {
    curve[k] += part.weight * (part.curves[axis][cells[k]] - curve[k]);
  }
  return curve;
}

std::vector<ParameterImportance> DescribeMixture(const LevelEffects& model,
                                                 const MixtureModel& mixture,
                                                 const SurrogatePart& part,
                                                 const DrawnShares& drawn) {
  const std::size_t count = model.axes().size();
  const std::vector<int> ranks = RankByFalling(drawn.shares.main);
  std::vector<std::vector<double>> draws;
  draws.reserve(drawn.draws.size());
  for (const MixtureShares& draw : drawn.draws) draws.push_back(draw.main);
  const std::vector<double> top3 = Top3Probabilities(drawn.shares.main, draws);
  std::vector<ParameterImportance> parameters(count);
  for (std::size_t i = 0; i < count; ++i) {
    ParameterImportance& one = parameters[i];
    one.parameter = static_cast<int>(i);
    one.rank = ranks[i];
    one.main =
        drawn.IntervalOf([i](const MixtureShares& s) { return s.main[i]; });
    one.total =
        drawn.IntervalOf([i](const MixtureShares& s) { return s.total[i]; });
    one.direction = ClearDirectionOf(
        OrderedPart(mixture.axes()[i], MixtureCurveOf(mixture, part, i)));
    if (!part.rising_probability.empty()) {
      const double rising = part.rising_probability[i];
      one.direction_probability = one.direction >= 0.0 ? rising : 1.0 - rising;
    }
    one.top3_probability = top3[i];
  }
  const double chance =
      std::log(kMixtureChanceOfAny / static_cast<double>(count));
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    if (model.terms()[t].size() != 1) continue;
    parameters[model.terms()[t][0]].distinguishable =
        LogChanceOf(model, t) < chance;
  }
  return parameters;
}

}  // namespace

absl::StatusOr<Report> MakeMixtureReport(const LevelEffects& model,
                                         const MixtureModel& mixture,
                                         const SurrogatePart& part,
                                         const MixtureReportOptions& options) {
  DrawnShares drawn{mixture.Shares(), {}};
  if (options.intervals) {
    drawn.draws = mixture.Draw(kMixtureDraws, options.seed, options.stop);
  }
  RETURN_IF_ERROR(CheckStop(options.stop));
  drawn = Blend(std::move(drawn), part.drawn, part.weight);
  Report report;
  report.parameters = DescribeMixture(model, mixture, part, drawn);
  if (options.pairs || !mixture.subsets().empty()) {
    report.pairs = RankPairs(model, mixture, part, drawn);
  }
  report.subsets = DescribeSubsets(model, mixture, drawn, report.pairs);
  if (!options.pairs) report.pairs.clear();
  for (std::size_t g = 0; g < drawn.shares.groups.size(); ++g) {
    report.groups.push_back({"", drawn.IntervalOf([g](const MixtureShares& s) {
                               return s.groups[g];
                             })});
  }
  report.unexplained =
      drawn.IntervalOf([](const MixtureShares& s) { return s.unexplained; });
  report.main_draws.reserve(drawn.draws.size());
  for (MixtureShares& one : drawn.draws) {
    report.main_draws.push_back(std::move(one.main));
  }
  return report;
}

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

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double VarianceOf(const std::vector<double>& targets) {
  const double n = static_cast<double>(targets.size());
  double mean = 0.0;
  for (const double target : targets) mean += target / n;
  double variance = 0.0;
  for (const double t : targets) variance += (t - mean) * (t - mean) / n;
  return variance;
}

double NoiseShare(const LevelEffects& model, const Mixture& mixture,
                  const std::vector<double>& targets) {
  const double variance = VarianceOf(targets);
  if (!(variance > 0.0)) return kNaN;
  double noise = model.ridge().noise() / variance;
  if (!mixture.trees.empty()) noise = std::min(noise, 1.0 - mixture.r2);
  return std::clamp(noise, 0.0, 1.0);
}

// Level effects' part by the variances of what they are of.
std::vector<std::pair<std::string, double>> CarriedBy(const LevelEffects& model,
                                                      const Mixture& mixture,
                                                      double process) {
  if (!(mixture.r2 > 0.0)) return {};
  double main = 0.0;
  double all = 0.0;
  for (std::size_t t = 0; t < model.terms().size(); ++t) {
    const double variance = model.Variance(t);
    all += variance;
    if (model.terms()[t].size() == 1) main += variance;
  }
  const double levels = (1.0 - process) * (1.0 - mixture.forest_part);
  const double part = all > 0.0 ? main / all : 1.0;
  return {{"main effects", levels * part},
          {"interactions", levels * (1.0 - part)},
          {"gaussian process", process},
          {"forest", (1.0 - process) * mixture.forest_part}};
}

// Leaves are at most the trials, each is looked at from many points.
double WorkOfOne(const Dataset& data, const Mixture& mixture) {
  return static_cast<double>(data.rows() * mixture.trees.size() *
                             kMostCombinations);
}

// Where the trials lie that could not be trained.
std::vector<FinePoint> HopelessPoints(
    const std::vector<const Observation*>& diverged,
    const std::vector<MeasuredAxis>& measured,
    const std::vector<FineAxis>& axes) {
  std::vector<FinePoint> hopeless(diverged.size());
  for (std::size_t row = 0; row < diverged.size(); ++row) {
    hopeless[row].reserve(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      const double code = measured[i].CodeOf(diverged[row]->point[i]);
      hopeless[row].push_back(axes[i].NearestTo(code));
    }
  }
  return hopeless;
}

absl::StatusOr<Report> Evaluated(const Space& space, const Selection& selection,
                                 const EvaluateOptions& options,
                                 bool with_others) {
  const Dataset data =
      MakeDataset(MeasureSpace(space), selection.points, selection.losses);
  std::vector<EffectAxis> effect_axes;
  std::vector<FineAxis> axes;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    EffectAndFineAxis both = MakeFineAxis(data.axes[i], data.codes[i]);
    effect_axes.push_back(std::move(both.effect));
    axes.push_back(std::move(both.fine));
  }
  const LevelEffects model(std::move(effect_axes), data.targets, options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  const Mixture mixture = with_others
                              ? FitMixture(data, model,
                                           {options.trees, options.seed,
                                            options.threads, options.stop})
                              : LevelsAlone(model);
  RETURN_IF_ERROR(CheckStop(options.stop));
  const std::vector<LayerGroup> groups = LayerGroups(space);
  std::vector<std::vector<int>> members;
  members.reserve(groups.size());
  for (const LayerGroup& group : groups) members.push_back(group.parameters);
  RETURN_IF_ERROR(CheckSubsetWork(options.subsets, WorkOfOne(data, mixture)));
  const MixtureModel shares(model, axes, mixture, members, options.seed,
                            options.subsets, options.threads, options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  const bool intervals = options.bootstraps > 0;
  const SurrogatePart part =
      with_others ? MakeSurrogatePart(
                        space, model, mixture, shares, members, data.targets,
                        HopelessPoints(selection.diverged, data.axes, axes),
                        {options.seed, intervals, options.stop})
                  : SurrogatePart{};
  RETURN_IF_ERROR(CheckStop(options.stop));
  ASSIGN_OR_RETURN(Report report,
                   MakeMixtureReport(
                       model, shares, part,
                       {options.seed, intervals, options.pairs, options.stop}));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    report.groups[g].group = groups[g].name;
  }
  report.trials_used = static_cast<std::int64_t>(data.rows());
  report.trials_left_out = selection.left_out;
  report.carried_by = CarriedBy(model, mixture, part.weight);
  report.out_of_bag_r2 = with_others ? part.r2 : mixture.r2;
  report.diverged_inform = part.weight > 0.0;
  const double noise = NoiseShare(model, mixture, data.targets);
  report.noise_share = noise + part.weight * (part.noise_share - noise);
  report.warnings = FindWarnings(space, data);
  return report;
}

}  // namespace

absl::StatusOr<Report> EvaluateFanova(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options) {
  return Evaluated(space, selection, options, true);
}

absl::StatusOr<Report> EvaluateLevels(const Space& space,
                                      const Selection& selection,
                                      const EvaluateOptions& options) {
  return Evaluated(space, selection, options, false);
}

}  // namespace frostline::importance

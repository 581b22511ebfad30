// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/mixture_report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "importance/measure/evaluate_options.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/drawn_shares.h"

namespace frostline::importance {
namespace {

constexpr int kMixtureDraws = 1000;
constexpr double kAbsentMixtureCode = -2.0;   // code of an ordered axis
constexpr double kMixtureChanceOfAny = 0.05;  // for a parameter to look real

// Of an ordered axis the curve where the parameter is there.
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

}  // namespace frostline::importance

// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/fanova_evaluator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "importance/cells.h"
#include "importance/measure/numbers.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/mixture_model.h"
#include "importance/mixture/subsets.h"
#include "importance/mixture/surrogate_part.h"

namespace frostline::importance {
namespace {

constexpr int kMixtureDraws = 1000;
constexpr int kCheapMixtureDraws = 200;
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

// Returns the main effect by code, of the mixture and the part together.
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

constexpr double kLeastKnown = 0.25;  // of what a term's evidence tells

// Moves the upper ends to what a pair may have that did not enter the level
// effects: to where its estimate would be low by `z` deviations. These grow
// with what the pair has.
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

// Returns what to multiply evidence by to have a share. Evidence is measured in
// residuals, which are too small: some noise went into the coefficients, and
// some effects into other terms.
double UnitOfEvidence(const LevelEffects& model, const MixtureModel& mixture,
                      double variance) {
  const GroupedRidge& ridge = model.ridge();
  const double seen = ridge.ResidualVariance();
  if (!(seen > 0.0) || !(variance > 0.0)) return 0.0;
  return std::max(ridge.noise(), mixture.MissedByLevels()) / seen / variance;
}

// Returns the pairs, strongest first.
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

// Describes the asked subsets. What a set of two has beyond its parts is what
// the report says of the pair.
std::vector<SubsetImportance> DescribeSubsets(
    const LevelEffects& model, const MixtureModel& mixture,
    const DrawnShares& drawn, const std::vector<PairImportance>& pairs) {
  const double unit = UnitOfEvidence(model, mixture, drawn.shares.variance);
  std::vector<SubsetImportance> described(mixture.subsets().size());
  for (std::size_t s = 0; s < described.size(); ++s) {
    const std::vector<int>& subset = mixture.subsets()[s];
    const auto interval = [&](double SubsetVariance::* field, bool own) {
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
    one.together = interval(&SubsetVariance::together, false);
    if (subset.size() != 2) {
      one.beyond = interval(&SubsetVariance::beyond, true);
    } else if (const auto* const pair = FindPair(pairs, subset)) {
      one.beyond = pair->share;
    }
  }
  return described;
}

struct MixtureReportOptions {
  std::uint64_t seed = 0;
  int draws = kMixtureDraws;  // 0: no intervals
  bool pairs = true;
  std::stop_token stop = {};
};

// Fills in parameters, pairs, groups (without names), subsets, unexplained and
// main_draws. CANCELLED after a stop.
absl::StatusOr<Report> MakeMixtureReport(const LevelEffects& model,
                                         const MixtureModel& mixture,
                                         const SurrogatePart& part,
                                         const MixtureReportOptions& options) {
  DrawnShares drawn{mixture.Shares(), {}};
  if (options.draws > 0) {
    drawn.draws = mixture.Draw(options.draws, options.seed, options.stop);
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

// Returns which model carries how much of the answer, by name. Level effects
// are divided by the variances of their terms.
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

// Returns the steps that one subset takes at most. A tree has no more leaves
// than trials, and each leaf is looked at from many points.
double WorkOfOne(const Dataset& data, const Mixture& mixture) {
  return static_cast<double>(data.rows() * mixture.trees.size() *
                             kMostCombinations);
}

// Returns where the trials lie that could not be trained.
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

constexpr std::size_t kMostLeads = 3;

// Returns, for the first one, two and three by rank, the rows without which
// another would be among them (Report::lead_rests_on).
std::vector<std::vector<std::size_t>> FindRowsOfLeads(
    const surrogate::Influence& influence,
    const std::vector<ParameterImportance>& parameters,
    const EvaluateOptions& options) {
  const std::size_t most = std::min(kMostLeads, parameters.size() - 1);
  std::vector<std::vector<std::size_t>> rows(most);
  ParallelFor(
      options.threads, most,
      [&](std::size_t lead) {
        const int count = static_cast<int>(lead) + 1;
        const auto margin = [&](const surrogate::Loss& lost) {
          const std::vector<double> shares =
              influence.MainVariancesWithout(lost);
          double least = std::numeric_limits<double>::infinity();
          double most_of_others = 0.0;
          for (std::size_t i = 0; i < shares.size(); ++i) {
            if (parameters[i].rank <= count) {
              least = std::min(least, shares[i]);
            } else {
              most_of_others = std::max(most_of_others, shares[i]);
            }
          }
          return least - most_of_others;
        };
        // Where the process itself has another order, others than it decide.
        if (margin({}) < 0.0) return;
        rows[lead] = influence.FindBreaking(margin, options.stop)
                         .value_or(std::vector<std::size_t>{});
      },
      options.stop);
  return rows;
}

std::vector<std::vector<std::int64_t>> FindTrialsOfLeads(
    const Selection& selection, const SurrogatePart& part,
    const std::vector<ParameterImportance>& parameters,
    const EvaluateOptions& options) {
  std::vector<std::vector<std::int64_t>> leads;
  if (part.influence == nullptr) return leads;
  const std::size_t usable = selection.trials.size();
  for (const auto& rows :
       FindRowsOfLeads(*part.influence, parameters, options)) {
    std::vector<std::int64_t>& trials = leads.emplace_back();
    for (const std::size_t row : rows) {
      trials.push_back(row < usable ? selection.trials[row]->number
                                    : selection.diverged[row - usable]->number);
    }
    std::sort(trials.begin(), trials.end());
  }
  return leads;
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
  const std::vector<LayerGroup> groups = LayerGroups(space);
  std::vector<std::vector<int>> members;
  members.reserve(groups.size());
  for (const LayerGroup& group : groups) members.push_back(group.parameters);
  const std::vector<FinePoint> hopeless =
      HopelessPoints(selection.diverged, data.axes, axes);
  const bool intervals = options.bootstraps > 0;
  const int draws = intervals                 ? kMixtureDraws
                    : options.cheap_intervals ? kCheapMixtureDraws
                                              : 0;
  // Neither needs the other before both are weighed. The process comes first,
  // since it takes longer.
  std::optional<FittedProcess> process;
  std::optional<LevelEffects> levels;
  Mixture mixture;
  std::optional<MixtureModel> fitted;
  absl::Status is_too_much;
  ParallelFor(options.threads, 2, [&](std::size_t which) {
    if (which == 0) {
      if (!with_others) return;
      process =
          FitProcess(space, effect_axes, axes, data.targets, hopeless,
                     {options.seed, intervals, options.stop, options.threads});
      return;
    }
    levels.emplace(effect_axes, data.targets, options.stop);
    if (options.stop.stop_requested()) return;
    mixture = with_others ? FitMixture(data, *levels,
                                       {options.trees, options.seed,
                                        options.threads, options.stop})
                          : LevelsAlone(*levels);
    if (options.stop.stop_requested()) return;
    is_too_much = CheckSubsetWork(options.subsets, WorkOfOne(data, mixture));
    if (!is_too_much.ok()) return;
    fitted.emplace(*levels, axes, mixture, members, options.seed,
                   options.subsets, options.threads, options.stop);
  });
  RETURN_IF_ERROR(CheckStop(options.stop));
  RETURN_IF_ERROR(is_too_much);
  const LevelEffects& model = *levels;
  const MixtureModel& shares = *fitted;
  const SurrogatePart part = MakeSurrogatePart(process, model, mixture, shares,
                                               members, data.targets, hopeless);
  RETURN_IF_ERROR(CheckStop(options.stop));
  ASSIGN_OR_RETURN(
      Report report,
      MakeMixtureReport(model, shares, part,
                        {options.seed, draws, options.pairs, options.stop}));
  for (std::size_t g = 0; g < groups.size(); ++g) {
    report.groups[g].group = groups[g].name;
  }
  report.lead_rests_on =
      FindTrialsOfLeads(selection, part, report.parameters, options);
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

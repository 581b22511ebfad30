// SPDX-License-Identifier: Apache-2.0
#include "importance/mixture/fanova_evaluator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "importance/measure/depth.h"
#include "importance/mixture/mixture_report.h"
#include "importance/mixture/subsets.h"
#include "importance/report/warnings.h"

namespace frostline::importance {
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

// SPDX-License-Identifier: Apache-2.0
#include "importance/curves.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "importance/measure/dataset.h"
#include "importance/measure/numbers.h"
#include "importance/measure/selection.h"

namespace frostline::importance {
namespace {

constexpr double kNormal80 = 1.281552;
constexpr double kNormal95 = 1.959964;

}  // namespace

FittedLevels::FittedLevels(const Space& space, Selection selection,
                           const std::stop_token& stop)
    : selection_(std::move(selection)), objective_(*selection_.target) {
  const Dataset data =
      MakeDataset(MeasureSpace(space), selection_.points, selection_.losses);
  std::vector<EffectAxis> axes;
  for (std::size_t i = 0; i < data.axes.size(); ++i) {
    CutAxis cut = CutIntoValues(space.parameters()[i].domain, data.axes[i],
                                data.codes[i]);
    axes.push_back(std::move(cut.effect));
    values_.push_back(std::move(cut.values));
    value_of_row_.push_back(std::move(cut.value_of_row));
  }
  const auto [lowest, highest] =
      std::minmax_element(selection_.losses.begin(), selection_.losses.end());
  middle_ = *lowest / 2.0 + *highest / 2.0;
  radius_ = *highest / 2.0 - *lowest / 2.0;
  const double rows = static_cast<double>(data.rows());
  const double mean =
      std::accumulate(data.targets.begin(), data.targets.end(), 0.0) / rows;
  model_ = std::make_unique<LevelEffects>(std::move(axes), data.targets, stop);
  surface_ = std::make_unique<EffectSurface>(*model_, mean);
  freedom_ = std::max(rows - model_->ridge().degrees_of_freedom(), 2.0);
}

double FittedLevels::ScoreOf(double loss) const {
  // AsLoss is its own inverse.
  return AsLoss(objective_, middle_ + radius_ * loss);
}

Interval FittedLevels::Around(double mean, double deviation) const {
  const double wide80 = StudentQuantile(kNormal80, freedom_) * deviation;
  const double wide95 = StudentQuantile(kNormal95, freedom_) * deviation;
  return {mean, mean - wide80, mean + wide80, mean - wide95, mean + wide95};
}

Interval FittedLevels::ScoreInterval(const Belief& loss) const {
  return Around(ScoreOf(loss.mean), radius_ * loss.deviation);
}

absl::StatusOr<FittedLevels> FitLevels(const Space& space,
                                       const std::vector<Objective>& objectives,
                                       const History& history,
                                       const EvaluateOptions& options) {
  RETURN_IF_ERROR(CheckTopQuantile(options.top_quantile));
  ASSIGN_OR_RETURN(Selection selection,
                   SelectTrials(space, objectives, history, options));
  TakeOff(FindSharedLuck(selection), selection);
  FittedLevels fitted(space, std::move(selection), options.stop);
  RETURN_IF_ERROR(CheckStop(options.stop));
  return fitted;
}

namespace {

MarginalCurve CurveOf(const FittedLevels& fitted, std::size_t axis) {
  MarginalCurve curve;
  curve.parameter = static_cast<int>(axis);
  curve.points.reserve(fitted.values(axis).size());
  curve.best = kAbsent;
  double lowest = 0.0;
  for (const AxisValue& value : fitted.values(axis)) {
    const Belief loss = fitted.surface().Marginal({axis}, {value.cell});
    curve.points.push_back(
        {value.value, fitted.ScoreInterval(loss), value.trials});
    // To be absent is no choice that anybody makes.
    if (IsAbsent(value.value)) continue;
    if (IsAbsent(curve.best) || loss.mean < lowest) {
      curve.best = value.value;
      lowest = loss.mean;
    }
  }
  return curve;
}

absl::Status CheckAxis(const Space& space, int axis, const std::string& name) {
  if (axis >= 0 && axis < space.size()) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid, absl::StrCat("there is no parameter ", axis),
      absl::StrCat("give a number from 0 to ", space.size() - 1), name);
}

}  // namespace

absl::StatusOr<std::vector<MarginalCurve>> MarginalCurves(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(const FittedLevels fitted,
                   FitLevels(space, objectives, history, options));
  std::vector<MarginalCurve> curves;
  curves.reserve(space.parameters().size());
  for (std::size_t i = 0; i < space.parameters().size(); ++i) {
    RETURN_IF_ERROR(CheckStop(options.stop));
    curves.push_back(CurveOf(fitted, i));
  }
  RETURN_IF_ERROR(CheckStop(options.stop));
  return curves;
}

absl::StatusOr<MarginalTable> PairTable(
    const Space& space, const std::vector<Objective>& objectives,
    const History& history, const EvaluateOptions& options, int first,
    int second) {
  RETURN_IF_ERROR(CheckAxis(space, first, "first"));
  RETURN_IF_ERROR(CheckAxis(space, second, "second"));
  if (first == second) {
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("parameter ", first, " is named twice"),
                     "name two parameters", "second");
  }
  ASSIGN_OR_RETURN(const FittedLevels fitted,
                   FitLevels(space, objectives, history, options));
  const auto a = static_cast<std::size_t>(first);
  const auto b = static_cast<std::size_t>(second);
  MarginalTable table;
  table.first = first;
  table.second = second;
  for (const AxisValue& row : fitted.values(a)) {
    table.first_values.push_back(row.value);
    for (const AxisValue& column : fitted.values(b)) {
      table.expected.push_back(fitted.ScoreOf(
          fitted.surface().Marginal({a, b}, {row.cell, column.cell}).mean));
    }
  }
  table.second_values.reserve(fitted.values(b).size());
  for (const AxisValue& column : fitted.values(b)) {
    table.second_values.push_back(column.value);
  }
  table.trials.resize(table.expected.size(), 0);
  for (std::size_t row = 0; row < fitted.trials().size(); ++row) {
    ++table.trials[fitted.value_of_row(a)[row] * table.second_values.size() +
                   fitted.value_of_row(b)[row]];
  }
  return table;
}

}  // namespace frostline::importance

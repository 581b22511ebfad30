// SPDX-License-Identifier: Apache-2.0
#include "importance/curves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "importance/curves/marginal_curves.h"

namespace frostline::importance {
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

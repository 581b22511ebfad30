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
#include "statistics/law.h"

namespace frostline::importance {

TermTable::TermTable(const std::vector<EffectAxis>& axes, EffectTerm term)
    : term_(std::move(term)) {
  const std::size_t rows = axes[term_[0]].cell_of_row.size();
  std::vector<EffectAxis> own;
  EffectTerm places;
  std::size_t combinations = 1;
  for (const std::size_t axis : term_) {
    places.push_back(own.size());
    own.push_back(axes[axis]);
    sizes_.push_back(axes[axis].cells());
    combinations *= sizes_.back();
  }
  std::vector<double> masses;
  for (std::size_t c = 0; c < combinations; ++c) {
    masses.push_back(1.0);
    std::size_t rest = c;
    for (std::size_t i = own.size(); i-- > 0;) {
      const std::size_t cell = rest % sizes_[i];
      rest /= sizes_[i];
      own[i].cell_of_row.push_back(static_cast<std::uint16_t>(cell));
      masses.back() *= own[i].masses[cell];
    }
  }
  // The combinations go through the same door as the trials, after them.
  const std::vector<double> all = CentredColumns(own, places);
  const std::size_t length = rows + combinations;
  average_.assign(all.size() / length, 0.0);
  columns_.resize(combinations * width());
  for (std::size_t f = 0; f < width(); ++f) {
    const double* const column = &all[f * length];
    double mean = 0.0;
    for (std::size_t row = 0; row < rows; ++row) mean += column[row];
    mean /= static_cast<double>(rows);
    for (std::size_t c = 0; c < combinations; ++c) {
      const double value = column[rows + c] - mean;
      columns_[c * width() + f] = value;
      average_[f] += masses[c] * value;
    }
  }
}

void TermTable::SetEffect(const double* coefficients) {
  effect_.clear();
  for (std::size_t at = 0; at < columns_.size(); at += width()) {
    effect_.push_back(Dot(&columns_[at], coefficients, width()));
  }
}

std::size_t TermTable::CombinationOf(const EffectCells& cells) const {
  std::size_t combination = 0;
  for (std::size_t i = 0; i < term_.size(); ++i) {
    combination = combination * sizes_[i] + cells[term_[i]];
  }
  return combination;
}

namespace {

// A term of less variance than this looks like none to any estimate. The unit
// is the noise of one trial, spread over all trials.
constexpr double kHiddenVariance = 2.0;

double NoiseOfMean(const GroupedRidge& ridge) {
  return ridge.noise() / static_cast<double>(ridge.residuals().size());
}

}  // namespace

EffectSurface::EffectSurface(const LevelEffects& model, double mean_target)
    : model_(model),
      mean_target_(mean_target),
      mean_variance_(NoiseOfMean(model.ridge())),
      posterior_(model.ridge(), kHiddenVariance * model.AmplitudeVariance()),
      depends_(model.axes().size(), false),
      room_variance_(model.axes().size(), 0.0) {
  std::size_t begin = 0;
  for (const EffectTerm& term : model.terms()) {
    for (const std::size_t axis : term) depends_[axis] = true;
    tables_.emplace_back(model.axes(), term);
    tables_.back().SetEffect(&posterior_.coefficients()[begin]);
    begin += tables_.back().width();
  }
  for (std::size_t i = 0; i < depends_.size(); ++i) {
    if (depends_[i] || model.axes()[i].functions == 0) continue;
    const TermEvidence evidence =
        WeighTerm(model.axes(), {i}, DesignOf(model.axes(), {i}),
                  model.ridge().residuals(), model.ridge().ResidualVariance());
    room_variance_[i] = std::max(evidence.variance, 0.0) + evidence.deviation;
  }
}

void EffectSurface::AddColumns(const EffectCells& cells, double factor,
                               std::vector<double>& weights) const {
  std::size_t at = 0;
  for (const TermTable& table : tables_) {
    const double* const row = table.Columns(cells);
    for (std::size_t f = 0; f < table.width(); ++f) {
      weights[at++] += factor * row[f];
    }
  }
}

double EffectSurface::RoomVariance(std::size_t axis, std::size_t cell) const {
  const EffectAxis& of = model_.axes()[axis];
  return room_variance_[axis] > 0.0
             ? room_variance_[axis] * of.kernel[cell * (of.cells() + 1)]
             : 0.0;
}

double EffectSurface::Mean(const EffectCells& cells) const {
  double mean = mean_target_;
  for (const TermTable& table : tables_) mean += table.Effect(cells);
  return mean;
}

Belief EffectSurface::At(const EffectCells& cells) const {
  std::vector<double> weights(model_.ridge().columns(), 0.0);
  AddColumns(cells, 1.0, weights);
  double variance = mean_variance_ + posterior_.Variance(weights);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    variance += RoomVariance(i, cells[i]);
  }
  return {mean_target_ + posterior_.Mean(weights), std::sqrt(variance)};
}

Belief EffectSurface::Difference(const EffectCells& from,
                                 const EffectCells& to) const {
  std::vector<double> weights(model_.ridge().columns(), 0.0);
  AddColumns(to, 1.0, weights);
  AddColumns(from, -1.0, weights);
  double variance = posterior_.Variance(weights);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    variance += RoomVariance(i, from[i]) + RoomVariance(i, to[i]);
  }
  return {posterior_.Mean(weights), std::sqrt(variance)};
}

Belief EffectSurface::Marginal(const std::vector<std::size_t>& axes,
                               const EffectCells& cells) const {
  EffectCells at(model_.axes().size(), 0);
  double variance = mean_variance_;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    at[axes[i]] = cells[i];
    variance += RoomVariance(axes[i], cells[i]);
  }
  std::vector<double> weights;
  for (const TermTable& table : tables_) {
    // Effects are orthogonal: averaged over one axis, a term is averaged out.
    const EffectTerm& term = table.term();
    const bool whole =
        std::all_of(term.begin(), term.end(), [&axes](std::size_t axis) {
          return std::find(axes.begin(), axes.end(), axis) != axes.end();
        });
    const double* const row =
        whole ? table.Columns(at) : table.average().data();
    weights.insert(weights.end(), row, row + table.width());
  }
  variance += posterior_.Variance(weights);
  return {mean_target_ + posterior_.Mean(weights), std::sqrt(variance)};
}

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
  const double wide80 =
      statistics::StudentFromNormal(kNormal80, freedom_) * deviation;
  const double wide95 =
      statistics::StudentFromNormal(kNormal95, freedom_) * deviation;
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

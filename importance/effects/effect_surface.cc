// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/effect_surface.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "importance/measure/numbers.h"

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

// By how much of a term's variance no estimate can tell it from none, in parts
// of the noise of one trial spread over all.
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

}  // namespace frostline::importance

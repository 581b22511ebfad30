// SPDX-License-Identifier: Apache-2.0
#include "importance/effects/term_table.h"

#include <utility>

#include "importance/measure/small_matrix.h"

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

}  // namespace frostline::importance

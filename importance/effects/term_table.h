// SPDX-License-Identifier: Apache-2.0
//
// File: term_table.h
//
// The columns of one term wherever they could be asked for: in every
// combination of its axes' cells, centred as those of the trials are.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_

#include <cstddef>
#include <vector>

#include "importance/effects/level_effects_term.h"

namespace frostline::importance {

// A cell for each axis of a model.
using EffectCells = std::vector<std::size_t>;

class TermTable {
 public:
  TermTable(const std::vector<EffectAxis>& axes, EffectTerm term);

  const EffectTerm& term() const { return term_; }
  std::size_t width() const { return average_.size(); }
  // Of the combination in `cells`: `width` columns.
  const double* Columns(const EffectCells& cells) const {
    return &columns_[CombinationOf(cells) * width()];
  }
  // Of the whole space.
  const std::vector<double>& average() const { return average_; }

  // Remembers what comes of these coefficients, one for each column.
  void SetEffect(const double* coefficients);
  double Effect(const EffectCells& cells) const {
    return effect_[CombinationOf(cells)];
  }

 private:
  std::size_t CombinationOf(const EffectCells& cells) const;

  EffectTerm term_;
  std::vector<std::size_t> sizes_;  // cells of the term's axes
  std::vector<double> columns_;     // the last axis's cell fastest
  std::vector<double> average_;
  std::vector<double> effect_;  // of each combination
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_

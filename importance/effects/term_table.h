// SPDX-License-Identifier: Apache-2.0
//
// File: term_table.h
//
// It holds a term's columns for every combination of cells, centred as the
// trials' are.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_

#include <cstddef>
#include <vector>

#include "importance/effects/level_effects_term.h"

namespace frostline::importance {

using EffectCells = std::vector<std::size_t>;  // by axis

class TermTable {
 public:
  TermTable(const std::vector<EffectAxis>& axes, EffectTerm term);

  const EffectTerm& term() const { return term_; }
  std::size_t width() const { return average_.size(); }
  const double* Columns(const EffectCells& cells) const {
    return &columns_[CombinationOf(cells) * width()];
  }
  const std::vector<double>& average() const { return average_; }  // by mass

  void SetEffect(const double* coefficients);
  double Effect(const EffectCells& cells) const {
    return effect_[CombinationOf(cells)];
  }

 private:
  std::size_t CombinationOf(const EffectCells& cells) const;

  EffectTerm term_;
  std::vector<std::size_t> sizes_;
  std::vector<double> columns_;  // the last axis's cell fastest
  std::vector<double> average_;
  std::vector<double> effect_;  // by combination
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_TERM_TABLE_H_

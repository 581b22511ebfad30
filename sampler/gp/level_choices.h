// SPDX-License-Identifier: Apache-2.0
//
// File: level_choices.h
//
// Chooses cells for a proposal, also on axes that a condition switches off, for
// when they are switched on again.
#ifndef FROSTLINE_SAMPLER_GP_LEVEL_CHOICES_H_
#define FROSTLINE_SAMPLER_GP_LEVEL_CHOICES_H_

#include <cstddef>
#include <vector>

#include "base/rng.h"
#include "sampler/gp/level_axis.h"
#include "study/space.h"

namespace frostline::sampler {

// It keeps references.
class LevelChoices {
 public:
  LevelChoices(const Space& space, const std::vector<LevelAxis>& axes,
               Rng& rng);

  Cells Draw();
  Cells Vary(Cells from, double share);
  // Draws where an axis was switched off.
  void Complete(Cells& choices);

  Point PointOf(const Cells& choices) const;
  // Takes any value of each cell, not the middle.
  Point DrawPointOf(const Cells& choices);

  // Puts axes that are switched off in their last cell. `active` is left alone
  // when none can be off.
  Cells ActiveCells(const Cells& choices, std::vector<bool>& active) const;

  // Says whether conditions hang on it.
  bool IsParent(std::size_t axis) const { return is_parent_[axis]; }

  // Returns every cell or, of a long line, every fourth and those near `now`.
  std::vector<int> CellsToLook(std::size_t axis, int now) const;

 private:
  std::uint8_t DrawChoice(const LevelAxis& axis);
  Point MakePoint(const Cells& choices, Rng* any) const;

  const Space& space_;
  const std::vector<LevelAxis>& axes_;
  Rng& rng_;
  bool conditional_;
  std::vector<bool> is_parent_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LEVEL_CHOICES_H_

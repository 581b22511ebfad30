// SPDX-License-Identifier: Apache-2.0
//
// File: survival.h
//
// What decides whether a run can be trained. The values of one parameter are
// split in two (frozen or trained, below a rate or from it on, one choice or
// the others); a split decides if trials fail on one side far more often than
// chance would have it, by the exact test of a two by two table (Fisher, 1935)
// with the level divided among all splits that were looked at (Bonferroni).
//
//   layer.1 trained: 42 failed, 0 ran;  frozen: 0 failed, 18 ran
#ifndef FROSTLINE_IMPORTANCE_MEASURE_SURVIVAL_H_
#define FROSTLINE_IMPORTANCE_MEASURE_SURVIVAL_H_

#include <cstdint>
#include <optional>
#include <string>

#include "importance/measure/selection.h"
#include "study/space.h"

namespace frostline::importance {

// Trials on one side of a split.
struct SideOfSplit {
  std::int64_t failed = 0;
  std::int64_t out_of_memory = 0;  // of those that failed
  std::int64_t ran = 0;
  std::int64_t trials() const { return failed + ran; }
  // The chance that a run survives: the mean of its posterior, with a flat
  // prior.
  double ChanceToRun() const {
    return static_cast<double>(ran + 1) / static_cast<double>(trials() + 2);
  }
};

// The split that tells most of who survives. Points without a value for its
// parameter are on neither side.
struct SurvivalSplit {
  int parameter = 0;
  bool is_choice = false;  // else from `value` on, along the order
  bool of_freezing =
      false;             // of a rate: frozen on one side, trained on the other
  double value = 0.0;    // as a point has it
  bool fails_at = true;  // at the value and from it on; else on the other side
  SideOfSplit bad;       // where more fail
  SideOfSplit good;
  std::string sentence;  // "layer.1 decides whether a run survives: …"

  bool IsBad(const Point& point) const;
  // Returns 1 for a point on neither side.
  double ChanceAt(const Point& point) const;
};

// Returns nullopt where none decides. Trials that failed are the selection's
// diverged ones.
std::optional<SurvivalSplit> FindSurvivalSplit(const Space& space,
                                               const Selection& selection);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MEASURE_SURVIVAL_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: unseen_effects.h
//
// What residuals that are alike in the same cells show of the terms that did
// not enter a model of level effects, all of them together.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_

#include "base/rng.h"
#include "importance/effects/level_effects.h"

namespace frostline::importance {

class UnseenEffects {
 public:
  explicit UnseenEffects(const LevelEffects& model);

  // Expected variance, and one draw of it; no more than what looks like noise.
  double Expected() const;
  double Draw(Rng& rng) const;

 private:
  void WeighNone();

  double variance_ = 0.0;   // as the residuals have it, also below 0
  double deviation_ = 0.0;  // of that
  double most_ = 0.0;
  // Chance that there are none, if that was as likely as not before.
  double none_ = 1.0;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_

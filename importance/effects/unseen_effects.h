// SPDX-License-Identifier: Apache-2.0
//
// File: unseen_effects.h
//
// Residuals alike in the same cells show something of all terms that did not
// enter, together.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_

#include "base/rng.h"
#include "importance/effects/level_effects.h"

namespace frostline::importance {

class UnseenEffects {
 public:
  explicit UnseenEffects(const LevelEffects& model);

  // Is at most what looks like noise.
  double Expected() const;
  double Draw(Rng& rng) const;

 private:
  void WeighNone();

  double variance_ = 0.0;  // also below 0
  double deviation_ = 0.0;
  double most_ = 0.0;
  double none_ = 1.0;  // chance of none, from even odds
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_UNSEEN_EFFECTS_H_

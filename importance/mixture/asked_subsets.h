// SPDX-License-Identifier: Apache-2.0
//
// File: asked_subsets.h
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_ASKED_SUBSETS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_ASKED_SUBSETS_H_

#include <cstddef>
#include <vector>

#include "importance/effects/level_effects.h"
#include "importance/measure/named_subsets.h"
#include "importance/mixture/tree_effects.h"

namespace frostline::importance {

struct AskedSubset {
  std::vector<std::size_t> axes;   // rising
  std::vector<std::size_t> pairs;  // of the list of pairs
  std::vector<std::size_t> terms;  // of the model, of three and more axes
  bool is_sought = false;          // level effects looked for such a term
};

std::vector<AskedSubset> FindAsked(const LevelEffects& model,
                                   const std::vector<AxisPair>& pairs,
                                   const NamedSubsets& subsets);

// Residuals tell of all terms that did not enter, together.
struct LeftOutEvidence {
  TermEvidence evidence;
  double functions = 0.0;  // that span them; 0: no terms
};

// Takes the set's own term (`own`), or all within it.
LeftOutEvidence LeftOutWithin(const LevelEffects& model,
                              const std::vector<int>& subset, bool own);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_ASKED_SUBSETS_H_

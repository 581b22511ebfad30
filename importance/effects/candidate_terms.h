// SPDX-License-Identifier: Apache-2.0
//
// File: candidate_terms.h
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_CANDIDATE_TERMS_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_CANDIDATE_TERMS_H_

#include <cstddef>
#include <vector>

#include "importance/effects/level_effects_term.h"

namespace frostline::importance {

// Returns the pairs and triples that level effects look for: of few trials
// none, of many triples too, of small tables. `weight` is that of main effects.
std::vector<EffectTerm> CandidateTerms(const std::vector<EffectAxis>& axes,
                                       const std::vector<double>& weight,
                                       std::size_t rows);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_CANDIDATE_TERMS_H_

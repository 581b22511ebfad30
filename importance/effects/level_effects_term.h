// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_term.h
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_

#include <cstddef>
#include <vector>

#include "importance/cells.h"

namespace frostline::importance {

using EffectTerm = std::vector<std::size_t>;  // axes, rising

std::size_t WidthOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term);

// Returns the functions at the trials, one after the other, times the root of
// prior variance (these add up to 1), less its mean.
std::vector<double> CentredColumns(const std::vector<EffectAxis>& axes,
                                   const EffectTerm& term);

std::vector<double> PriorOf(const std::vector<EffectAxis>& axes,
                            const EffectTerm& term);

// Residuals say this of a term not in the model.
struct TermEvidence {
  double variance = 0.0;  // without bias, so also below 0
  double deviation = 0.0;
  double log_p = 0.0;  // ln of the chance of so much
};

// It says how the trials lie in the term's cells.
struct TermDesign {
  double trace = 0.0;    // of its prior variance, over the trials
  double freedom = 0.0;  // of the evidence; 0: none can be had
};
TermDesign DesignOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term);

// Residuals have mean 0 and this variance. Costs O(trials + cells · cells of an
// axis).
TermEvidence WeighTerm(const std::vector<EffectAxis>& axes,
                       const EffectTerm& term, const TermDesign& design,
                       const std::vector<double>& residuals, double variance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects_term.h
//
// One term of the decomposition: the effect that one, two or three parameters
// have together beyond what fewer of them have.
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_

#include <cstddef>
#include <vector>

#include "importance/cells/level_effects_axis.h"

namespace frostline::importance {

using EffectTerm = std::vector<std::size_t>;  // axes, rising

// How many functions span it: the product over its axes.
std::size_t WidthOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term);

// Those functions at the trials, one after the other, each times the root of
// its prior variance (which add up to 1), less its mean over the trials.
std::vector<double> CentredColumns(const std::vector<EffectAxis>& axes,
                                   const EffectTerm& term);

// The prior variances of those functions.
std::vector<double> PriorOf(const std::vector<EffectAxis>& axes,
                            const EffectTerm& term);

// What residuals say of a term that is not in the model.
struct TermEvidence {
  double variance = 0.0;  // of its effect; without bias, so also below 0
  double deviation = 0.0;
  double log_p = 0.0;  // chance of so much where there is nothing
};

// How the trials lie in the cells of a term, whatever came of them.
struct TermDesign {
  double trace = 0.0;    // of the term's prior variance, over the trials
  double freedom = 0.0;  // what evidence is told apart by; 0: nothing can be
};
TermDesign DesignOf(const std::vector<EffectAxis>& axes,
                    const EffectTerm& term);

// `residuals` have mean 0 and this variance. Costs O(trials + cells · cells of
// an axis).
TermEvidence WeighTerm(const std::vector<EffectAxis>& axes,
                       const EffectTerm& term, const TermDesign& design,
                       const std::vector<double>& residuals, double variance);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_TERM_H_

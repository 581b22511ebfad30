// SPDX-License-Identifier: Apache-2.0
//
// File: evenness.h
//
// How evenly trials lie over one parameter, counted in parts of it: absent,
// frozen, and of the rest every value, or eighths of it where there are more.
#ifndef FROSTLINE_IMPORTANCE_EVENNESS_H_
#define FROSTLINE_IMPORTANCE_EVENNESS_H_

#include <vector>

#include "importance/measured_axis.h"

namespace frostline {

struct Evenness {
  // ln of the chance that uniform trials lie at least as unevenly (Pearson's
  // test); 0 where the parameter cannot vary.
  double log_chance = 0.0;
  // So many trials, spread evenly, would tell as much of a mean over the whole
  // parameter: (Σw)² / Σw² with weights that make up for how often each part
  // was tried (Kish, "Survey Sampling", 1965, §11.7). A part that nobody tried
  // counts as tried half a time. At most the trials there are.
  double effective_trials = 0.0;
};

// `codes` are those of `axis`, one for each trial; at least one.
Evenness FindEvenness(const MeasuredAxis& axis,
                      const std::vector<double>& codes);

}  // namespace frostline

#endif  // FROSTLINE_IMPORTANCE_EVENNESS_H_

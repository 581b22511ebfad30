// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects.h
//
// The target is a sum of effects, shrunk as the trials ask for:
//
//   y = mean + sum over terms t of f_t(x) + noise
//   f_t = sum over functions k of b_tk phi_k,   b_tk ~ N(0, v_t w_k)
//
// A term is a parameter, or a pair or triple of which the trials show
// something; phi_k are orthonormal over its cells (cells.h).
// Variances v_t and noise come from the trials (grouped_ridge.h): v_t is what
// endless trials would show.
//
//   LevelEffects model(axes, targets);
//   model.Variance(0);   // of the main effect of axis 0
#ifndef FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_H_
#define FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_H_

#include <cstddef>
#include <stop_token>
#include <vector>

#include "importance/cells.h"
#include "importance/effects/grouped_ridge.h"
#include "importance/effects/level_effects_term.h"

namespace frostline::importance {

struct LeftOutTerm {  // a candidate that did not enter
  EffectTerm term;
  TermEvidence evidence;  // deviation 0: nothing can be said
  TermDesign design;
};

class LevelEffects {
 public:
  // After a stop terms are missing, and variances have not settled. REQUIRES:
  // there is a finite target for each trial, and a trial.
  LevelEffects(std::vector<EffectAxis> axes, std::vector<double> targets,
               const std::stop_token& stop = {});

  const std::vector<EffectAxis>& axes() const { return axes_; }
  // Has main effects first, then others as they entered.
  const std::vector<EffectTerm>& terms() const { return terms_; }
  const std::vector<LeftOutTerm>& left_out() const { return left_out_; }
  const GroupedRidge& ridge() const { return ridge_; }

  // Is expected, over the space.
  double Variance(std::size_t t) const;
  // Goes by cells of its axes, the last axis fastest.
  std::vector<double> Table(std::size_t t) const;
  std::vector<double> Curve(std::size_t t) const { return Table(t); }
  // Divides one trial's noise by the trials not spent on effects: so uncertain
  // are roots of variances.
  double AmplitudeVariance() const;

 private:
  void AddMainEffects(const std::stop_token& stop);
  void ChooseGrading();
  bool AddStrongest(const std::stop_token& stop);
  void Weigh(const std::stop_token& stop);
  void AddTerm(const EffectTerm& term);

  std::vector<EffectAxis> axes_;
  GroupedRidge ridge_;
  std::size_t rows_;
  std::vector<EffectTerm> terms_;
  std::vector<LeftOutTerm> left_out_;
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_EFFECTS_LEVEL_EFFECTS_H_

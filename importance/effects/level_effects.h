// SPDX-License-Identifier: Apache-2.0
//
// File: level_effects.h
//
// A model of the target as a sum of effects, shrunk as far as the trials ask:
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

// What residuals say about a term that is not in the model.
struct TermEvidence {
  double variance = 0.0;  // without bias, so also below 0
  double deviation = 0.0;
  double log_p = 0.0;  // ln of the chance of so much
};

// How the trials lie in the cells of a term.
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

// Returns the pairs and triples that level effects look for: with few trials
// none, with many also triples of small tables. `weight` is that of main
// effects.
std::vector<EffectTerm> CandidateTerms(const std::vector<EffectAxis>& axes,
                                       const std::vector<double>& weight,
                                       std::size_t rows);

struct LeftOutTerm {  // a candidate that did not enter
  EffectTerm term;
  TermEvidence evidence;  // deviation 0: nothing can be said
  TermDesign design;
};

// The model itself, fitted when it is made.
class LevelEffects {
 public:
  // After a stop terms are missing, and variances have not settled. REQUIRES:
  // there is a finite target for each trial, and a trial.
  LevelEffects(std::vector<EffectAxis> axes, std::vector<double> targets,
               const std::stop_token& stop = {});

  const std::vector<EffectAxis>& axes() const { return axes_; }
  // Returns main effects first, then others as they entered.
  const std::vector<EffectTerm>& terms() const { return terms_; }
  const std::vector<LeftOutTerm>& left_out() const { return left_out_; }
  const GroupedRidge& ridge() const { return ridge_; }

  // Returns the expected variance over the space.
  double Variance(std::size_t t) const;
  // Returns effects by the cells of its axes, the last axis fastest.
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

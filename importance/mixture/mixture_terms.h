// SPDX-License-Identifier: Apache-2.0
//
// File: mixture_terms.h
//
// A mixture taken apart term by term, and what the forest changes in each. As
// one function of the space the mixture is (functional ANOVA; Hoeffding, "A
// class of statistics with asymptotically normal distribution", 1948)
//
//   f(x) = sum over sets u of f_u(x_u),   f_u = (1 - w) l_u + w g_u
//   Var f = sum over u of Var f_u
//
// where l_u is a term of the level effects, g_u one of the mean of the trees,
// w the forest's weight. Level effects know the variance of l_u better than by
// their table, which is shrunk. So this is measured of each u instead:
//
//   change_u = E[((1 - w) l_u + w g_u)^2] - E[((1 - w) l_u)^2]
//
// For one or two axes it is a sum over tables. All larger u together, the rest
//
//   r(x) = f(x) less its mean, main effects and pairs,
//
// are measured at points x drawn from the space: the rest's variance by r(x)^2,
// the part that needs axis i by (r(x) - r(x, axis i moved))^2 / 2 (Jansen,
// "Analysis of variance designs for model output", 1999), the part within a
// group by r(x) r(x') where x' has the group's axes in common with x (Sobol,
// "Sensitivity estimates for nonlinear mathematical models", 1993).
//
//   w = 1/2; by code, of equal mass:  l = {-2, 2},  g = {-4, 4}
//   f = {-3, 3};   change = 9 - 1 = 8
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_TERMS_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_TERMS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "importance/effects/level_effects.h"
#include "importance/forest/forest.h"
#include "importance/measure/evaluate_options.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {

// The terms of a mixture as tables, and its rest at any point.
class MixtureTerms {
 public:
  // Keeps references.
  MixtureTerms(const LevelEffects& model, const std::vector<FineAxis>& axes,
               const Mixture& mixture, const NamedSubsets& subsets);

  const LevelEffects& model() const { return model_; }
  const std::vector<FineAxis>& axes() const { return axes_; }
  std::span<const Tree> trees() const { return mixture_.trees; }
  double levels_weight() const { return levels_weight_; }
  double forest_weight() const { return mixture_.forest_weight; }

  // Returns the pairs that level effects look at, that `subsets` hold, and that
  // trees split on, among the axes with most variance (subsets.h).
  const std::vector<AxisPair>& pairs() const { return pairs_; }
  // Returns the pair's term in the model; model().terms().size() if it has
  // none.
  std::size_t TermOfPair(std::size_t pair) const { return term_of_pair_[pair]; }

  // Returns f_u by code, for u the axis alone.
  std::vector<double> Curve(std::size_t axis) const;
  // `mean_target` is the mean of the trials.
  double Predict(const FinePoint& point, double mean_target) const;
  // Returns (1 - w) l_u, for u the term of the model.
  double LevelsAt(std::size_t term, const FinePoint& point) const;

  // Returns change_u for one axis, with these main effects as g_u.
  double MainChange(std::size_t axis, const std::vector<double>& forest) const;
  double MainChange(std::size_t axis) const {
    return MainChange(axis, forest_.main[axis]);
  }
  double PairChange(std::size_t pair) const;

  struct Rest {           // r at a point
    double levels = 0.0;  // of the level effects alone
    double both = 0.0;
  };
  struct MovedRests {
    Rest unmoved;
    std::vector<Rest> moved;  // by axis
  };
  Rest RestAt(const FinePoint& point) const;
  // Returns RestAt the point, and with each axis alone moved to where `other`
  // has it. All are added up in RestAt's order, so they are the same to the
  // bit.
  MovedRests RestsAround(const FinePoint& point, const FinePoint& other) const;

 private:
  std::vector<AxisPair> PairsOfForest(const NamedSubsets& subsets) const;
  void FindPairs();
  double LevelIn(std::size_t term, std::size_t cell) const {
    return term < tables_.size() ? levels_weight_ * tables_[term][cell] : 0.0;
  }
  double LevelsRest(const FinePoint& point) const;

  const LevelEffects& model_;
  const std::vector<FineAxis>& axes_;
  const Mixture& mixture_;
  double levels_weight_;
  std::vector<std::vector<double>> tables_;  // of the model's terms
  std::vector<std::size_t> higher_terms_;    // of three and more axes
  TreeEffects forest_;
  std::vector<AxisPair> pairs_;
  std::vector<std::size_t> term_of_pair_;
  std::vector<std::size_t> term_of_axis_;  // likewise
};

// What the forest changes in the variances of level effects; all 0 without one.
struct ForestChange {
  std::vector<double> main;   // by axis
  std::vector<double> pairs;  // as MixtureTerms::pairs()
  double rest = 0.0;
  std::vector<double> rest_total;       // by axis: the part that needs it
  std::vector<double> rest_groups;      // by group: the part within it
  std::vector<SubsetVariance> subsets;  // by subset: only of the rest
};

// After a stop the numbers mean nothing.
ForestChange FindForestChange(const MixtureTerms& terms,
                              const std::vector<std::vector<int>>& groups,
                              const std::vector<SubsetTerms>& subsets,
                              std::uint64_t seed, int threads,
                              const std::stop_token& stop);

// Returns the changes of main effects by a few of the trees each, less their
// mean: how much they would differ for other trials.
std::vector<std::vector<double>> FindBagChanges(const MixtureTerms& terms,
                                                const std::stop_token& stop);

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_TERMS_H_

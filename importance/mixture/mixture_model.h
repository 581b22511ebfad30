// SPDX-License-Identifier: Apache-2.0
//
// File: mixture_model.h
//
// The shares of a mixture's variance, and what else the trials leave possible.
// With the terms f_u of mixture_terms.h, by what both models know of each:
//
//   V_u = (1 - w)^2 L_u + change_u,   V = sum over sets u of V_u
//   main_i = V_i / V,   total_i = sum over u with i of V_u / V
//
// where L_u is the variance of a term as level effects estimate it
// (effects/level_effects_shares.h) and change_u what the forest changes. So
// main effects, pairs and `unexplained`, all larger u, add up to 1.
//
// A draw takes L_u from what the trials leave possible (DrawShares), the
// forest's weight within its deviation, main effects as a few trees differ, and
// counts a part of what nothing predicts as effects of many axes.
//
//   w = 1/2,  L = {4, 4},  change = {8, 0}:   V = {9, 1},  main = {.9, .1}
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_MODEL_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/effects/level_effects.h"
#include "importance/effects/level_effects_shares.h"
#include "importance/measure/evaluate_options.h"
#include "importance/mixture/mixture.h"
#include "importance/mixture/mixture_terms.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {

// The shares of one mixture, or of one draw.
struct MixtureShares {
  std::vector<double> main;             // by axis
  std::vector<double> total;            // by axis
  std::vector<double> pairs;            // as MixtureModel::pairs()
  std::vector<double> groups;           // as given
  std::vector<SubsetVariance> subsets;  // as asked for
  double unexplained = 0.0;             // of three and more axes
  double variance = 0.0;                // 0: nothing is explained, shares are 0
};

// A mixture's shares, draws and predictions. Any thread may use it.
class MixtureModel {
 public:
  // Keeps references. A group is a set of axes whose effects among themselves
  // count. After a stop nobody may believe it.
  MixtureModel(const LevelEffects& model, const std::vector<FineAxis>& axes,
               const Mixture& mixture, std::vector<std::vector<int>> groups,
               std::uint64_t seed, NamedSubsets subsets = {}, int threads = 1,
               const std::stop_token& stop = {});

  const std::vector<FineAxis>& axes() const { return terms_.axes(); }
  const NamedSubsets& subsets() const { return subsets_; }
  // Returns the pairs that are told apart. Others are unexplained, and count in
  // totals and groups as effects of more axes.
  const std::vector<AxisPair>& pairs() const { return terms_.pairs(); }

  MixtureShares Shares() const;
  std::vector<MixtureShares> Draw(int count, std::uint64_t seed,
                                  const std::stop_token& stop = {}) const;
  double MissedByLevels() const {
    return (1.0 - mixture_.levels_r2) *
           terms_.model().ridge().target_variance();
  }
  // `mean_target` is the mean of the trials.
  double Predict(const FinePoint& point, double mean_target) const {
    return terms_.Predict(point, mean_target);
  }
  // Returns the main effect by code; lower is better.
  std::vector<double> Curve(std::size_t axis) const {
    return terms_.Curve(axis);
  }

 private:
  // These add up variances, V_u. Combine divides them by V at the end.
  MixtureShares Combine(const EffectShares& levels,
                        const ForestChange& change) const;
  MixtureShares SumTerms(const EffectShares& levels,
                         const ForestChange& change) const;
  void AddTerm(std::span<const std::size_t> term, double variance,
               MixtureShares& sums) const;
  SubsetVariance CombineSubset(const SubsetTerms& subset,
                               const EffectShares& levels,
                               const SubsetVariance& change,
                               const MixtureShares& sums) const;
  double LevelsScale(const EffectShares& levels) const {
    return terms_.levels_weight() * terms_.levels_weight() * levels.variance;
  }

  ForestChange DrawChange(Rng& rng) const;
  void AddMissed(ForestChange& change, Rng& rng, Rng& subset_rng) const;
  void AddMissedToSets(double more, ForestChange& change, Rng& rng) const;

  const Mixture& mixture_;
  std::vector<std::vector<int>> groups_;
  std::vector<std::vector<bool>> in_group_;  // by group and axis
  NamedSubsets subsets_;
  MixtureTerms terms_;
  std::vector<SubsetTerms> subset_terms_;  // by subset
  ForestChange change_;
  std::vector<std::vector<double>> bags_;  // FindBagChanges
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_MODEL_H_

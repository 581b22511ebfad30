// SPDX-License-Identifier: Apache-2.0
//
// File: mixture.h
//
// Mixes level effects and a forest into one prediction, (1 - w) levels + w
// forest, by least squares on trials that neither has seen:
//
//   w = argmin over 0 <= w <= 1 of sum over i ((1 - w) l_i + w f_i)^2
//
// l_i and f_i are what each misses of trial i unseen (stacking; Breiman,
// "Stacked Regressions", 1996). The forest is grown on the targets, not on what
// level effects leave: a cliff of many parameters is simple for trees, what is
// left of it is not.
//
//   const Mixture mixture = FitMixture(data, model, {.seed = 7});
//   mixture.forest_weight;   // 0 on targets that level effects describe
#ifndef FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_
#define FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_

#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/rng.h"
#include "importance/effects/level_effects.h"
#include "importance/effects/level_effects_shares.h"
#include "importance/forest/forest.h"
#include "importance/measure/dataset.h"
#include "importance/measure/evaluate_options.h"
#include "importance/mixture/subsets.h"

namespace frostline::importance {

struct MixtureOptions {
  int trees = 64;
  std::uint64_t seed = 0;
  int threads = 0;  // 0: one for each core
  std::stop_token stop = {};
};

// With weight 0 there are no trees.
struct Mixture {
  double forest_weight = 0.0;
  double weight_deviation = 0.0;
  std::vector<Tree> trees;
  // These are shares of variance predicted of trials not seen; NaN without
  // variance.
  double levels_r2 = 0.0;
  double r2 = 0.0;
  double missed_variance = 0.0;  // of what is not predicted
  std::vector<double> missed;    // by trial, as if not seen
  double forest_part = 0.0;      // of what is predicted; 0 … 1
};

Mixture LevelsAlone(const LevelEffects& model);

// The weight is 0 unless the forest clearly helps: where it does not, it costs
// a few trees and no accuracy. `data` has the model's trials.
Mixture FitMixture(const Dataset& data, const LevelEffects& model,
                   const MixtureOptions& options);

// The shares of a mixture. Main effects and pairs are read from tables; effects
// of more parameters are measured at points drawn from the space.

struct MixtureShares {
  std::vector<double> main;          // by axis
  std::vector<double> total;         // by axis
  std::vector<double> pairs;         // as MixtureModel::pairs()
  std::vector<double> groups;        // as given
  std::vector<SubsetShare> subsets;  // as asked for
  double unexplained = 0.0;          // the rest, of three and more axes
  double variance = 0.0;             // 0: nothing is explained, shares are 0
};

class MixtureModel {
 public:
  // Keeps references. `groups` are axes whose effects among themselves count.
  // After a stop nobody may believe it.
  MixtureModel(const LevelEffects& model, const std::vector<FineAxis>& axes,
               const Mixture& mixture, std::vector<std::vector<int>> groups,
               std::uint64_t seed, NamedSubsets subsets = {}, int threads = 1,
               const std::stop_token& stop = {});

  const std::vector<FineAxis>& axes() const { return axes_; }
  // Level effects look at these and trees split on them, among the axes with
  // most variance (subsets.h). Others are unexplained, and count in totals
  // and groups as effects of more axes.
  const std::vector<AxisPair>& pairs() const { return pairs_; }
  MixtureShares Shares() const;
  const NamedSubsets& subsets() const { return subsets_; }
  // Draws level effects (DrawShares), and what the forest adds.
  std::vector<MixtureShares> Draw(int count, std::uint64_t seed,
                                  const std::stop_token& stop = {}) const;
  double MissedByLevels() const {
    return (1.0 - mixture_.levels_r2) * model_.ridge().target_variance();
  }
  // `mean_target` is the trials'.
  double Predict(const FinePoint& point, double mean_target) const;
  std::vector<double> Curve(std::size_t axis) const;  // lower is better

 private:
  struct Change {  // of the sum, less those of level effects
    std::vector<double> main;
    std::vector<double> pairs;
    double rest = 0.0;
    std::vector<double> rest_total;    // by axis
    std::vector<double> rest_groups;   // by group
    std::vector<SubsetShare> subsets;  // of three and more axes
  };

  struct Rest {
    double levels = 0.0;
    double both = 0.0;
  };

  struct MovedRests {  // at a point, and with each axis moved
    Rest unmoved;
    std::vector<Rest> moved;
  };

  std::vector<AxisPair> PairsOfForest() const;
  void FindPairs();
  void FindChange(std::uint64_t seed, const std::stop_token& stop);
  void FindRest(std::uint64_t seed, const std::stop_token& stop);
  Change DrawChange(Rng& rng) const;
  void AddMissed(Change& change, Rng& rng, Rng& subset_rng) const;
  double MainChange(std::size_t axis, const std::vector<double>& forest) const;
  double PairChange(std::size_t pair) const;
  Rest RestAt(const FinePoint& point) const;
  MovedRests RestsAround(const FinePoint& point, const FinePoint& other) const;
  double LevelsAt(std::size_t term, const FinePoint& point) const;
  double LevelsRest(const FinePoint& point) const;
  void FindSubsetChanges(std::uint64_t seed, int threads);
  SubsetShare SubsetChange(const AskedSubset& asked, std::uint64_t seed) const;
  SubsetShare CombineSubset(const AskedSubset& asked,
                            const EffectShares& levels,
                            const SubsetShare& change,
                            const MixtureShares& shares) const;
  void AddMissedToSets(double more, Change& change, Rng& rng) const;
  MixtureShares Combine(const EffectShares& levels, const Change& change) const;

  const LevelEffects& model_;
  const std::vector<FineAxis>& axes_;
  const Mixture& mixture_;
  std::vector<std::vector<int>> groups_;
  std::vector<std::vector<bool>> in_group_;  // by group and axis
  NamedSubsets subsets_;
  std::vector<AskedSubset> asked_;  // by subset
  double kept_ = 1.0;               // of level effects
  std::vector<AxisPair> pairs_;
  std::vector<std::size_t> term_of_pair_;    // of the model; its size: none
  std::vector<std::size_t> term_of_axis_;    // likewise
  std::vector<std::vector<double>> tables_;  // of the model's terms
  std::vector<std::size_t> higher_terms_;    // of three and more axes
  TreeEffects forest_;
  Change change_;
  std::vector<std::vector<double>> bags_;  // main by few trees, less their mean
};

}  // namespace frostline::importance

#endif  // FROSTLINE_IMPORTANCE_MIXTURE_MIXTURE_H_

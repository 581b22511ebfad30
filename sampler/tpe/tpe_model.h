// SPDX-License-Identifier: Apache-2.0
//
// File: tpe_model.h
//
// The model of TPE: l is the density of the good trials, g of all others
// (Bergstra et al., 2011, section 4.1), failed and running ones among them.
// With one objective the first 0.4 sqrt(n) are good, at least two and at most
// 25, in the order of split.h; better ones weigh more.
#ifndef FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_
#define FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "sampler/sampler.h"
#include "sampler/tpe/cells.h"

namespace frostline::sampler {

// docs/reference/samplers.md has the options.

struct TpeOptions {
  std::size_t startup_trials = 10;
  bool spread_startup = true;  // away from each other, not just random
  std::size_t candidates = 32;
  int improve = 1;  // rounds of better neighbours
  bool multivariate = true;
  bool ordinal = true;
  bool learn_frozen = true;  // how far frozen is from the lowest rate
  bool rank_weights = true;
  bool constant_liar = true;
  bool avoid_failures = true;
  bool cost_aware = false;
  bool warm_start = true;
  // So many are for a point; 0 is any number.
  std::size_t tries = 1;
  double frozen_share = 0.2;
  std::size_t kernels = 256;  // of trials that are not good, at most
};

// Reads options. Fails with SAMPLER_INVALID for an unknown option or a wrong
// value.
absl::StatusOr<TpeOptions> ReadTpeOptions(const SamplerInput& input);

// A good kernel is as wide as the good trials are spread out on its axis, times
// 0.8 m^(-1/5) for m of them (Silverman, 1986, eq. 3.28 in its scaling); a bad
// one is a tenth of the box. Neither is narrower than 0.4 steps of an axis of
// single values, or 1% of the box.

// The cells of a trial and its weight. It does not own the cells.
struct WeightedCells {
  std::span<const Cell> cells;
  double weight = 1.0;
  bool failed = false;
};

double GoodWidth(const CellAxis& axis, std::size_t index,
                 const std::vector<WeightedCells>& good);
double RestWidth(const CellAxis& axis);

// Returns how many steps frozen is from the lowest rate: the one of 1/2, 1, 2,
// 4, 8 under which each good trial is likeliest given the others (leave-one-out
// likelihood: Habbema et al., 1974), with 2 likeliest beforehand.
double LearnFrozenSteps(const std::vector<CellAxis>& axes, KernelCache& kernels,
                        const std::vector<WeightedCells>& good,
                        const std::vector<double>& widths);

std::size_t CountGood(std::size_t n);

// The good trial of rank i of m weighs ln(m + 1/2) - ln(i + 1), scaled to a
// mean of 1 (Hansen, 2016, eq. 49).
std::vector<double> RankWeights(std::size_t m);

struct TpeModel {
  CellDensity good;
  CellDensity rest;
  CellDensity failed;  // those of the rest that failed
};

// Returns ln of the chance that a trial does not fail, given the three
// densities' logs at its point: it is the part near there that did not
// (Watanabe and Hutter, IJCAI 2023, section 3.2, without a threshold).
double LogChanceOfSuccess(const TpeModel& model, double log_good,
                          double log_rest, double log_failed);

TpeModel FitModel(const std::vector<CellAxis>& axes, KernelCache& kernels,
                  const std::vector<WeightedCells>& good,
                  const std::vector<WeightedCells>& rest,
                  const TpeOptions& options);

// The evidence of an earlier study. Its good and other trials join those of
// this study as kernels that count as much as a few own trials, so that own
// evidence outgrows them:
//
//   l: w kGoodTrials trials, g: w kOtherTrials trials
//
// w is the study's given weight or, without one, how well it ranks this one's
// trials: with rho the rank correlation of its ln(l/g) with the values of the
// first kJudged own trials, w is twice what rho is above the 2/sqrt(n) that
// chance can make of it, between 0 and 1. (Watanabe et al., IJCAI 2023, go by
// how good regions overlap.)
class PriorEvidence {
 public:
  static constexpr double kGoodTrials = 10.0;
  static constexpr double kOtherTrials = 40.0;
  static constexpr std::size_t kJudged = 64;
  static constexpr double kUnknownWeight = 0.5;

  // It keeps references to all but `study`.
  PriorEvidence(const Space& space, const std::vector<Objective>& objectives,
                const std::vector<CellAxis>& axes, KernelCache& kernels,
                const TpeOptions& options, const PriorStudy& study);

  bool empty() const { return good_.empty(); }
  // Returns a weight in 0 … 1. REQUIRES: `table` has caught up with `history`.
  double Weight(const History& history, const CellTable& table);
  void AddTo(double weight, std::vector<WeightedCells>& good,
             std::vector<WeightedCells>& rest) const;

 private:
  const std::vector<Objective>& objectives_;
  double given_weight_;
  std::vector<std::vector<Cell>> good_, rest_;
  std::unique_ptr<TpeModel> model_;
  std::int64_t judged_revision_ = -1;
  double judged_ = kUnknownWeight;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_TPE_TPE_MODEL_H_

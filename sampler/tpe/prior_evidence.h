// SPDX-License-Identifier: Apache-2.0
//
// File: prior_evidence.h
//
// An earlier study's good and other trials join this one's as kernels that
// count as much as a few own trials, so that own evidence outgrows them:
//
//   l: w kGoodTrials trials, g: w kOtherTrials trials
//
// w is the study's given weight or, without one, how well it ranks this one's
// trials: with rho the rank correlation of its ln(l/g) with the values of the
// first kJudged own trials, w is twice what rho is above the 2/sqrt(n) that
// chance can make of it, between 0 and 1. (Watanabe et al., IJCAI 2023, go by
// how good regions overlap.)
#ifndef FROSTLINE_SAMPLER_TPE_PRIOR_EVIDENCE_H_
#define FROSTLINE_SAMPLER_TPE_PRIOR_EVIDENCE_H_

#include <memory>
#include <vector>

#include "sampler/input.h"
#include "sampler/tpe/cells.h"
#include "sampler/tpe/tpe_model.h"

namespace frostline::sampler {

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
  // Is in 0 … 1. REQUIRES: `table` has caught up with `history`.
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

#endif  // FROSTLINE_SAMPLER_TPE_PRIOR_EVIDENCE_H_

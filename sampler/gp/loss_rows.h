// SPDX-License-Identifier: Apache-2.0
//
// File: loss_rows.h
//
// From trials to what the Gaussian processes learn from: losses and failures.
#ifndef FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_
#define FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_

#include <vector>

#include "sampler/gp/learnt_model.h"
#include "sampler/gp/trial_ledger.h"
#include "sampler/input.h"

namespace frostline {

using LedgerList = std::vector<const LedgerTrial*>;

// Earlier studies to learn from, each with targets of its own, because their
// losses may be of another scale. How far to believe them is learnt with the
// kernel (its study tie), from how well they foretell this study.
class PriorRows {
 public:
  PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
            const std::vector<LevelAxis>& axes, const Objective& objective);

  const TargetedRows& rows() const { return rows_; }
  // What is usual, but for a tie that the studies' weights ask for.
  KernelPrior Prior(std::size_t axes) const;

 private:
  TargetedRows rows_;
  double weight_ = 0.0;  // the mean of those given; 0: none was
};

// The earlier studies, then this study's trials.
TargetedRows LossRows(const PriorRows& earlier, const LedgerList& valued);

// Whether trials failed, as targets: chance = rate + deviation * target.
struct FailureRows {
  TargetedRows rows;
  double rate = 0.0;
  double deviation = 0.0;
};
FailureRows FailureRowsOf(const LedgerList& ended);

// The elements at the given places.
LedgerList Pick(const LedgerList& trials, const std::vector<std::size_t>& at);

}  // namespace frostline

#endif  // FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: loss_rows.h
#ifndef FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_
#define FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_

#include <vector>

#include "sampler/gp/learnt_model.h"
#include "sampler/gp/levels.h"
#include "sampler/input.h"

namespace frostline::sampler {

using LedgerList = std::vector<const LedgerTrial*>;

// Each earlier study has its own targets, because losses may be of another
// scale. Belief in it is learnt from how well it foretells this one; a given
// weight becomes noise.
class PriorRows {
 public:
  PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
            const std::vector<LevelAxis>& axes, const Objective& objective);

  const TargetedRows& rows() const { return rows_; }
  std::size_t studies() const { return studies_; }
  // Takes 0 as `study` for this one.
  Cells CellsOf(const LedgerTrial& trial, std::size_t study) const;

 private:
  TargetedRows rows_;
  std::size_t studies_ = 0;
};

// The earlier studies come first.
TargetedRows LossRows(const PriorRows& earlier, const LedgerList& valued);

// Targets say whether trials ended without a loss: chance = rate + deviation *
// target.
struct FailureRows {
  TargetedRows rows;
  double rate = 0.0;
  double deviation = 0.0;
};
FailureRows FailureRowsOf(const LedgerList& ended);

// Targets say by how much trials broke one constraint, or kept it. REQUIRES:
// each trial has measured it.
struct ConstraintRows {
  TargetedRows rows;
  double bound = 0.0;  // a target above it is broken
};
ConstraintRows ConstraintRowsOf(const LedgerList& measured, std::size_t which);

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_

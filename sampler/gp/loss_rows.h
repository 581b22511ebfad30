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

namespace frostline::sampler {

using LedgerList = std::vector<const LedgerTrial*>;

// Earlier studies to learn from, each with targets of its own, because their
// losses may be of another scale. How far to believe them is learnt with the
// kernel, from how well they foretell this study; a weight that was given makes
// them as noisy as one trial that varies so far with another.
class PriorRows {
 public:
  PriorRows(const std::vector<PriorStudy>& studies, const Space& space,
            const std::vector<LevelAxis>& axes, const Objective& objective);

  const TargetedRows& rows() const { return rows_; }
  std::size_t studies() const { return studies_; }
  // Of a trial of this study (0) or an earlier one, as axes are (study_axes.h).
  Cells CellsOf(const LedgerTrial& trial, std::size_t study) const;

 private:
  TargetedRows rows_;
  std::size_t studies_ = 0;
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

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_LOSS_ROWS_H_

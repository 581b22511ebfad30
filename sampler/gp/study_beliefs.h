// SPDX-License-Identifier: Apache-2.0
//
// File: study_beliefs.h
//
// What is believed of a study, from its trials and from earlier studies: one
// Gaussian process of losses and, where trials failed, one of failures.
#ifndef FROSTLINE_SAMPLER_GP_STUDY_BELIEFS_H_
#define FROSTLINE_SAMPLER_GP_STUDY_BELIEFS_H_

#include <vector>

#include "sampler/gp/learnt_model.h"
#include "sampler/gp/loss_rows.h"
#include "sampler/gp/search_goal.h"

namespace frostline::sampler {

// The trials of a ledger by the part they play.
struct TrialParts {
  LedgerList all, valued, ended, running;
  bool any_failed = false;
};

TrialParts PartsOf(LedgerList trials);

// A goal to search for, and where from.
struct Aim {
  SearchGoal goal;
  std::vector<Cells> tried;  // the best believed in first; never empty
};

// Keeps a reference to the earlier studies.
class StudyBeliefs {
 public:
  StudyBeliefs(const Space& space, const std::vector<LevelAxis>& axes,
               const PriorRows& earlier);

  // Valid until the next call. REQUIRES: a loss, of this study or an earlier
  // one.
  Aim Learn(const TrialParts& parts);

 private:
  // Returns the targets of the trials that have a loss, earlier ones first.
  std::vector<double> LearnLosses(const TrialParts& parts);
  void LearnFailures(const LedgerList& ended, SearchGoal& goal);
  // Fills in what was tried, and the best loss believed in.
  void OrderTried(const TrialParts& parts, const std::vector<double>& targets,
                  Aim& aim) const;

  std::size_t axes_;
  const PriorRows& earlier_;
  LearntModel loss_;
  LearntModel failure_;
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_STUDY_BELIEFS_H_

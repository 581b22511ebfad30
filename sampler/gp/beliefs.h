// SPDX-License-Identifier: Apache-2.0
//
// File: beliefs.h
//
// One Gaussian process learns losses, earlier studies' included; where trials
// failed, another learns the failures; of each constraint that was broken, one
// learns by how much.
#ifndef FROSTLINE_SAMPLER_GP_BELIEFS_H_
#define FROSTLINE_SAMPLER_GP_BELIEFS_H_

#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "sampler/gp/learnt_model.h"
#include "sampler/gp/loss_rows.h"
#include "sampler/gp/search_goal.h"

namespace frostline::sampler {

struct TrialParts {
  LedgerList all, valued, ended, running;
  bool any_failed = false;
  // For each constraint that some trial broke, its place and who has a value.
  std::vector<std::pair<std::size_t, LedgerList>> broken;
};

TrialParts PartsOf(LedgerList trials);

struct Aim {
  SearchGoal goal;
  std::vector<Cells> tried;  // the best believed in first; never empty
};

// It keeps a reference to the earlier studies.
class StudyBeliefs {
 public:
  StudyBeliefs(const Space& space, const std::vector<LevelAxis>& axes,
               const PriorRows& earlier);

  // The aim is valid until the next call; there is none when stopped. REQUIRES:
  // there is a loss, here or in an earlier study.
  std::optional<Aim> Learn(const TrialParts& parts,
                           const std::stop_token& stop);

 private:
  // Both answer false when stopped. The targets are earlier studies' first.
  bool LearnLosses(const TrialParts& parts, std::vector<double>& targets,
                   const std::stop_token& stop);
  bool LearnFailures(const LedgerList& ended, SearchGoal& goal,
                     const std::stop_token& stop);
  bool LearnConstraints(const TrialParts& parts, SearchGoal& goal,
                        const std::stop_token& stop);
  // Fills in what was tried, and the best loss: seen, or believed of a running
  // trial.
  void OrderTried(const TrialParts& parts, const std::vector<double>& targets,
                  Aim& aim) const;

  std::size_t axes_;
  const PriorRows& earlier_;
  LearntModel loss_;
  LearntModel failure_;
  std::vector<surrogate::Axis> own_axes_;
  std::map<std::size_t, LearntModel> constraints_;  // by place
};

}  // namespace frostline::sampler

#endif  // FROSTLINE_SAMPLER_GP_BELIEFS_H_

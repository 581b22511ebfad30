// SPDX-License-Identifier: Apache-2.0
//
// File: running_trials.h
#ifndef FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_
#define FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "frostline/v1/study.pb.h"
#include "frostline/v1/trial.pb.h"

namespace frostline::cli {

// The trials of a study that run, from two sources: events say which begin and
// end, and looks say how far they are. What an event said while a look was
// under way stands against that look, which may have seen less.
class RunningTrials {
 public:
  void TakeEvent(const v1::Trial& trial);
  void BeginLook() { since_look_.clear(); }
  // All that ran when it was looked.
  void EndLook(const std::vector<v1::Trial>& running);

  // Before the first look only those are known that began since.
  bool are_all_known() const { return are_all_known_; }
  // By their numbers.
  std::vector<v1::Trial> All() const;
  // The study as of another moment, with as many running trials as there are
  // here, so that both may stand on one screen.
  v1::Study Counted(v1::Study study) const;

 private:
  bool are_all_known_ = false;
  std::map<std::int64_t, v1::Trial> running_;
  std::set<std::int64_t> since_look_;  // numbers of what events have told of
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_LIVE_RUNNING_TRIALS_H_

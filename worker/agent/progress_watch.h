// SPDX-License-Identifier: Apache-2.0
//
// File: progress_watch.h
//
// Living is not progress: a trainer that hangs in a kernel keeps its process
// and its lease. This policy says when it has been quiet for too long:
//   - before the first step, six times the floor: models are loaded then;
//   - from then on the floor, or ten times the median interval between the
//     newest steps where that is longer.
// Time in which nobody looked, because the node slept or the agent was stopped,
// is not counted.
#ifndef FROSTLINE_WORKER_AGENT_PROGRESS_WATCH_H_
#define FROSTLINE_WORKER_AGENT_PROGRESS_WATCH_H_

#include <deque>
#include <string>

#include "base/clock.h"

namespace frostline::agent {

// One thread at a time.
class ProgressWatch {
 public:
  // `floor` of zero: nothing ever hangs.
  ProgressWatch(Duration floor, SteadyTime now);

  // Every 10 s at the least: of a longer time no more is counted.
  void Look(SteadyTime now);
  // A step later than all before.
  void NoteStep(SteadyTime now);
  // Any other message.
  void NoteSign(SteadyTime now);

  bool hangs() const;
  // "no progress for 614 s; steps took 2.1 s before (suspected hang)"
  std::string Describe() const;
  Duration patience() const;

 private:
  const Duration floor_;
  SteadyTime seen_;
  Duration silence_{};     // since any message
  Duration since_step_{};  // as seen
  bool stepped_ = false;
  std::deque<Duration> intervals_;  // oldest first
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROGRESS_WATCH_H_

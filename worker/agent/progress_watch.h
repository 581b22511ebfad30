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
// is not counted. One thread at a time may use it.
#ifndef FROSTLINE_WORKER_AGENT_PROGRESS_WATCH_H_
#define FROSTLINE_WORKER_AGENT_PROGRESS_WATCH_H_

#include <deque>
#include <string>

#include "base/clock.h"

namespace frostline::agent {

class ProgressWatch {
 public:
  // With a `floor` of zero nothing ever hangs.
  ProgressWatch(Duration floor, SteadyTime now);

  // Wants a call every 10 s: of a longer time no more is counted.
  void Look(SteadyTime now);
  void NoteStep(SteadyTime now);
  // Any message but a later step is a sign.
  void NoteSign(SteadyTime now);

  bool hangs() const;
  // Returns "no progress for 614 s; steps took 2.1 s before (suspected hang)".
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

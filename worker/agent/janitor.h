// SPDX-License-Identifier: Apache-2.0
//
// File: janitor.h
//
// Removes trials' folders that may go, at its start, after each ending and once
// an hour, in its own thread: no slot waits for a slow disk.
#ifndef FROSTLINE_WORKER_AGENT_JANITOR_H_
#define FROSTLINE_WORKER_AGENT_JANITOR_H_

#include <atomic>
#include <thread>

#include "worker/agent/trial_folders.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

class Janitor {
 public:
  // `folders` outlives it.
  Janitor(TrialFolders& folders, const KeepRules& rules);
  ~Janitor();  // after the pass under way
  Janitor(const Janitor&) = delete;
  Janitor& operator=(const Janitor&) = delete;

  void Ring() { wakeup_.Ring(); }  // a trial ended; any thread

 private:
  void Loop();

  TrialFolders& folders_;
  const KeepRules rules_;
  Wakeup wakeup_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_JANITOR_H_

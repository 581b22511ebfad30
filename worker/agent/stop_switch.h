// SPDX-License-Identifier: Apache-2.0
//
// File: stop_switch.h
//
// Tells the agent to end. The level only rises. The first exit code counts, but
// kDone's yields to that of a later level. It is thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_STOP_SWITCH_H_
#define FROSTLINE_WORKER_AGENT_STOP_SWITCH_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/error.h"
#include "base/mutex.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

enum class StopLevel {
  kRun,
  kDone,     // no new trials; what runs may finish
  kRelease,  // checkpoint, hand back, end
  kNow,      // hand back without waiting for checkpoints
};

class StopSwitch {
 public:
  // `why` goes into the log and the release's detail.
  void Raise(StopLevel level, ExitCode exit_code, const std::string& why);
  StopLevel level() const;
  ExitCode exit_code() const;
  std::string why() const;

  // Rings `wakeup` at every raise, until Forget().
  void Notify(Wakeup* wakeup);
  void Forget(Wakeup* wakeup);

 private:
  mutable Mutex mutex_;
  StopLevel level_ ABSL_GUARDED_BY(mutex_) = StopLevel::kRun;
  ExitCode exit_code_ ABSL_GUARDED_BY(mutex_) = kExitOk;
  std::string why_ ABSL_GUARDED_BY(mutex_);
  std::vector<Wakeup*> wakeups_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_STOP_SWITCH_H_

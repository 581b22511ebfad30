// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trial/slot_context.h"

#include <algorithm>

namespace frostline::agent {

void StopSwitch::Raise(StopLevel level, ExitCode exit_code,
                       const std::string& why) {
  const MutexLock lock(&mutex_);
  // A signal outranks a peaceful end that is still under way.
  if (level_ <= StopLevel::kDone && level > level_) {
    exit_code_ = exit_code;
    why_ = why;
  }
  level_ = std::max(level_, level);
  for (Wakeup* wakeup : wakeups_) wakeup->Ring();
}

StopLevel StopSwitch::level() const {
  const MutexLock lock(&mutex_);
  return level_;
}

ExitCode StopSwitch::exit_code() const {
  const MutexLock lock(&mutex_);
  return exit_code_;
}

std::string StopSwitch::why() const {
  const MutexLock lock(&mutex_);
  return why_;
}

void StopSwitch::Notify(Wakeup* wakeup) {
  const MutexLock lock(&mutex_);
  wakeups_.push_back(wakeup);
  if (level_ != StopLevel::kRun) wakeup->Ring();
}

void StopSwitch::Forget(Wakeup* wakeup) {
  const MutexLock lock(&mutex_);
  wakeups_.erase(std::remove(wakeups_.begin(), wakeups_.end(), wakeup),
                 wakeups_.end());
}

}  // namespace frostline::agent

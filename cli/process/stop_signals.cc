// SPDX-License-Identifier: Apache-2.0
#include "cli/process/stop_signals.h"

#include <pthread.h>

#include <cerrno>
#include <ctime>

namespace frostline::cli {

StopSignals::StopSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

absl::Status StopSignals::Pause(Duration time) {
  timespec wait{};
  wait.tv_sec = static_cast<time_t>(time.count() / 1'000'000'000);
  wait.tv_nsec = static_cast<long>(time.count() % 1'000'000'000);
  if (!caught_ && held_) {
    caught_ = sigtimedwait(&signals_, nullptr, &wait) > 0;
  }
  return caught_ ? absl::CancelledError("interrupted") : absl::OkStatus();
}

void StopSignals::Release() {
  if (held_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  held_ = false;
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// File: stop_signals.h
#ifndef FROSTLINE_CLI_PROCESS_STOP_SIGNALS_H_
#define FROSTLINE_CLI_PROCESS_STOP_SIGNALS_H_

#include <csignal>

#include "absl/status/status.h"
#include "base/clock.h"

namespace frostline::cli {

// While it exists SIGINT and SIGTERM wait for Pause(). Make it before any other
// thread, on the thread that calls Pause().
class StopSignals {
 public:
  StopSignals();
  ~StopSignals() { Release(); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Sleeps. It answers CANCELLED once one of the signals is there, and ever
  // after.
  absl::Status Pause(Duration time);
  bool caught() const { return caught_; }

  // Lets a second Ctrl-C end the program at once.
  void Release();

 private:
  sigset_t signals_;
  sigset_t before_;
  bool held_ = true;
  bool caught_ = false;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_STOP_SIGNALS_H_

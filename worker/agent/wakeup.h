// SPDX-License-Identifier: Apache-2.0
//
// File: wakeup.h
//
// A bell that wakes a thread. It is a file descriptor, so that the thread can
// wait for a pipe too.
#ifndef FROSTLINE_WORKER_AGENT_WAKEUP_H_
#define FROSTLINE_WORKER_AGENT_WAKEUP_H_

#include "base/clock.h"

namespace frostline::agent {

// A bell for one sleeping thread, which any thread may ring.
class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // Wakes the thread, also when it begins to wait only later. Safe in a signal
  // handler.
  void Ring();
  bool WaitFor(Duration time);  // says whether it rang

  // Returns a descriptor that is readable from a ring until Hush().
  int fd() const { return fd_; }
  void Hush();

 private:
  int fd_;
};

// Returns the time in milliseconds for poll(2), rounded up, so that a short
// wait does not become a busy loop.
int PollMillis(Duration time);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_WAKEUP_H_

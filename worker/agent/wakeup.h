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

  // A ring before the wait is heard too. It is safe in a signal handler.
  void Ring();
  bool WaitFor(Duration time);  // says whether it rang

  // It is readable after a ring, until Hush().
  int fd() const { return fd_; }
  void Hush();

 private:
  int fd_;
};

// It rounds up for poll(2), so that a short wait does not become a spin.
int PollMillis(Duration time);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_WAKEUP_H_

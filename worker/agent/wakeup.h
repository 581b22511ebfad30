// SPDX-License-Identifier: Apache-2.0
//
// File: wakeup.h
//
// A bell: one thread sleeps, any thread rings. It is a file descriptor, so that
// the thread can wait for a pipe too.
#ifndef FROSTLINE_WORKER_AGENT_WAKEUP_H_
#define FROSTLINE_WORKER_AGENT_WAKEUP_H_

#include "base/clock.h"

namespace frostline::agent {

class Wakeup {
 public:
  Wakeup();
  ~Wakeup();
  Wakeup(const Wakeup&) = delete;
  Wakeup& operator=(const Wakeup&) = delete;

  // A ring before the wait is heard too. Safe in a signal handler.
  void Ring();
  // True if it rang within `time`.
  bool WaitFor(Duration time);

  // Readable after a ring, until Hush().
  int fd() const { return fd_; }
  void Hush();

 private:
  int fd_;
};

// For poll(2): rounded up, so that a short wait does not become a spin.
int PollMillis(Duration time);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_WAKEUP_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: guardian_loop.h
//
// What a guardian (guardian.h) does once its trainer runs: it obeys orders,
// reaps whoever ends, and kills what is left when its time has come. It runs in
// a process just forked: it allocates nothing and takes no lock.
#ifndef FROSTLINE_WORKER_AGENT_GUARDIAN_LOOP_H_
#define FROSTLINE_WORKER_AGENT_GUARDIAN_LOOP_H_

#include <sys/types.h>

#include "worker/agent/guardian.h"

namespace frostline::agent {

class GuardianLoop {
 public:
  // `ends` is readable when a child has ended.
  GuardianLoop(pid_t trainer, int orders, int words, int ends)
      : trainer_(trainer), orders_(orders), words_(words), ends_(ends) {}

  // Ends the process when no child is left.
  [[noreturn]] void Run();

 private:
  void Tell(GuardianWord::Kind kind, int value) const;
  void Listen();
  void Obey(char order);
  void Reap();
  void KillChildren();

  const pid_t trainer_;
  int orders_;
  const int words_;
  const int ends_;
  bool ended_ = false;  // the trainer
  bool kills_ = false;
  bool has_children_ = true;
  int rounds_ = 0;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_GUARDIAN_LOOP_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: rig.h
//
// An agent beside a scripted coordinator, with a trainer that the test writes
// in a few lines of Python.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_RIG_H_
#define FROSTLINE_TESTS_WORKER_AGENT_RIG_H_

#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"
#include "tests/worker/agent/undying.h"
#include "worker/agent/agent.h"

namespace frostline::agent {

class Rig {
 public:
  // `trainer`: the body of `def train(t):`, indented by nothing, with say(...),
  // report(step, score), finish(state, score), next_message() and sys at hand.
  explicit Rig(const std::string& trainer);
  ~Rig();

  // Before Start().
  AgentOptions& options() { return options_; }
  void Start();
  // Until the agent ends by itself, or Stop() was called.
  int Join();
  void Stop(StopLevel level, ExitCode exit_code) {
    agent_->Stop(level, exit_code, "the test says so");
  }

  ScriptedCoordinator& coordinator() { return coordinator_; }
  std::string File(const std::string& name) const { return folder_.File(name); }
  // What the trainer wrote there; waits for it.
  std::string AwaitFile(const std::string& name) const;
  int SpoolFiles() const;

 private:
  TempFolder folder_;
  SystemClock clock_;
  ScriptedCoordinator coordinator_;
  AgentOptions options_;
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
  int exit_code_ = -1;
};

// The Python program of such a trainer, written to `path`; answers a command
// line that runs it.
std::string WriteTrainer(const std::string& path, const std::string& body);

// False if it still lives after a long while.
bool AwaitDeath(int pid);

}  // namespace frostline::agent

#endif  // FROSTLINE_TESTS_WORKER_AGENT_RIG_H_

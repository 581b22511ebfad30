// SPDX-License-Identifier: Apache-2.0
//
// File: rig.h
//
// What tests of the agent are made with. A Rig runs an agent on a thread of its
// own, against a scripted coordinator, with a trainer that the test writes as a
// few lines of Python. The files are in a temporary folder, and the agent ends
// with the Rig at the latest:
//
//   Rig rig("report(1, 0.5)\nfinish('succeeded', 0.9)");
//   rig.coordinator().Offer(1);
//   rig.Start();
//   ...                            // wait for what the coordinator heard
//   rig.coordinator().EndStudy();
//   EXPECT_EQ(rig.Join(), 0);
//
// WriteTrainer() writes such a trainer for a test that starts it in another
// way. Lives(), AwaitDeath() and Undying are for tests of how processes end.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_RIG_H_
#define FROSTLINE_TESTS_WORKER_AGENT_RIG_H_

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "tests/support/temp_folder.h"
#include "tests/worker/agent/scripted_coordinator.h"
#include "worker/agent/agent.h"

namespace frostline::agent {

// False once the process is gone, or a zombie that nobody collected.
inline bool Lives(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z";
}

// Makes a process look to its parent as if SIGKILL did not end it, like one
// that hangs in the kernel, which no test can make. The process is traced: the
// kernel reports its end to the tracer first, and this tracer does not ask. The
// thread that makes the object destroys it; the process is killed then.
class Undying {
 public:
  explicit Undying(pid_t pid)
      : pid_(pid), works_(ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) {}
  ~Undying() {
    if (!works_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, __WALL);
  }
  Undying(const Undying&) = delete;
  Undying& operator=(const Undying&) = delete;

  bool works() const { return works_; }  // tracing may be forbidden

 private:
  const pid_t pid_;
  const bool works_;
};

// An agent beside a scripted coordinator, with a trainer that the test writes
// in a few lines of Python.
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

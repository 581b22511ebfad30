// SPDX-License-Identifier: Apache-2.0
//
// File: undying.h
//
// A process that SIGKILL does not end as its parent sees it: one that is traced
// is mourned by its tracer first, and this tracer waits for nobody. So it looks
// like one that hangs in the kernel, which no test can make.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_UNDYING_H_
#define FROSTLINE_TESTS_WORKER_AGENT_UNDYING_H_

#include <sys/ptrace.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <string>

namespace frostline::agent {

// False once the process is gone, or a zombie that nobody collected.
inline bool Lives(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string number, name, state;
  return static_cast<bool>(stat >> number >> name >> state) && state != "Z";
}

// The thread that makes it destroys it; the process is killed then.
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

}  // namespace frostline::agent

#endif  // FROSTLINE_TESTS_WORKER_AGENT_UNDYING_H_

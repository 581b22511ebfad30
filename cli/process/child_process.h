// SPDX-License-Identifier: Apache-2.0
//
// File: child_process.h
//
// A program of ours never outlives us: it is stopped with the object, and by
// the kernel should we be killed. Its own process group keeps Ctrl-C at the
// terminal from it, so we stop our children in the order we choose.
#ifndef FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_
#define FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"

namespace frostline::cli {

struct ChildSpec {
  std::string name;                    // for messages: "worker 1"
  std::vector<std::string> arguments;  // the program's path first
  std::string log_file;                // gets its output and errors, at the end
};

// It is not thread-safe. Start it before any other thread runs, as fork()
// wants.
class ChildProcess {
 public:
  // Answers TRAINER_START with the system's reason when it cannot be run.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Does not wait.
  bool IsRunning();
  // Says "ended with code 3" or "was ended by signal 9 (Killed)". REQUIRES:
  // !IsRunning().
  std::string HowItEnded() const;

  void Signal(int number);
  // Returns false when it still runs after so long.
  bool WaitFor(Duration longest);
  // Sends SIGTERM, then SIGKILL when it has not ended after `grace`.
  void Stop(Duration grace);

  const ChildSpec& spec() const { return spec_; }
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(const ChildSpec& spec, pid_t pid) : spec_(spec), pid_(pid) {}

  ChildSpec spec_;
  pid_t pid_;
  std::optional<int> wait_status_;
};

// Looks beside the running program; what is not there is TRAINER_START.
absl::StatusOr<std::string> SiblingProgram(const std::string& name);

// Returns only when it fails.
absl::Status ExecSibling(const std::string& name,
                         const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_

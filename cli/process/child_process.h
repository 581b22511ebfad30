// SPDX-License-Identifier: Apache-2.0
//
// File: child_process.h
//
// A program of ours that runs for a while beside us. It never outlives us: it
// is stopped when the object goes, and the kernel stops it should we be
// killed. It runs in a process group of its own, so Ctrl-C at the terminal
// reaches only us, and we stop our children in the order we choose.
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

// Not thread-safe. Start it before any other thread runs, as fork() wants.
class ChildProcess {
 public:
  // TRAINER_START with the system's reason when it cannot be run.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Whether it still runs. Does not wait.
  bool IsRunning();
  // "ended with code 3", "was ended by signal 9 (Killed)". REQUIRES:
  // !IsRunning().
  std::string HowItEnded() const;

  void Signal(int number);
  // Waits until it has ended, at most so long; false when it still runs.
  bool WaitFor(Duration longest);
  // SIGTERM, and SIGKILL when it has not ended after `grace`.
  void Stop(Duration grace);

  const ChildSpec& spec() const { return spec_; }
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(const ChildSpec& spec, pid_t pid) : spec_(spec), pid_(pid) {}

  ChildSpec spec_;
  pid_t pid_;
  std::optional<int> wait_status_;
};

// The path of a program in the folder of the one that runs now; TRAINER_START
// when it is not there.
absl::StatusOr<std::string> SiblingProgram(const std::string& name);

// Becomes the sibling program. Returns only when that fails.
absl::Status ExecSibling(const std::string& name,
                         const std::vector<std::string>& arguments);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_

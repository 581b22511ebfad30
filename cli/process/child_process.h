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

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
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

// Runs another program to its end and keeps what it said. Its words go to it as
// they are: no shell reads them.
//
//   const auto ran = RunCaptured({"sbatch", "--parsable", path}, kMinute);

struct Captured {
  int code = -1;  // 128 and the signal's number when one ended it
  std::string out;
  std::string err;
};

// Looks for words[0] in the PATH. Standard input is empty. Answers NOT_FOUND
// where there is no such program, DEADLINE_EXCEEDED when it has not ended after
// `longest` (it is then killed), RESOURCE_EXHAUSTED beyond 64 MiB of output,
// and INTERNAL with the system's reason. REQUIRES: words is not empty.
//
// One that says `last_words` on its standard error is waited for no longer, but
// killed: 137 is its code.
absl::StatusOr<Captured> RunCaptured(const std::vector<std::string>& words,
                                     Duration longest,
                                     const std::string& last_words = "");

// A folder of one command's files.
class WorkFolder {
 public:
  // Makes `named` if missing, and leaves it there. If empty, it makes a
  // temporary one, removed with the object unless kept. Failing is
  // STORE_UNWRITABLE.
  static absl::StatusOr<WorkFolder> Make(const std::string& named, bool keep);

  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, "")), stays_(other.stays_) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder();

  const std::string& path() const { return path_; }
  bool stays() const { return stays_; }
  void Keep() { stays_ = true; }

 private:
  WorkFolder(const std::string& path, bool stays)
      : path_(path), stays_(stays) {}

  std::string path_;  // empty when moved from
  bool stays_;
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_

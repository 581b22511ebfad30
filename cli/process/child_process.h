// SPDX-License-Identifier: Apache-2.0
//
// File: child_process.h
//
// Child processes and signals. A program that we start never outlives us: the
// object stops it, and the kernel does if we are killed. It has its own process
// group, so Ctrl-C does not reach it and we stop our children in the order we
// choose.
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

// A catcher of SIGINT and SIGTERM: while it exists, these signals wait for
// Pause(). Create it before any other thread, on the thread that calls Pause().
class StopSignals {
 public:
  StopSignals();
  ~StopSignals() { Release(); }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Sleeps for `time`. Returns CANCELLED as soon as a signal has come, and in
  // every later call.
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
  std::string log_file;                // output and errors, appended
};

// A running child process. It is not thread-safe. Start it before any other
// thread runs, because it uses fork(): only between that and exec can it be
// asked that the kernel ends it when we are killed.
class ChildProcess {
 public:
  // Starts the program. Returns TRAINER_START with the system's reason when it
  // cannot.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(
      const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Returns whether it still runs, without waiting.
  bool IsRunning();
  // Returns "ended with code 3" or "was ended by signal 9 (Killed)". REQUIRES:
  // !IsRunning().
  std::string HowItEnded() const;

  void Signal(int number);
  // Waits for its end. Returns false when it still runs after `longest`.
  bool WaitFor(Duration longest);
  // Sends SIGTERM, and SIGKILL if it has not ended after `grace`.
  void Stop(Duration grace);

  const ChildSpec& spec() const { return spec_; }
  pid_t pid() const { return pid_; }

 private:
  ChildProcess(const ChildSpec& spec, pid_t pid) : spec_(spec), pid_(pid) {}

  ChildSpec spec_;
  pid_t pid_;
  std::optional<int> wait_status_;
};

// Returns the path of a program beside the running one, or TRAINER_START when
// it does not exist.
absl::StatusOr<std::string> SiblingProgram(const std::string& name);

// Replaces this process by a program beside it. Returns only on failure.
absl::Status ExecSibling(const std::string& name,
                         const std::vector<std::string>& arguments);

// Runs another program to its end and captures its output. The words reach the
// program unchanged, without a shell.
//
//   const auto ran = RunCaptured({"sbatch", "--parsable", path}, kMinute);

// The exit code and the output of a program that has ended.
struct Captured {
  int code = -1;  // 128 + the signal's number if a signal ended it
  std::string out;
  std::string err;
};

// Runs words[0], which is searched in the PATH, with empty standard input.
// Returns NOT_FOUND when there is no such program, DEADLINE_EXCEEDED when it
// has not ended after `longest` (it is then killed), RESOURCE_EXHAUSTED beyond
// 64 MiB of output, and INTERNAL with the system's reason. REQUIRES: words is
// not empty.
//
// A program that writes `last_words` to its standard error is killed at once;
// its code is then 137.
absl::StatusOr<Captured> RunCaptured(const std::vector<std::string>& words,
                                     Duration longest,
                                     const std::string& last_words = "");

// A folder for the files of one command.
class WorkFolder {
 public:
  // Creates `named` if it is missing; such a folder stays. If `named` is empty,
  // creates a temporary folder, which is removed with the object unless `keep`
  // is set. Returns STORE_UNWRITABLE on failure.
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

  std::string path_;  // empty after a move
  bool stays_;
};

// A coordinator and workers on this machine, stopped with the object.
class LocalFleet {
 public:
  explicit LocalFleet(const std::string& folder) : folder_(folder) {}
  ~LocalFleet() { Stop(); }
  LocalFleet(const LocalFleet&) = delete;
  LocalFleet& operator=(const LocalFleet&) = delete;

  // Starts the coordinator and waits until it listens. Returns COORDINATOR_AWAY
  // after 20 s.
  absl::Status StartCoordinator(StopSignals& signals);
  // Starts the workers. `trainer` holds arguments for them. Together they use
  // each core of the machine once. REQUIRES: the coordinator listens.
  absl::Status StartWorkers(int count, const std::vector<std::string>& trainer);

  // Returns TRAINER_EXITED, with the last lines of the log, when one of the
  // programs has ended.
  absl::Status Check();

  // Stops the workers first, so that they can hand back their trials. It is
  // idempotent.
  void Stop();

  const std::string& address() const { return address_; }  // HOST:PORT
  const std::string& page() const { return page_; }  // "http://…/"; or empty

 private:
  absl::Status Start(const std::string& name, const std::string& program,
                     const std::vector<std::string>& arguments);

  std::string folder_;
  std::string address_;
  std::string page_;
  std::vector<std::unique_ptr<ChildProcess>> children_;  // coordinator first
};

// Return the arguments for the trainer. Return TRAINER_START when the trainer's
// program is not beside ours.
absl::StatusOr<std::vector<std::string>> SyntheticTrainer();
absl::StatusOr<std::vector<std::string>> RealTrainer(
    const std::string& registry);

// Returns the address in the line "listening on HOST:PORT", or "" while there
// is no complete line of this kind.
std::string ListenAddressIn(const std::string& output);
// Returns the address in the line "page on http://HOST:PORT/" likewise.
std::string PageAddressIn(const std::string& output);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_PROCESS_CHILD_PROCESS_H_

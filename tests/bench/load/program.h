// SPDX-License-Identifier: Apache-2.0
//
// File: program.h
//
// A program of ours as a child: started, watched, killed. It dies with its
// parent, and its output goes to a file.
//
//   CoordinatorProgram coordinator({.data = folder.File("data")});
//   coordinator.Start();      // until it listens
//   coordinator.Signal(SIGKILL);
//   coordinator.Wait();
//   coordinator.Start();      // on the same port
#ifndef FROSTLINE_TESTS_BENCH_LOAD_PROGRAM_H_
#define FROSTLINE_TESTS_BENCH_LOAD_PROGRAM_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"

namespace frostline::bench {

// $FROSTLINE_BIN_DIR/NAME, or ../bin/NAME beside the running program.
std::string BinaryPath(const std::string& name);

// VmRSS now; 0 when there is no such process.
double ResidentKibOf(pid_t pid);

class Program {
 public:
  // `environment` is added to this process's: "NAME=value". The output is
  // appended to the file `log`.
  Program(std::vector<std::string> command,
          std::vector<std::string> environment, std::string log);
  ~Program();  // kill -9
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  void Start();
  void Signal(int signal) const;
  // Waits for its end: the exit code, or minus the signal that ended it.
  int Wait();
  // Whether it has ended; if so, `code` is what Wait() would say.
  bool HasEnded(int* code);
  void Kill();

  pid_t pid() const { return pid_; }
  std::string Log() const;
  double ResidentKib() const { return ResidentKibOf(pid_); }

 private:
  const std::vector<std::string> command_;
  const std::vector<std::string> environment_;
  const std::string log_;
  pid_t pid_ = 0;
};

struct CoordinatorSpec {
  std::string data;      // the folder
  std::string log = {};  // empty: <data>.log
  std::vector<std::string> options = {};
  std::vector<std::string> environment = {};
  std::string scheme = {};  // "tls:"; empty: plaintext
};

class CoordinatorProgram {
 public:
  explicit CoordinatorProgram(CoordinatorSpec spec);

  // Starts it and waits until it listens; false when it ended instead, or does
  // not listen for a minute. Keeps its port from the second time on.
  // `environment` is for this start only.
  bool Start(const std::vector<std::string>& environment = {});
  // Without waiting for anything.
  void Spawn(const std::vector<std::string>& environment = {});
  bool AwaitListening();
  void Kill();

  Program& program() { return *program_; }
  const std::string& address() const { return address_; }
  // How it ended, when AwaitListening() was in vain.
  int ended_with() const { return ended_with_; }
  // From the start of the process to the line that says that it listens.
  Duration start_took() const { return start_took_; }

 private:
  const CoordinatorSpec spec_;
  std::unique_ptr<Program> program_;
  std::string address_ = "127.0.0.1:0";
  std::size_t log_before_ = 0;
  SteadyTime spawned_{0};
  Duration start_took_{0};
  int ended_with_ = 0;
};

}  // namespace frostline::bench

#endif  // FROSTLINE_TESTS_BENCH_LOAD_PROGRAM_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: process.h
//
// How other programs are started. Two do it in another way, by fork(), as what
// they need is no option of posix_spawn(3): the trainer, whose guardian goes on
// after the fork (worker/agent/process/guardian.h), and programs that the
// kernel ends together with us (cli/process/child_process.h).
#ifndef FROSTLINE_BASE_PROCESS_H_
#define FROSTLINE_BASE_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/descriptor.h"

namespace frostline {

// A pipe. Both ends are closed on exec. When it cannot be made, it is not ok()
// and errno says why.
class Pipe {
 public:
  Pipe() : Pipe(Ends()) {}
  bool ok() const { return read.ok(); }

  Descriptor read;
  Descriptor write;

 private:
  explicit Pipe(const std::array<int, 2>& ends)
      : read(ends[0]), write(ends[1]) {}
  static std::array<int, 2> Ends();
};

// A program, and what it begins with.
struct ProcessStart {
  std::vector<std::string> words;  // a path or a name on the PATH, arguments
  // Its environment, each NAME=value; nothing: ours.
  std::optional<std::vector<std::string>> variables = {};
  // Its standard input, output and errors; below 0: ours.
  int in = -1;
  int out = -1;
  int err = -1;
  // It leads a group, which kill(-pid, …) reaches. Otherwise it is in ours, and
  // Ctrl-C ends it together with us.
  bool leads_group = false;
};

// Starts the program, without a shell. It inherits no other descriptor, no
// blocked signal, and not that SIGPIPE or SIGXFSZ is ignored. Any thread may
// call. Returns the process's number; below 0 nothing runs, and errno says why.
// REQUIRES: words is not empty.
pid_t StartProcess(const ProcessStart& start);

// Waits for a child's end and returns its status, as of wait(2).
int WaitForEnd(pid_t child);

// The exit code as a shell has it: 128 and more when a signal ended it.
int ShellCodeOf(int wait_status);

// What execv(3) takes: pointers into `texts`, and a null.
std::vector<char*> PointersTo(std::vector<std::string>& texts);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PROCESS_H_

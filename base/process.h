// SPDX-License-Identifier: Apache-2.0
//
// File: process.h
//
// Starts other programs, by posix_spawn(3). Two places need what it cannot do
// and call fork() instead: for a trainer, whose guardian continues after the
// fork (worker/agent/process/guardian.h), and for programs that the kernel ends
// together with us (cli/process/child_process.h).
#ifndef FROSTLINE_BASE_PROCESS_H_
#define FROSTLINE_BASE_PROCESS_H_

#include <sys/types.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/plain/descriptor.h"

namespace frostline {

// A pipe whose ends are closed on exec. When it cannot be made, it is not ok()
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

// What to start a program with.
struct ProcessStart {
  std::vector<std::string> words;  // its path, or name on the PATH; arguments
  // Its environment, each NAME=value; nothing: ours.
  std::optional<std::vector<std::string>> variables = {};
  // Its standard input, output and errors; below 0: ours.
  int in = -1;
  int out = -1;
  int err = -1;
  // It leads a process group, which kill(-pid, …) reaches. Otherwise it is in
  // our group, and Ctrl-C ends it together with us.
  bool leads_group = false;
};

// Starts the program, without a shell, and returns its process id. If that is
// below 0 nothing runs, and errno says why. The program inherits no other
// descriptor and no blocked signal; SIGPIPE and SIGXFSZ have their default
// actions. Any thread may call.
// REQUIRES: words is not empty.
pid_t StartProcess(const ProcessStart& start);

// Waits for a child's end and returns its status, as of wait(2).
int WaitForEnd(pid_t child);

// Returns the exit code as a shell does: 128 and more when a signal ended it.
int ShellCodeOf(int wait_status);

// Returns what execv(3) takes: pointers into `texts`, and a null.
std::vector<char*> PointersTo(std::vector<std::string>& texts);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PROCESS_H_

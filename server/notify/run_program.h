// SPDX-License-Identifier: Apache-2.0
//
// File: run_program.h
//
// Starts a program without a shell, gives it a text on standard input and waits
// for its end. The program inherits no descriptor, no blocked signal and few
// variables. It leads a process group of its own, which is killed with it.
#ifndef FROSTLINE_SERVER_NOTIFY_RUN_PROGRAM_H_
#define FROSTLINE_SERVER_NOTIFY_RUN_PROGRAM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/plain/result.h"

namespace frostline::server {

struct Program {
  std::vector<std::string> words;  // a path, or a name on the PATH; its args
  std::vector<std::string> variables;  // NAME=value, besides what it inherits
  std::string input;
  Duration limit = std::chrono::seconds(30);
};

struct Ran {
  int code = 0;           // as a shell has it: 128 and more after a signal
  std::string last_line;  // that it wrote, cleaned and short
};

// Blocks. Answers DEADLINE_EXCEEDED after the limit and CANCELLED once `stop`
// is raised, when the group was killed; else an error when nothing could start.
absl::StatusOr<Ran> RunProgram(const Program& program, const StopSign& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_RUN_PROGRAM_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: command.h
//
// A command that knows nothing of trials, as a trainer:
//
//   frostline-worker --command 'python train.py --lr {lr}'
//       --metrics 'regex:acc=(?P<accuracy>\S+)'
//
// The agent runs frostline-command.pyz for each trial, which is the Python
// package's own frostline-command, packed beside the agent: what a template, a
// configuration file and a reader of metrics mean is written down once
// (python/frostline/command.py).
#ifndef FROSTLINE_WORKER_AGENT_COMMAND_H_
#define FROSTLINE_WORKER_AGENT_COMMAND_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/flags.h"

namespace frostline::agent {

// A command, and how trials reach it and metrics come back.
struct PlainCommand {
  std::string text;  // --command; empty: none
  std::string config;
  bool runs_in_folder = false;
  // --metrics=WHAT, --rename=…, --set=…, as the trainer takes them.
  std::vector<std::string> more;
};

// Returns the flags that fill `command`, which outlives the parse.
std::vector<Flag> CommandFlags(PlainCommand* command);

// Returns the command line, for --exec, of the trainer that runs `command`. It
// gets three quarters of `stop_grace` from SIGTERM to SIGKILL; the rest is for
// what the trainer says then. `programs` is this program's folder. It has the
// trainer look at all that can be known before there is a trial. The error is
// REQUEST_INVALID, and names the flag, when a flag is given without --command,
// there is no Python for the trainer, or the trainer finds a mistake: a
// template with an open quote, no such reader, a configuration file that does
// not parse.
absl::StatusOr<std::string> TrainerOf(const PlainCommand& command,
                                      const std::filesystem::path& programs,
                                      Duration stop_grace);

// Returns the text as one word for the shell, whatever is in it.
std::string ShellQuoted(const std::string& text);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_COMMAND_H_

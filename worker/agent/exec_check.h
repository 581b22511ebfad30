// SPDX-License-Identifier: Apache-2.0
//
// File: exec_check.h
#ifndef FROSTLINE_WORKER_AGENT_EXEC_CHECK_H_
#define FROSTLINE_WORKER_AGENT_EXEC_CHECK_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::agent {

// Looks for the program of a trainer's command line, and for the script where
// the program is an interpreter, before a trial is lost on it. Returns
// REQUEST_INVALID naming what is not there or cannot be executed. It passes
// what only a shell understands: variables, quotes, pipes, its own commands.
absl::Status CheckExec(const std::string& command);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_EXEC_CHECK_H_

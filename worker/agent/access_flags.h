// SPDX-License-Identifier: Apache-2.0
//
// File: access_flags.h
//
// The flags that say where the coordinator is, and who the worker is.
#ifndef FROSTLINE_WORKER_AGENT_ACCESS_FLAGS_H_
#define FROSTLINE_WORKER_AGENT_ACCESS_FLAGS_H_

#include <vector>

#include "absl/status/status.h"
#include "base/flags.h"
#include "worker/agent/options.h"

namespace frostline::agent {

// An invitation says all that their variables would, so none counts for a
// worker that `joins`. `options` outlives the parse.
std::vector<Flag> AccessFlags(bool joins, AgentOptions* options);

// Says, before the parse, whether there is a --join.
bool HasJoin(int argc, const char* const* argv);

// Answers REQUEST_INVALID where a flag contradicts --join.
absl::Status CheckAccess(const AgentOptions& options);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_ACCESS_FLAGS_H_

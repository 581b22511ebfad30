// SPDX-License-Identifier: Apache-2.0
//
// File: join_source.h
//
// Where the line of --join comes from. On a command line others see it by `ps`
// until it is wiped; a file or standard input shows it to nobody.
#ifndef FROSTLINE_WORKER_AGENT_JOIN_SOURCE_H_
#define FROSTLINE_WORKER_AGENT_JOIN_SOURCE_H_

#include <istream>

#include "absl/status/statusor.h"
#include "base/secret.h"
#include "tls/join.h"

namespace frostline::agent {

// `given` is "-" for the first line of `input`, the path of a file of mode 0600
// (with a slash in it, or of one that is there), or the line itself. Errors
// quote a path alone.
absl::StatusOr<tls::JoinLine> ReadJoinLine(const SecretString& given,
                                           std::istream& input);

// Overwrites the token of a line behind --join, so that /proc/PID/cmdline has
// none. What was parsed before is a copy.
void HideJoinLine(int argc, char** argv);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_JOIN_SOURCE_H_

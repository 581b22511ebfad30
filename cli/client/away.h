// SPDX-License-Identifier: Apache-2.0
//
// File: away.h
#ifndef FROSTLINE_CLI_CLIENT_AWAY_H_
#define FROSTLINE_CLI_CLIENT_AWAY_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::cli {

// A coordinator that does not answer at `address`. `said` is what gRPC says of
// it, which is told in plain words where it is known. The fix starts one at
// this very address, where that is on this machine.
absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_AWAY_H_

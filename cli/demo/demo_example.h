// SPDX-License-Identifier: Apache-2.0
//
// File: demo_example.h
#ifndef FROSTLINE_CLI_DEMO_DEMO_EXAMPLE_H_
#define FROSTLINE_CLI_DEMO_DEMO_EXAMPLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/client/client.h"

namespace frostline::cli {

// Reads lines of JSON, one trial each. A line that is none is INTERNAL: the
// text is built in.
absl::StatusOr<std::vector<v1::ImportedTrial>> ReadImported(
    const std::string& text);

// Leaves the recorded study `example`, finished, where it is not yet. Call it
// before there are workers, lest one begins a trial of it.
absl::Status LeaveExample(Client& client);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_DEMO_DEMO_EXAMPLE_H_

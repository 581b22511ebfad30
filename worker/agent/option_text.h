// SPDX-License-Identifier: Apache-2.0
//
// File: option_text.h
//
// Options that are typed as text and mean something else: "10m", "50G",
// "KEY=VALUE". Pure; every error is a REQUEST_INVALID that names the option.
#ifndef FROSTLINE_WORKER_AGENT_OPTION_TEXT_H_
#define FROSTLINE_WORKER_AGENT_OPTION_TEXT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker/agent/options.h"

namespace frostline {

// As typed, where that is not yet what is meant.
struct RawAgentOptions {
  std::string slots = "1";
  std::vector<std::string> labels;
  double idle_timeout_s = 0.0;
  double stop_grace_s = 20.0;
  std::string hang_after = "10m";
  std::string orphan_limit = "30m";
  std::string keep = "useful";
  std::string keep_bytes = "100G";
};

absl::Status ReadOptions(const RawAgentOptions& raw, AgentOptions* options);

absl::Status BadOption(const std::string& option, const std::string& cause,
                       const std::string& fix);

// "90", "90s", "1m30s", "2h"; "off" is zero.
absl::StatusOr<Duration> ReadTimeOption(const std::string& option,
                                        const std::string& text);
// "1048576", "512M", "1.5T", in powers of 1,024.
absl::StatusOr<std::int64_t> ReadBytesOption(const std::string& option,
                                             const std::string& text);

}  // namespace frostline

#endif  // FROSTLINE_WORKER_AGENT_OPTION_TEXT_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: audit_verify.h
//
// Reads the audit's files of a data folder, the oldest first, and holds each
// line against the chain (base/plain/audit_chain.h). No coordinator is asked,
// and one that runs is not disturbed.
#ifndef FROSTLINE_CLI_COMMANDS_AUDIT_VERIFY_H_
#define FROSTLINE_CLI_COMMANDS_AUDIT_VERIFY_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::cli {

struct AuditFacts {
  std::int64_t entries = 0;
  std::string first_time;  // as the files have it
  std::string last_time;
  std::string last_chain;
  // The last line has no end yet: it is being written, or a kill cut it off. It
  // is not counted.
  bool unfinished = false;
};

// Takes a data folder, or a copy of its folder `audit`. Answers AUDIT_BROKEN
// with file, line and sequence of the first entry that is not what was written,
// REQUEST_INVALID where there is no audit.
absl::StatusOr<AuditFacts> VerifyAudit(const std::string& folder);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_AUDIT_VERIFY_H_

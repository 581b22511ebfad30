// SPDX-License-Identifier: Apache-2.0
//
// File: audit.h
//
// Reads the audit's files of a data folder, the oldest first, and holds each
// line against the chain (base/plain/audit_chain.h), and their end against the
// database. No coordinator is asked, and one that runs is not disturbed.
#ifndef FROSTLINE_CLI_COMMANDS_AUDIT_H_
#define FROSTLINE_CLI_COMMANDS_AUDIT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::cli {

// What the database has of the audit.
struct StoredAudit {
  std::int64_t moved = 0;                     // the files have entries up to it
  std::map<std::int64_t, std::string> lines;  // by their entries' numbers
};

// Reads what `frostline-coordinator --audit-end` prints; AUDIT_BROKEN where a
// line is no entry.
absl::StatusOr<StoredAudit> ParseStoredAudit(const std::string& text);

// Has the coordinator's program read the database beside the audit. Answers
// nothing where there is none, as for a copy of the folder `audit`, and the
// error of the database where it cannot be read.
absl::StatusOr<std::optional<StoredAudit>> FetchStoredAudit(
    const std::string& folder);

struct AuditFacts {
  std::int64_t entries = 0;
  std::string first_time;  // as the files have it
  std::string last_time;
  std::string last_chain;
  // The last line has no end yet: it is being written, or a kill cut it off. It
  // is not counted.
  bool unfinished = false;
  std::int64_t waiting = 0;  // entries that the database alone has yet
};

// Takes a data folder, or a copy of its folder `audit`. Answers AUDIT_BROKEN
// with file, line and sequence of the first entry that is not what was written,
// or with what is missing at the end, and REQUEST_INVALID where there is no
// audit. `stored` was read before: what comes later is in the files. Without it
// an end that was cut off does not show.
absl::StatusOr<AuditFacts> VerifyAudit(
    const std::string& folder,
    const std::optional<StoredAudit>& stored = std::nullopt);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_AUDIT_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: audit.h
//
// Checks the audit files of a data folder, the oldest first: each line against
// the chain (base/plain/audit_chain.h), and the end of the files against the
// database. It asks no coordinator and does not disturb a running one.
#ifndef FROSTLINE_CLI_COMMANDS_AUDIT_H_
#define FROSTLINE_CLI_COMMANDS_AUDIT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::cli {

// The entries of the audit that are in the database.
struct StoredAudit {
  std::int64_t moved = 0;                     // the last one in the files
  std::map<std::int64_t, std::string> lines;  // by the number of the entry
};

// Parses the output of `frostline-coordinator --audit-end`. Returns
// AUDIT_BROKEN when a line is not an entry.
absl::StatusOr<StoredAudit> ParseStoredAudit(const std::string& text);

// Runs the coordinator's program to read the database beside the audit. Returns
// nothing when there is no database, as beside a copy of the folder `audit`,
// and the database's error when it cannot be read.
absl::StatusOr<std::optional<StoredAudit>> FetchStoredAudit(
    const std::string& folder);

// What a check of the audit found.
struct AuditFacts {
  std::int64_t entries = 0;
  std::string first_time;  // from the files
  std::string last_time;
  std::string last_chain;
  // The last line has no end yet: it is being written, or a kill cut it off. It
  // is not counted.
  bool unfinished = false;
  std::int64_t waiting = 0;  // entries that are only in the database so far
};

// Checks the audit of a data folder, or of a copy of its folder `audit`.
// Returns AUDIT_BROKEN with file, line and sequence of the first changed entry,
// or with what is missing at the end. Returns REQUEST_INVALID when there is no
// audit. `stored` must be read before this call, so that later entries are in
// the files. Without it a cut-off end is not noticed.
absl::StatusOr<AuditFacts> VerifyAudit(
    const std::string& folder,
    const std::optional<StoredAudit>& stored = std::nullopt);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_COMMANDS_AUDIT_H_

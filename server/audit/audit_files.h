// SPDX-License-Identifier: Apache-2.0
//
// File: audit_files.h
//
// audit.jsonl grows; when it is full it gets the number of its first entry, and
// a new one begins. Nothing is ever removed here.
//
// One thread appends at a time; any thread may read meanwhile.
#ifndef FROSTLINE_SERVER_AUDIT_AUDIT_FILES_H_
#define FROSTLINE_SERVER_AUDIT_AUDIT_FILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/admin_service.pb.h"
#include "storage/rows.h"

namespace frostline::server {

inline constexpr std::size_t kAuditFileBytes = std::size_t{16} << 20;

class AuditFiles {
 public:
  // The folder is made at the first entry.
  explicit AuditFiles(std::string folder, std::size_t full = kAuditFileBytes);

  // Finds the last entry; an end without a newline is cut off: it was never
  // forgotten elsewhere. The error is STORE_UNAVAILABLE.
  absl::StatusOr<v1::AuditEntry> Last();
  // Appends those entries that come after the last one, and syncs. A failure
  // may leave some of them there, which is no harm.
  absl::Status Append(const std::vector<storage::AuditRow>& rows);
  // Calls `take(entry)` from the newest entry on, until it answers false.
  absl::Status ReadBack(
      absl::FunctionRef<bool(const v1::AuditEntry&)> take) const;

 private:
  absl::Status Open();
  absl::Status TurnOver();
  // Their paths, the newest first.
  std::vector<std::string> Paths() const;

  const std::string folder_;
  const std::size_t full_;
  std::int64_t last_ = -1;  // not looked for yet
  std::int64_t first_ = 0;  // of the file that grows
  std::size_t bytes_ = 0;   // of it
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUDIT_AUDIT_FILES_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: file.h
//
// Files and folders that the agent reads, locks and syncs.
#ifndef FROSTLINE_WORKER_AGENT_FILE_H_
#define FROSTLINE_WORKER_AGENT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::agent {

// Returns the error for the current errno: STORE_FULL, STORE_UNWRITABLE or
// STORE_IO.
absl::Status FileError(const std::string& what, const std::string& path);

absl::Status MakeFolders(const std::string& path);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Returns the sum as 64 lower-case hexadecimal digits.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);
// Syncs the names in `folder`, so that a file that was made or removed there
// stays so after a power cut.
absl::Status SyncFolder(const std::string& folder);

// Locks the file and returns its descriptor, which holds the lock while it is
// open. Returns -1 when another process has the lock.
absl::StatusOr<int> LockFile(const std::string& path);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_FILE_H_

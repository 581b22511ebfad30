// SPDX-License-Identifier: Apache-2.0
//
// File: file.h
#ifndef FROSTLINE_WORKER_AGENT_FILE_H_
#define FROSTLINE_WORKER_AGENT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::agent {

// Returns STORE_FULL, STORE_UNWRITABLE or STORE_IO, by errno.
absl::Status FileError(const std::string& what, const std::string& path);

absl::Status MakeFolders(const std::string& path);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// Returns 64 lower-case hexadecimal digits.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);
// Makes a new or removed name in `folder` survive a power cut.
absl::Status SyncFolder(const std::string& folder);

// Returns a descriptor that locks while it is open, or -1 when another process
// has the lock.
absl::StatusOr<int> LockFile(const std::string& path);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_FILE_H_

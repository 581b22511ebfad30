// SPDX-License-Identifier: Apache-2.0
//
// File: file.h
//
// The few calls on files whose failure must be told apart for people.
#ifndef FROSTLINE_WORKER_AGENT_FILE_H_
#define FROSTLINE_WORKER_AGENT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::agent {

// STORE_FULL, STORE_UNWRITABLE or STORE_IO for the current errno.
absl::Status FileError(const std::string& what, const std::string& path);

absl::Status MakeFolders(const std::string& path);
absl::StatusOr<std::string> ReadFile(const std::string& path);
// 64 lower-case hexadecimal digits. Reads in pieces: a checkpoint is large.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);
// Makes a new or removed name in `folder` survive a power cut.
absl::Status SyncFolder(const std::string& folder);

// Takes the lock file at `path` for this process; the kernel lets go of it
// however the process ends. -1: another process holds it.
absl::StatusOr<int> LockFile(const std::string& path);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_FILE_H_

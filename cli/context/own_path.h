// SPDX-License-Identifier: Apache-2.0
//
// File: own_path.h
//
// Files and folders that are for their user alone. Every error is TLS_FILE.
#ifndef FROSTLINE_CLI_CONTEXT_OWN_PATH_H_
#define FROSTLINE_CLI_CONTEXT_OWN_PATH_H_

#include <sys/stat.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// Answers nothing when `path` is not there, and an error when it is another
// user's. A link is looked at itself.
absl::StatusOr<std::optional<mode_t>> ModeOf(const std::string& path);

// Refuses a mode that has any of the bits `refused`, and says what to type.
absl::Status CheckMode(const std::string& path, mode_t mode, mode_t refused);

// Makes it with mode 0700, or finds it there.
absl::Status MakeFolder(const std::string& path);

absl::Status Unwritable(const std::string& path, const std::string& why);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CONTEXT_OWN_PATH_H_

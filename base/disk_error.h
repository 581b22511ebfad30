// SPDX-License-Identifier: Apache-2.0
//
// File: disk_error.h
//
// A file that could not be written is the disk's matter, or that of whoever
// named it.
#ifndef FROSTLINE_BASE_DISK_ERROR_H_
#define FROSTLINE_BASE_DISK_ERROR_H_

#include <string>

#include "absl/status/status.h"

namespace frostline {

// Answers STORE_FULL for want of room, STORE_IO where the disk failed, and else
// `otherwise`. `error` is an errno, `cause` names the file.
absl::Status DiskErrorOr(int error, const std::string& cause,
                         absl::Status otherwise);

}  // namespace frostline

#endif  // FROSTLINE_BASE_DISK_ERROR_H_

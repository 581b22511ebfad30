// SPDX-License-Identifier: Apache-2.0
//
// File: text_file.h
#ifndef FROSTLINE_CLI_TERM_TEXT_FILE_H_
#define FROSTLINE_CLI_TERM_TEXT_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace frostline::cli {

// Reads at most one byte more than `max_bytes`, so that the reader sees there
// was more; "-" is standard input. It answers REQUEST_INVALID when it cannot.
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         std::size_t max_bytes);

// Replaces what is there. It answers REQUEST_INVALID when it cannot.
absl::Status WriteTextFile(const std::string& path, const std::string& text);

// Returns at most `lines` and 64 KiB; "" when there are none.
std::string LastLines(const std::string& path, int lines);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TEXT_FILE_H_

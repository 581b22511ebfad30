// SPDX-License-Identifier: Apache-2.0
//
// File: text_file.h
//
// Whole small files.
#ifndef FROSTLINE_CLI_TERM_TEXT_FILE_H_
#define FROSTLINE_CLI_TERM_TEXT_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace frostline::cli {

// One byte more than `max_bytes` at most, so that the reader sees there was
// more; "-" is standard input. REQUEST_INVALID when it cannot be read.
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         std::size_t max_bytes);

// At most `lines` and 64 KiB; empty when there are none.
std::string LastLines(const std::string& path, int lines);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TEXT_FILE_H_

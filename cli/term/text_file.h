// SPDX-License-Identifier: Apache-2.0
//
// File: text_file.h
#ifndef FROSTLINE_CLI_TERM_TEXT_FILE_H_
#define FROSTLINE_CLI_TERM_TEXT_FILE_H_

#include <cstddef>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/plain/file.h"

namespace frostline::cli {

// Reads at most one byte more than `max_bytes`, so that the reader sees there
// was more; "-" is standard input. It answers REQUEST_INVALID when it cannot.
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         std::size_t max_bytes);

// Replaces what is there. It answers REQUEST_INVALID when it cannot.
absl::Status WriteTextFile(const std::string& path, const std::string& text);

// Returns at most `lines` and 64 KiB; "" when there are none.
std::string LastLines(const std::string& path, int lines);

// What somebody named with -o FILE.

// "", "-" and /dev/stdout.
bool IsStandardOutput(const std::string& path);

// What a link leads to, whether that is there or not.
std::string WithoutLinks(const std::string& path);

// Whether it is there, and is neither a file nor a folder: a pipe, a device.
bool IsStream(const std::string& path);

// Which format a file's name ends in, in capitals or not: "svg" of "a.svg",
// "yaml" of "a.yml"; "" where it tells none.
std::string FormatOfEnding(const std::string& path);

// Answers REQUEST_INVALID where a file would be replaced without `force`. A
// stream is not replaced.
absl::Status CheckMayReplace(const std::string& path, bool force);

// A file appears whole, or not at all; a link stays one, and what it leads to
// is replaced; a stream is written piece by piece. Every error is
// REQUEST_INVALID.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path);

  absl::Status Append(const std::string& piece);
  // It is the last call.
  absl::Status Commit();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::optional<AtomicFile> file_;
  std::ofstream stream_;  // where there is no file
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TEXT_FILE_H_

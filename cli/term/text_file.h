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

// Reads a file, or standard input for "-". It reads at most one byte more than
// `max_bytes`, so that the caller notices a longer file. Returns
// REQUEST_INVALID on failure.
absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         std::size_t max_bytes);

// Writes a file over an existing one. Returns REQUEST_INVALID on failure.
absl::Status WriteTextFile(const std::string& path, const std::string& text);

// Returns the last lines of a file, at most `lines` and 64 KiB, or "".
std::string LastLines(const std::string& path, int lines);

// The files that -o FILE names.

// Returns whether the path is "", "-" or /dev/stdout.
bool IsStandardOutput(const std::string& path);

// Follows links and returns their target, whether it exists or not.
std::string WithoutLinks(const std::string& path);

// Returns whether the path exists and is neither a file nor a folder, but a
// pipe or a device.
bool IsStream(const std::string& path);

// Returns the format in a file's extension, in any case: "svg" for "a.svg",
// "yaml" for "a.yml", "" if it has none.
std::string FormatOfEnding(const std::string& path);

// Returns REQUEST_INVALID when a file would be replaced without `force`.
// Streams are never replaced.
absl::Status CheckMayReplace(const std::string& path, bool force);

// A file under construction. It appears completely or not at all. A link stays,
// and its target is replaced. A stream is written piece by piece. Every error
// is REQUEST_INVALID.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Open(
      const std::string& path);

  absl::Status Append(const std::string& piece);
  // Finishes the file. It must be the last call.
  absl::Status Commit();

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  std::optional<AtomicFile> file_;
  std::ofstream stream_;  // used when there is no file
};

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_TERM_TEXT_FILE_H_

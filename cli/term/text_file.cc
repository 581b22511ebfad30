// SPDX-License-Identifier: Apache-2.0
#include "cli/term/text_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::cli {
namespace {

constexpr std::streamoff kTailBytes = 64 * 1024;

std::string ReadUpTo(std::istream& stream, std::size_t max_bytes) {
  std::string text(max_bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(max_bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return text;
}

absl::Status Unreadable(const std::string& path, const std::string& why) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("cannot read ", path, ": ", why),
                   "name a file that exists and can be read");
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path,
                                         std::size_t max_bytes) {
  if (path == "-") return ReadUpTo(std::cin, max_bytes + 1);
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return Unreadable(path, "it is a folder");
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return Unreadable(path, std::strerror(errno));
  return ReadUpTo(stream, max_bytes + 1);
}

absl::Status WriteTextFile(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text << std::flush;
  if (file) return absl::OkStatus();
  const int error = errno;
  const std::string cause =
      absl::StrCat(path, " cannot be written: ", std::strerror(error));
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kRequestInvalid, cause,
                "name a file in a folder that is there and may be written"));
}

std::string LastLines(const std::string& path, int lines) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream) return "";
  const std::streamoff size = stream.tellg();
  const std::streamoff start = size > kTailBytes ? size - kTailBytes : 0;
  stream.seekg(start);
  std::string text = ReadUpTo(stream, static_cast<std::size_t>(size - start));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::size_t cut = text.size();
  for (int i = 0; i < lines && cut != std::string::npos && cut > 0; ++i) {
    cut = text.rfind('\n', cut - 1);
  }
  if (cut == std::string::npos || cut == 0) return text;
  return text.substr(cut + 1);
}

namespace {

namespace fs = std::filesystem;

// The most links to follow, as in Linux.
constexpr int kMostLinks = 40;

struct Ending {
  const char* name;
  const char* format;
};
constexpr std::array kEndings = {
    Ending{".csv", "csv"}, Ending{".json", "json"}, Ending{".jsonl", "jsonl"},
    Ending{".svg", "svg"}, Ending{".yaml", "yaml"}, Ending{".yml", "yaml"}};

absl::Status UnwritableFile(const std::string& path, const std::string& why,
                            int error) {
  const std::string cause = absl::StrCat(path, " cannot be written: ", why);
  return DiskErrorOr(
      error, cause,
      MakeError(ErrorId::kRequestInvalid, cause,
                "name a file in a folder that is there and may be written",
                "--output"));
}

absl::Status UnwritableFile(const std::string& path, const Fault& fault) {
  return UnwritableFile(path, fault.cause, fault.system_error);
}

absl::Status StatusOf(const std::string& path, const Expected<Done>& done) {
  return done.ok() ? absl::OkStatus() : UnwritableFile(path, done.fault());
}

}  // namespace

bool IsStandardOutput(const std::string& path) {
  return path.empty() || path == "-" || path == "/dev/stdout";
}

std::string WithoutLinks(const std::string& path) {
  fs::path at(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(fs::symlink_status(at, error))) break;
    const fs::path target = fs::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / target;
  }
  return at.string();
}

bool IsStream(const std::string& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  return fs::exists(found) && !fs::is_regular_file(found) &&
         !fs::is_directory(found);
}

std::string FormatOfEnding(const std::string& path) {
  for (const Ending& ending : kEndings) {
    if (absl::EndsWithIgnoreCase(path, ending.name)) return ending.format;
  }
  return "";
}

absl::Status CheckMayReplace(const std::string& path, bool force) {
  std::error_code error;
  if (force || IsStandardOutput(path) || IsStream(path) ||
      !fs::exists(path, error)) {
    return absl::OkStatus();
  }
  return MakeError(
      ErrorId::kRequestInvalid, absl::StrCat(path, " is there already"),
      "name another file, or add --force to replace it", "--output");
}

absl::StatusOr<std::unique_ptr<OutputFile>> OutputFile::Open(
    const std::string& path) {
  std::unique_ptr<OutputFile> output(new OutputFile(path));
  if (IsStream(path)) {
    output->stream_.open(path, std::ios::binary);
    if (!output->stream_)
      return UnwritableFile(path, "it takes nothing", errno);
    return output;
  }
  Expected<AtomicFile> made = AtomicFile::Create(WithoutLinks(path));
  if (!made.ok()) return UnwritableFile(path, made.fault());
  output->file_.emplace(std::move(made).value());
  return output;
}

absl::Status OutputFile::Append(const std::string& piece) {
  if (file_.has_value()) {
    return StatusOf(path_, file_->Append(piece.data(), piece.size()));
  }
  stream_ << piece << std::flush;
  return stream_ ? absl::OkStatus()
                 : UnwritableFile(path_, "it takes no more", errno);
}

absl::Status OutputFile::Commit() {
  return file_.has_value() ? StatusOf(path_, file_->Commit())
                           : absl::OkStatus();
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/term/text_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>

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

}  // namespace frostline::cli

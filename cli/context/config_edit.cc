// SPDX-License-Identifier: Apache-2.0
//
// A configuration file as text: what is read of a disk, and one line changed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/plain/yaml.h"
#include "cli/context/config_file.h"
#include "cli/context/own_path.h"

namespace frostline::cli {
namespace {

class OpenFile {
 public:
  // A pipe must not hold us, and a link may lead to what is another user's.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(),
                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

absl::Status NotOurs(const std::string& cause, const std::string& fix) {
  return MakeError(ErrorId::kTlsFile, cause, fix);
}

absl::Status Unreadable(const std::string& path, int error) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat("settings cannot be read: ", path, ": ",
                                std::strerror(error)),
                   "make the file readable for yourself");
}

bool IsBare(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
         c == '/' || c == '_' || c == '-' || c == ':';
}

std::string Quoted(const std::string& value) {
  if (value.empty()) return "''";
  const bool is_bare =
      absl::ascii_isalnum(static_cast<unsigned char>(value.front())) &&
      value.back() != ':' && std::all_of(value.begin(), value.end(), IsBare);
  if (is_bare || value.front() == '/') {
    if (std::all_of(value.begin(), value.end(), IsBare)) return value;
  }
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

using Lines = std::vector<std::string>;

Lines::iterator LineOf(const std::string& key, Lines& lines) {
  return std::find_if(lines.begin(), lines.end(), [&](const auto& one) {
    return absl::StartsWith(one, key + ":");
  });
}

// Says why the line cannot be replaced by itself; empty: it can.
std::string WhyNotAlone(const Lines& lines, Lines::const_iterator line) {
  const auto next = line + 1;
  if (next != lines.end() &&
      (absl::StartsWith(*next, " ") || absl::StartsWith(*next, "-"))) {
    return "the value goes on in the next line";
  }
  return absl::StrContains(*line, " #")
             ? "the comment behind the value would be lost"
             : "";
}

absl::Status HandIsNeeded(const std::string& file, std::ptrdiff_t line,
                          const std::string& why, const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid,
                   absl::StrCat(file, ":", line + 1, ": ", why), fix);
}

}  // namespace

absl::StatusOr<std::optional<std::string>> ReadOwnFile(const std::string& path,
                                                       bool group_may_write) {
  const OpenFile file(path);
  if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  struct stat facts{};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0) {
    if (errno != ELOOP) return Unreadable(path, errno);
    return NotOurs(path + " is a link",
                   "put a file of yours there, or remove it");
  }
  if (!S_ISREG(facts.st_mode)) {
    return NotOurs(path + " is no file", "remove it");
  }
  if (facts.st_uid != geteuid()) {
    return NotOurs(path + " is another user's",
                   "copy it to a file of yours, or remove it");
  }
  RETURN_IF_ERROR(CheckMode(path, facts.st_mode,
                            group_may_write ? S_IWOTH : S_IWGRP | S_IWOTH));
  std::string text;
  std::array<char, 4096> block{};
  ssize_t got = 0;
  while (text.size() <= kMaxYamlBytes &&
         (got = read(file.fd(), block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<std::size_t>(got));
  }
  if (got < 0) {
    return Unreadable(path, errno);
  }
  return std::optional<std::string>(text);
}

absl::StatusOr<std::string> SetInConfig(const std::string& text,
                                        const std::string& file,
                                        const std::string& key,
                                        const std::string& value) {
  const std::string line = absl::StrCat(key, ": ", Quoted(value));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto found = LineOf(key, lines);
  if (found == lines.end()) {
    const bool is_open = !text.empty() && text.back() != '\n';
    return absl::StrCat(text, is_open ? "\n" : "", line, "\n");
  }
  const std::string why = WhyNotAlone(lines, found);
  if (!why.empty()) {
    return HandIsNeeded(file, found - lines.begin(), why,
                        absl::StrCat("write `", line, "` there yourself"));
  }
  *found = line;
  return absl::StrJoin(lines, "\n");
}

absl::StatusOr<std::string> UnsetInConfig(const std::string& text,
                                          const std::string& file,
                                          const std::string& key) {
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto found = LineOf(key, lines);
  if (found == lines.end()) return text;
  const std::string why = WhyNotAlone(lines, found);
  if (!why.empty()) {
    return HandIsNeeded(file, found - lines.begin(), why,
                        absl::StrCat("take ", key, " out there yourself"));
  }
  lines.erase(found);
  return absl::StrJoin(lines, "\n");
}

}  // namespace frostline::cli

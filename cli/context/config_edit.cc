// SPDX-License-Identifier: Apache-2.0
//
// A configuration file as text: what is read of a disk, and one line changed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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
#include "base/status_macros.h"
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

}  // namespace

absl::StatusOr<std::optional<std::string>> ReadOwnFile(const std::string& path,
                                                       bool group_may_write) {
  const OpenFile file(path);
  if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    return std::optional<std::string>();
  }
  struct stat facts{};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0) {
    return NotOurs(errno == ELOOP
                       ? path + " is a link"
                       : absl::StrCat(path, ": ", std::strerror(errno)),
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
    return NotOurs(absl::StrCat(path, ": ", std::strerror(errno)),
                   "make the file readable for yourself");
  }
  return std::optional<std::string>(text);
}

absl::StatusOr<std::string> SetInConfig(const std::string& text,
                                        const std::string& file,
                                        const std::string& key,
                                        const std::string& value) {
  const std::string line = absl::StrCat(key, ": ", Quoted(value));
  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  const auto found =
      std::find_if(lines.begin(), lines.end(), [&key](const std::string& one) {
        return absl::StartsWith(one, key + ":");
      });
  if (found == lines.end()) {
    const bool is_open = !text.empty() && text.back() != '\n';
    return absl::StrCat(text, is_open ? "\n" : "", line, "\n");
  }
  const auto next = found + 1;
  const bool goes_on = next != lines.end() && (absl::StartsWith(*next, " ") ||
                                               absl::StartsWith(*next, "-"));
  if (goes_on || absl::StrContains(*found, " #")) {
    return MakeError(
        ErrorId::kRequestInvalid,
        absl::StrCat(file, ":", found - lines.begin() + 1, ": ",
                     goes_on ? "the value goes on in the next line"
                             : "the comment behind the value would be lost"),
        absl::StrCat("write `", line, "` there yourself"));
  }
  *found = line;
  return absl::StrJoin(lines, "\n");
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/machine.h"

#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cli/process/child_process.h"

namespace frostline::cli::doctor {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<FolderFacts> LookAt(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder, error).lexically_normal();
  FolderFacts facts;
  facts.is_there = fs::exists(at, error);
  while (!fs::exists(at, error) && at != at.parent_path()) {
    at = at.parent_path();
  }
  facts.nearest = at.string();
  struct statfs found{};
  if (statfs(at.c_str(), &found) != 0) {
    return absl::InternalError(
        absl::StrCat(facts.nearest, ": ", std::strerror(errno)));
  }
  facts.writable = access(at.c_str(), W_OK | X_OK) == 0;
  facts.free_bytes = static_cast<std::int64_t>(found.f_bavail) *
                     static_cast<std::int64_t>(found.f_bsize);
  facts.file_system = static_cast<std::uint64_t>(found.f_type);
  return facts;
}

}  // namespace

std::string Machine::Read(const std::string& path) const {
  std::ifstream file(root + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Machine ThisMachine() {
  Machine machine;
  machine.run = [](const std::vector<std::string>& words, Duration longest) {
    return RunCaptured(words, longest);
  };
  machine.sibling = [](const std::string& name) {
    return SiblingProgram(name);
  };
  machine.look = LookAt;
  return machine;
}

}  // namespace frostline::cli::doctor

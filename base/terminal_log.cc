// SPDX-License-Identifier: Apache-2.0
#include "base/terminal_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace frostline {
namespace {

constexpr std::int64_t kLargeLog = std::int64_t{16} << 20;
constexpr int kOwnerOnly = 0600;  // it names studies and paths
constexpr int kFolderOfOwner = 0700;

std::atomic<int> log_terminal{-1};

// Sets a large log of earlier runs aside.
void SetAside(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || info.st_size < kLargeLog) return;
  (void)std::rename(path.c_str(), (path + ".1").c_str());
}

}  // namespace

TerminalLog::TerminalLog(const std::string& path, bool is_wanted) {
  if (!is_wanted || isatty(STDERR_FILENO) == 0) return;
  const std::string folder = path.substr(0, path.rfind('/'));
  (void)mkdir(folder.c_str(), kFolderOfOwner);  // mostly it is there
  SetAside(path);
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kOwnerOnly);
  if (file < 0) return;
  terminal_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (terminal_ >= 0) dup2(file, STDERR_FILENO);
  close(file);
  log_terminal = terminal_;
}

TerminalLog::~TerminalLog() {
  if (terminal_ < 0) return;
  log_terminal = -1;
  dup2(terminal_, STDERR_FILENO);
  close(terminal_);
}

bool GivesLogFlag(int argc, const char* const* argv) {
  return std::any_of(argv, argv + argc, [](const char* word) {
    return std::string_view(word).starts_with("--log-");
  });
}

void SayOnTerminal(const std::string& line) {
  const int terminal = log_terminal;
  if (terminal < 0) return;
  // What another program shows in this line, a watch for example, gives way.
  const std::string text = "\r\x1b[K" + line + "\n";
  [[maybe_unused]] const ssize_t written =
      write(terminal, text.data(), text.size());
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/log.h"
#include "worker/agent/file.h"

namespace frostline::agent {

LogFile::LogFile(std::string path) : path_(std::move(path)) { Open(); }

LogFile::~LogFile() {
  if (fd_ >= 0) close(fd_);
}

void LogFile::Open() {
  if (fd_ >= 0) close(fd_);
  size_ = 0;
  fd_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
             0644);
  if (fd_ >= 0) return;
  Log(LogLevel::kWarning, "no_log_file",
      {{"cause", std::string(FileError("create", path_).message())}});
}

void LogFile::Append(const std::string& text) {
  if (fd_ < 0) return;
  if (size_ > 0 && size_ + text.size() > kMaxLogFileBytes) {
    std::rename(path_.c_str(), (path_ + ".1").c_str());
    Open();
  }
  // A short write loses the end of a line; the next one follows it.
  const ssize_t written = write(fd_, text.data(), text.size());
  if (written > 0) size_ += static_cast<std::size_t>(written);
}

}  // namespace frostline::agent

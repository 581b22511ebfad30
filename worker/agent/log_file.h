// SPDX-License-Identifier: Apache-2.0
//
// File: log_file.h
//
// The log of one attempt becomes NAME.1 at kMaxLogFileBytes, in place of an
// older one. A disk that refuses costs lines, never the training.
// One thread at a time may use it.
#ifndef FROSTLINE_WORKER_AGENT_LOG_FILE_H_
#define FROSTLINE_WORKER_AGENT_LOG_FILE_H_

#include <cstddef>
#include <string>

namespace frostline::agent {

inline constexpr std::size_t kMaxLogFileBytes = std::size_t{8} << 20;

class LogFile {
 public:
  explicit LogFile(std::string path);  // begins empty
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  void Append(const std::string& text);

 private:
  void Open();

  const std::string path_;
  int fd_ = -1;
  std::size_t size_ = 0;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LOG_FILE_H_

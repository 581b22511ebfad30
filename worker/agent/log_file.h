// SPDX-License-Identifier: Apache-2.0
//
// File: log_file.h
//
// The log of one attempt. At kMaxLogFileBytes it becomes NAME.1, in place of an
// older one. A disk that refuses costs lines, never the training.
#ifndef FROSTLINE_WORKER_AGENT_LOG_FILE_H_
#define FROSTLINE_WORKER_AGENT_LOG_FILE_H_

#include <cstddef>
#include <string>

namespace frostline::agent {

inline constexpr std::size_t kMaxLogFileBytes = std::size_t{8} << 20;

// One thread at a time.
class LogFile {
 public:
  // Begins empty.
  explicit LogFile(std::string path);
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

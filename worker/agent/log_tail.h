// SPDX-License-Identifier: Apache-2.0
//
// File: log_tail.h
//
// Keeps the last words of a trainer: its standard error, and what was no
// message on its standard output.
#ifndef FROSTLINE_WORKER_AGENT_LOG_TAIL_H_
#define FROSTLINE_WORKER_AGENT_LOG_TAIL_H_

#include <cstddef>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/log_file.h"

namespace frostline::agent {

inline constexpr std::size_t kMaxLogTailBytes = std::size_t{64} << 10;

// Append waits for the disk; it, Follow and Clear belong to one thread. Any
// thread may call Text.
class LogTail {
 public:
  void Append(const std::string& text);
  // Sends appended text there too, or nowhere if null.
  void Follow(std::unique_ptr<LogFile> file) { file_ = std::move(file); }
  void Clear();
  // Returns valid UTF-8, at most kMaxLogTailBytes, cut at a line's start.
  std::string Text() const;

 private:
  mutable Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LogFile> file_;  // the appending thread's alone
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LOG_TAIL_H_

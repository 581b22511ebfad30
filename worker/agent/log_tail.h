// SPDX-License-Identifier: Apache-2.0
//
// File: log_tail.h
//
// The last words of a trainer: what it wrote on standard error and what was no
// message on standard output. Kept short, and valid UTF-8 when asked for; all
// of it goes to the attempt's log file as well.
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

// Whoever reads never waits for the disk: only Append does, which belongs to
// one thread, like Follow and Clear. Text: any thread.
class LogTail {
 public:
  void Append(const std::string& text);
  // What is appended from now on goes there too. Null: nowhere.
  void Follow(std::unique_ptr<LogFile> file) { file_ = std::move(file); }
  void Clear();
  // At most kMaxLogTailBytes, begun at a line's start where it was cut.
  std::string Text() const;

 private:
  mutable Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LogFile> file_;  // the appending thread's alone
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LOG_TAIL_H_

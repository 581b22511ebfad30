// SPDX-License-Identifier: Apache-2.0
//
// File: log_tail.h
//
// Keeps the last words of a trainer: its standard error, and what was no
// message on its standard output. The text is counted from the log's begin, so
// whoever has read up to byte 900 may ask for what comes after it.
#ifndef FROSTLINE_WORKER_AGENT_PROCESS_LOG_TAIL_H_
#define FROSTLINE_WORKER_AGENT_PROCESS_LOG_TAIL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// The log of one attempt becomes NAME.1 at kMaxLogFileBytes, in place of an
// older one. A disk that refuses costs lines, never the training.
// One thread at a time may use it.

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

inline constexpr std::size_t kMaxLogTailBytes = std::size_t{64} << 10;

// Valid UTF-8 without control characters, as it is shown to people.
std::string CleanLog(const std::string& raw);

// The last part of a trainer's log, in memory. Append waits for the disk; it,
// Follow and Clear belong to one thread. Any thread may call the others.
class LogTail {
 public:
  // A part of the log, at most kMaxLogTailBytes, that begins at a line's start
  // where something before it was left out. `end` counts all clean bytes of the
  // log up to its end.
  struct Piece {
    std::string text;
    std::int64_t end = 0;
  };

  void Append(const std::string& text);
  // Sends appended text there too, or nowhere if null.
  void Follow(std::unique_ptr<LogFile> file) { file_ = std::move(file); }
  // Begins a new log. A bell that was to ring for the old one will not.
  void Clear();

  Piece Tail() const { return After(0); }
  // Returns what came after so many bytes, or the last of it.
  Piece After(std::int64_t bytes) const;
  std::string Text() const { return Tail().text; }
  std::int64_t end() const;
  // Rings once, as soon as the log has more than so many bytes. One bell is
  // remembered; it outlives this.
  void RingAfter(std::int64_t bytes, Wakeup* bell);

 private:
  mutable Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);  // clean
  std::int64_t end_ ABSL_GUARDED_BY(mutex_) = 0;
  Wakeup* bell_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::int64_t ring_after_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string half_;               // a character that has not come whole
  std::unique_ptr<LogFile> file_;  // these are the appending thread's alone
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_LOG_TAIL_H_

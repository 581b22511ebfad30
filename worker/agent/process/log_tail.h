// SPDX-License-Identifier: Apache-2.0
//
// File: log_tail.h
//
// The log of a trainer, as a file and its last part in memory. It has what the
// trainer writes to standard error, and the lines on its standard output that
// are no messages. Bytes are counted from the log's begin, so whoever has read
// up to byte 900 may ask for what comes after it.
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

inline constexpr std::size_t kMaxLogFileBytes = std::size_t{8} << 20;

// The log file of one attempt. At kMaxLogFileBytes it is renamed to NAME.1, in
// place of an older one, and a new one begins. If the disk fails, lines are
// lost, but training goes on. One thread at a time may use it.
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

// Returns the text as it is shown to people: valid UTF-8 without control
// characters.
std::string CleanLog(const std::string& raw);

// The last part of a trainer's log, in memory. One thread calls Append(), which
// waits for the disk, Follow() and Clear(). Any thread may call the others.
class LogTail {
 public:
  // A part of the log, of at most kMaxLogTailBytes. It begins at the start of a
  // line if something before it was left out. `end` is where it ends, counted
  // from the log's begin.
  struct Piece {
    std::string text;
    std::int64_t end = 0;
  };

  void Append(const std::string& text);
  // Writes what is appended to this file too; null: to no file.
  void Follow(std::unique_ptr<LogFile> file) { file_ = std::move(file); }
  // Begins a new log. A bell for the old one rings no more.
  void Clear();

  Piece Tail() const { return After(0); }
  // Returns what comes after the first `bytes`, or the last part of it.
  Piece After(std::int64_t bytes) const;
  std::string Text() const { return Tail().text; }
  std::int64_t end() const;
  // Rings once, as soon as the log has more than `bytes`. Only the last bell
  // that was given counts; it outlives this.
  void RingAfter(std::int64_t bytes, Wakeup* bell);

 private:
  mutable Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);  // clean
  std::int64_t end_ ABSL_GUARDED_BY(mutex_) = 0;
  Wakeup* bell_ ABSL_GUARDED_BY(mutex_) = nullptr;
  std::int64_t ring_after_ ABSL_GUARDED_BY(mutex_) = 0;
  // The appending thread alone uses these two.
  std::string half_;  // the begin of a character whose rest is still to come
  std::unique_ptr<LogFile> file_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_PROCESS_LOG_TAIL_H_

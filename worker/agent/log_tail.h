// SPDX-License-Identifier: Apache-2.0
//
// File: log_tail.h
//
// The last words of a trainer: what it wrote on standard error and what was no
// message on standard output. Kept short, and valid UTF-8 when asked for.
#ifndef FROSTLINE_WORKER_AGENT_LOG_TAIL_H_
#define FROSTLINE_WORKER_AGENT_LOG_TAIL_H_

#include <cstddef>
#include <mutex>
#include <string>

namespace frostline {

inline constexpr std::size_t kMaxLogTailBytes = std::size_t{64} << 10;

// Thread-safe.
class LogTail {
 public:
  void Append(const std::string& text);
  void Clear();
  // At most kMaxLogTailBytes, begun at a line's start where it was cut.
  std::string Text() const;

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace frostline

#endif  // FROSTLINE_WORKER_AGENT_LOG_TAIL_H_

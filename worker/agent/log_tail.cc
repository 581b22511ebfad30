// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/log_tail.h"

#include "proto/wire_error.h"

namespace frostline::agent {

void LogTail::Append(const std::string& text) {
  if (file_ != nullptr) file_->Append(text);
  const MutexLock lock(&mutex_);
  text_ += text;
  // Cut rarely, so that many short lines do not move the rest each time.
  if (text_.size() > 2 * kMaxLogTailBytes) {
    text_.erase(0, text_.size() - kMaxLogTailBytes);
  }
}

void LogTail::Clear() {
  const MutexLock lock(&mutex_);
  text_.clear();
}

std::string LogTail::Text() const {
  std::string raw;
  {
    const MutexLock lock(&mutex_);
    raw = text_;
  }
  if (raw.size() > kMaxLogTailBytes) {
    raw.erase(0, raw.size() - kMaxLogTailBytes);
    const std::size_t line_end = raw.find('\n');
    if (line_end != std::string::npos) raw.erase(0, line_end + 1);
  }
  std::string clean;
  for (std::size_t begin = 0; begin < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', begin), raw.size());
    clean += proto::CleanText(raw.substr(begin, end - begin), kMaxLogTailBytes);
    if (end < raw.size()) clean += '\n';
    begin = end + 1;
  }
  return clean;
}

}  // namespace frostline::agent

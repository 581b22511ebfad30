// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/process/log_tail.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/log.h"
#include "proto/wire_error.h"
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

namespace {

constexpr std::size_t kLongestCharacter = 4;

// Returns how many bytes at the end begin a character whose rest is still to
// come; 0 if they cannot be UTF-8.
std::size_t HalfCharacter(const std::string& text) {
  for (std::size_t back = 1; back < kLongestCharacter && back <= text.size();
       ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;  // inside of one
    std::size_t length = 1;
    if ((byte & 0xE0U) == 0xC0U) length = 2;
    if ((byte & 0xF0U) == 0xE0U) length = 3;
    if ((byte & 0xF8U) == 0xF0U) length = 4;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string CleanLog(const std::string& raw) {
  std::string clean;
  for (std::size_t begin = 0; begin < raw.size();) {
    const std::size_t end = std::min(raw.find('\n', begin), raw.size());
    clean += proto::CleanText(raw.substr(begin, end - begin), raw.size());
    if (end < raw.size()) clean += '\n';
    begin = end + 1;
  }
  return clean;
}

void LogTail::Append(const std::string& text) {
  if (file_ != nullptr) file_->Append(text);
  std::string raw = std::exchange(half_, "") + text;
  half_ = raw.substr(raw.size() - HalfCharacter(raw));
  raw.resize(raw.size() - half_.size());
  const std::string clean = CleanLog(raw);
  const MutexLock lock(&mutex_);
  text_ += clean;
  end_ += static_cast<std::int64_t>(clean.size());
  // Cuts rarely, so that many short lines do not move the text each time.
  if (text_.size() > 2 * kMaxLogTailBytes) {
    text_.erase(0, text_.size() - kMaxLogTailBytes);
  }
  if (bell_ == nullptr || end_ <= ring_after_) return;
  std::exchange(bell_, nullptr)->Ring();
}

void LogTail::Clear() {
  half_.clear();
  const MutexLock lock(&mutex_);
  text_.clear();
  end_ = 0;
  bell_ = nullptr;
}

LogTail::Piece LogTail::After(std::int64_t bytes) const {
  const MutexLock lock(&mutex_);
  const auto fresh =
      static_cast<std::size_t>(std::max<std::int64_t>(end_ - bytes, 0));
  std::size_t size = std::min(fresh, text_.size());
  const bool is_cut = size < fresh || size > kMaxLogTailBytes;
  size = std::min(size, kMaxLogTailBytes);
  Piece piece{text_.substr(text_.size() - size), end_};
  const std::size_t line_end = piece.text.find('\n');
  if (is_cut && line_end != std::string::npos) {
    piece.text.erase(0, line_end + 1);
  }
  // If the cut was within a character, the rest of it is left out.
  const auto inside = [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
  };
  while (!piece.text.empty() && inside(piece.text.front())) {
    piece.text.erase(0, 1);
  }
  return piece;
}

std::int64_t LogTail::end() const {
  const MutexLock lock(&mutex_);
  return end_;
}

void LogTail::RingAfter(std::int64_t bytes, Wakeup* bell) {
  const MutexLock lock(&mutex_);
  if (end_ > bytes) {
    bell->Ring();
    return;
  }
  bell_ = bell;
  ring_after_ = bytes;
}

}  // namespace frostline::agent

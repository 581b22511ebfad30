// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/inbox.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <utility>

#include "base/plain/json.h"

namespace frostline::trainer {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

// A word that a later agent may say: stop, and lose nothing.
StopReason ReasonOf(std::string_view word) {
  if (word == "pruned") return StopReason::kPruned;
  if (word == "cancelled") return StopReason::kCancelled;
  if (word == "drain") return StopReason::kDrain;
  if (word == "hang") return StopReason::kHang;
  return StopReason::kPreempt;
}

}  // namespace

Inbox::Inbox(int fd) : reader_([this, fd] { Read(fd); }) {}

Inbox::~Inbox() { reader_.join(); }

void Inbox::Read(int fd) {
  std::string buffer;
  std::array<char, 65536> chunk;
  while (!exiting_) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    buffer.append(chunk.data(), static_cast<std::size_t>(n));
    std::size_t end;
    while ((end = buffer.find('\n')) != std::string::npos) {
      Take(buffer.substr(0, end));
      buffer.erase(0, end + 1);
    }
    if (buffer.size() > kMaxLineBytes) Take(buffer);
  }
  if (!exiting_) Take(buffer);  // a last line without its newline
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

void Inbox::Take(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos) return;
  if (line.size() <= kMaxLineBytes && TakeMessage(line)) return;
  std::cerr << "frostline-trainer: no message of the trainer protocol: "
            << line.substr(0, 200) << std::endl;
  std::_Exit(1);
}

bool Inbox::TakeMessage(const std::string& line) {
  // One that asks for NaN is refused as a trial, by its name.
  const Expected<Json> json =
      Json::Parse(line, kMaxJsonValues, JsonNumbers::kAny);
  if (!json.ok()) return false;
  const JsonValue* type = json.value().root().Find("type");
  if (type == nullptr || !type->is(JsonKind::kString)) return false;
  const std::lock_guard lock(mutex_);
  if (type->text == "trial") {
    trials_.push_back(line);
    ++received_;
  } else if (type->text == "stop") {
    const JsonValue* reason = json.value().root().Find("reason");
    reason_ = ReasonOf(reason == nullptr ? "" : reason->text);
    stopped_ = received_;
  } else if (type->text == "exit") {
    exiting_ = true;
    ended_ = true;
  }
  changed_.notify_all();
  return true;
}

std::optional<std::string> Inbox::NextTrial() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ended_ || !trials_.empty(); });
  if (exiting_ || trials_.empty()) return std::nullopt;
  std::string trial = std::move(trials_.front());
  trials_.pop_front();
  ++current_;
  return trial;
}

StopReason Inbox::stop() const {
  if (exiting_) return StopReason::kPreempt;
  return stopped_ == current_ && current_ > 0 ? reason_.load()
                                              : StopReason::kNone;
}

}  // namespace frostline::trainer

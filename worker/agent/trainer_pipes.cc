// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/trainer_pipes.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "worker/agent/protocol.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kChunk = std::size_t{64} << 10;
// In one turn, so that a trainer that never stops writing is not all we hear.
constexpr std::size_t kMostUnread = 4 * kMaxLineBytes;

// Appends what is there. False when nothing will come any more.
bool ReadInto(int fd, std::string* text) {
  std::array<char, kChunk> chunk{};
  while (text->size() < kMostUnread) {
    const ssize_t n = read(fd, chunk.data(), chunk.size());
    if (n > 0) {
      text->append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

}  // namespace

void CloseFd(int* fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

TrainerPipes::~TrainerPipes() {
  for (int* const fd : {&in_, &out_, &err_}) CloseFd(fd);
}

void TrainerPipes::Send(const std::string& line) {
  unsent_ += line;
  Flush();
}

void TrainerPipes::CloseInput() {
  input_ends_ = true;
  Flush();
}

void TrainerPipes::Flush() {
  while (in_ >= 0 && !unsent_.empty()) {
    const ssize_t n = write(in_, unsent_.data(), unsent_.size());
    if (n > 0) {
      unsent_.erase(0, static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      // A trainer that reads no more will be judged by what it writes.
      if (errno != EAGAIN) CloseFd(&in_);
      return;
    }
  }
  if (input_ends_) CloseFd(&in_);
}

void TrainerPipes::ReadOutput(bool gone, Output* output) {
  if (out_ >= 0 && !ReadInto(out_, &unread_)) CloseFd(&out_);
  output->ended = gone && unread_.size() < kMostUnread;
  CutLines(output);
  // A last line may lack its newline.
  const bool rest = output->ended && !output->overlong && !unread_.empty();
  if (rest) output->lines.push_back(std::exchange(unread_, ""));
}

void TrainerPipes::CutLines(Output* output) {
  std::size_t begin = 0;
  for (std::size_t end = unread_.find('\n'); end != std::string::npos;
       end = unread_.find('\n', begin)) {
    output->overlong = output->overlong || end - begin > kMaxLineBytes;
    if (output->overlong) return;
    output->lines.push_back(unread_.substr(begin, end - begin));
    begin = end + 1;
  }
  unread_.erase(0, begin);
  output->overlong = unread_.size() > kMaxLineBytes;
}

void TrainerPipes::ReadError() {
  if (err_ < 0) return;
  std::string text;
  if (!ReadInto(err_, &text)) CloseFd(&err_);
  if (!text.empty()) log_.Append(text);
}

}  // namespace frostline::agent

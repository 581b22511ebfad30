// SPDX-License-Identifier: Apache-2.0
#include "worker/demo_trainer/line_input.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace frostline::demo_trainer {

std::optional<std::string> LineInput::Cut() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> LineInput::Next(int millis) {
  while (true) {
    if (auto line = Cut()) return line;
    pollfd entry{fd_, POLLIN, 0};
    if (ended_ || poll(&entry, 1, millis) <= 0) return std::nullopt;
    std::array<char, 65536> chunk{};
    const ssize_t n = read(fd_, chunk.data(), chunk.size());
    if (n > 0) {
      buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      ended_ = true;
    }
  }
}

}  // namespace frostline::demo_trainer

// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/wakeup.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace frostline::agent {

Wakeup::Wakeup() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) std::abort();  // out of file descriptors before any work began
}

Wakeup::~Wakeup() { close(fd_); }

void Wakeup::Ring() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, that is, when it rings already.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
}

void Wakeup::Hush() {
  std::uint64_t rings = 0;
  [[maybe_unused]] const ssize_t got = read(fd_, &rings, sizeof(rings));
}

bool Wakeup::WaitFor(Duration time) {
  pollfd entry{fd_, POLLIN, 0};
  const bool rang = poll(&entry, 1, PollMillis(time)) > 0;
  if (rang) Hush();
  return rang;
}

int PollMillis(Duration time) {
  const auto millis = std::chrono::ceil<std::chrono::milliseconds>(time);
  return static_cast<int>(
      std::clamp<std::int64_t>(millis.count(), 0, 3'600'000));
}

}  // namespace frostline::agent

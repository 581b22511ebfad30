// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/process/outbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

namespace frostline::trainer {

Outbox::Outbox(int fd) : fd_(fcntl(fd, F_DUPFD_CLOEXEC, 3)) {
  broken_ = fd_ < 0 || dup2(STDERR_FILENO, fd) < 0;
  std::signal(SIGPIPE, SIG_IGN);  // a write then says EPIPE
}

Outbox::~Outbox() {
  if (fd_ >= 0) close(fd_);
}

void Outbox::Send(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty() && !broken_) {
    const ssize_t n = write(fd_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
}

}  // namespace frostline::trainer

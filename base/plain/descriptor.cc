// SPDX-License-Identifier: Apache-2.0
#include "base/plain/descriptor.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

namespace frostline {

void Descriptor::Close() {
  const int before = errno;
  if (number_ >= 0) close(number_);
  number_ = -1;
  errno = before;
}

bool WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool TakeLock(int descriptor, LockKind kind, LockWait wait) {
  const int how = (kind == LockKind::kShared ? LOCK_SH : LOCK_EX) |
                  (wait == LockWait::kTry ? LOCK_NB : 0);
  int taken = -1;
  do {
    taken = flock(descriptor, how);
  } while (taken != 0 && errno == EINTR);
  return taken == 0;
}

bool SyncNames(const std::string& folder) {
  const Descriptor opened(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return opened.ok() && fsync(opened.number()) == 0;
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/ballast.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "storage/sqlite/files.h"

namespace frostline::storage {
namespace {

// With less room than this the ballast would itself fill the disk.
constexpr std::uint64_t kTimesItsSize = 4;

std::int64_t SizeOf(const Descriptor& file) {
  struct stat facts;
  return fstat(file.number(), &facts) == 0 ? facts.st_size : 0;
}

}  // namespace

bool Ballast::Refill() {
  const Descriptor file(
      open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return false;
  if (SizeOf(file) >= bytes_) return true;
  struct statvfs room;
  if (fstatvfs(file.number(), &room) != 0 ||
      room.f_bavail * room.f_frsize <
          kTimesItsSize * static_cast<std::uint64_t>(bytes_)) {
    return false;
  }
  // Blocks, not a hole: a hole frees nothing.
  if (posix_fallocate(file.number(), 0, bytes_) == 0) return true;
  return ftruncate(file.number(), 0) != 0;
}

bool Ballast::Release() {
  const Descriptor file(open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.ok() || SizeOf(file) == 0) return false;
  // Synced, because the room is free only once the file system has noted it.
  const bool released =
      ftruncate(file.number(), 0) == 0 && fsync(file.number()) == 0;
  FROSTLINE_FAILPOINT(kBallastReleased);
  return released;
}

}  // namespace frostline::storage

// SPDX-License-Identifier: Apache-2.0
#include "worker/trainer/prefix/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace frostline::trainer {
namespace {

int HowOf(LockedFile::Kind kind) {
  return kind == LockedFile::Kind::kShared ? LOCK_SH : LOCK_EX;
}

}  // namespace

std::optional<LockedFile> LockedFile::Try(const std::string& path, Kind kind) {
  return Open(path, HowOf(kind) | LOCK_NB);
}

std::optional<LockedFile> LockedFile::Await(const std::string& path,
                                            Kind kind) {
  return Open(path, HowOf(kind));
}

std::optional<LockedFile> LockedFile::Open(const std::string& path, int how) {
  const int fd =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return std::nullopt;
  LockedFile file(fd);
  int locked = -1;
  do {
    locked = flock(fd, how);
  } while (locked != 0 && errno == EINTR);
  if (locked != 0) return std::nullopt;
  return file;
}

LockedFile::~LockedFile() {
  if (fd_ >= 0) close(fd_);
}

bool LockedFile::IsAt(const std::string& path) const {
  struct stat held = {};
  struct stat named = {};
  return fstat(fd_, &held) == 0 && stat(path.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace frostline::trainer

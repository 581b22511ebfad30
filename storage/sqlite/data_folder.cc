// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status_macros.h"

namespace frostline::storage {
namespace {

// "process 4711", or without a number when the holder has not written it yet.
std::string HolderOf(int lock) {
  std::array<char, 32> digits;
  const ssize_t size = pread(lock, digits.data(), digits.size(), 0);
  std::string pid;
  for (ssize_t i = 0; i < size; ++i) {
    const char digit = digits[static_cast<std::size_t>(i)];
    if (digit < '0' || digit > '9') break;
    pid.push_back(digit);
  }
  return pid.empty() ? "another process" : absl::StrCat("process ", pid);
}

absl::Status TakeLock(int lock, const std::string& folder) {
  while (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return FileError(absl::StrCat("lock ", folder));
    return MakeError(ErrorId::kStoreLocked,
                     absl::StrCat(HolderOf(lock), " holds ", folder),
                     "use that coordinator, stop it, or give another folder");
  }
  return absl::OkStatus();
}

absl::Status WritePid(int lock) {
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock, 0) != 0) return FileError("empty frostline.lock");
  const ssize_t written = pwrite(lock, pid.data(), pid.size(), 0);
  if (written == static_cast<ssize_t>(pid.size())) return absl::OkStatus();
  if (written >= 0) errno = ENOSPC;  // there was room for a part of it
  return FileError("write frostline.lock");
}

// Who may write the folder may put another database in its place.
absl::Status CheckOwnership(const std::string& folder) {
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0) {
    return FileError(absl::StrCat("look at ", folder));
  }
  if ((found.st_mode & S_IWOTH) == 0) return absl::OkStatus();
  return MakeError(
      ErrorId::kFolderUnsafe,
      absl::StrCat("everybody on this machine may write ", folder),
      absl::StrCat("`chmod o-w ", folder, "`, or give a folder below it"));
}

}  // namespace

DataFolder::DataFolder(const std::string& path, int lock,
                       std::int64_t ballast_bytes)
    : path_(path),
      lock_(lock),
      ballast_(path + "/frostline.ballast", ballast_bytes) {}

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Lock(
    const std::string& path, std::int64_t ballast_bytes) {
  RETURN_IF_ERROR(CreateFolder(path));
  RETURN_IF_ERROR(CheckFileSystem(path));
  RETURN_IF_ERROR(CheckOwnership(path));
  const std::string lock_path = absl::StrCat(path, "/frostline.lock");
  const int lock = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0) return FileError(absl::StrCat("open ", lock_path));
  std::unique_ptr<DataFolder> folder(new DataFolder(path, lock, ballast_bytes));
  RETURN_IF_ERROR(TakeLock(lock, path));
  absl::Status status = WritePid(lock);
  if (!status.ok() && folder->ballast_.Release()) status = WritePid(lock);
  RETURN_IF_ERROR(status);
  return folder;
}

absl::StatusOr<std::unique_ptr<DataFolder>> DataFolder::Open(
    const std::string& path, std::int64_t ballast_bytes) {
  ASSIGN_OR_RETURN(std::unique_ptr<DataFolder> folder,
                   Lock(path, ballast_bytes));
  absl::Status status = CreateFile(folder->DatabasePath());
  if (!status.ok() && folder->ballast_.Release()) {
    status = CreateFile(folder->DatabasePath());
  }
  RETURN_IF_ERROR(status);
  if (!folder->ballast_.Refill()) {
    Log(LogLevel::kWarning, "disk_nearly_full", {{"folder", path}});
  }
  RETURN_IF_ERROR(SyncFolder(path));
  return folder;
}

std::int64_t DataFolder::FreeBytes() const {
  struct statvfs room;
  if (statvfs(path_.c_str(), &room) != 0) return 0;
  return static_cast<std::int64_t>(room.f_bavail * room.f_frsize);
}

}  // namespace frostline::storage

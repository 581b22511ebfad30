// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/descriptor.h"
#include "base/plain/sums.h"

namespace frostline::agent {
namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

}  // namespace

absl::Status FileError(const std::string& what, const std::string& path) {
  const int error = errno;
  const std::string cause =
      absl::StrCat("cannot ", what, " ", path, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) {
    return MakeError(ErrorId::kStoreFull, cause, "free space on the disk");
  }
  if (error == EACCES || error == EPERM || error == EROFS) {
    return MakeError(ErrorId::kStoreUnwritable, cause,
                     "give --run-dir a folder that you may write");
  }
  return MakeError(ErrorId::kStoreIo, cause, "check the disk, then --run-dir");
}

absl::Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return absl::OkStatus();
  errno = error.value();
  return FileError("create the folder", path);
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  // An empty file sets failbit on the output; that is no error.
  if (stream && stream.peek() != std::ifstream::traits_type::eof()) {
    content << stream.rdbuf();
  }
  if (!stream.is_open() || stream.bad()) return FileError("read", path);
  return content.str();
}

absl::StatusOr<std::string> Sha256OfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("open", path);
  Sha256Sum sum;
  std::string chunk(kChunkBytes, '\0');
  ssize_t count = 0;
  do {
    count = read(fd, chunk.data(), chunk.size());
    if (count > 0) sum.Add({chunk.data(), static_cast<std::size_t>(count)});
  } while (count > 0 || (count < 0 && errno == EINTR));
  absl::Status failed = count < 0 ? FileError("read", path) : absl::OkStatus();
  close(fd);
  if (!failed.ok()) return failed;
  return sum.Finish();
}

absl::Status SyncFolder(const std::string& folder) {
  if (SyncNames(folder)) return absl::OkStatus();
  return FileError("sync the folder", folder);
}

absl::StatusOr<int> LockFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return FileError("open the lock", path);
  if (TakeLock(fd, LockKind::kAlone, LockWait::kTry)) return fd;
  const bool held = errno == EWOULDBLOCK;
  absl::Status status = FileError("lock", path);
  close(fd);
  if (held) return -1;
  return status;
}

}  // namespace frostline::agent

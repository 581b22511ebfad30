// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/remote_file_system.h"
#include "base/status_macros.h"
#include "storage/sqlite/sqlite_error.h"

namespace frostline::storage {
namespace {

constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

absl::Status Sync(const std::string& path, int flags) {
  const Descriptor file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file.ok()) return FileError(absl::StrCat("open ", path));
  if (fsync(file.number()) == 0) return absl::OkStatus();
  return FileError(absl::StrCat("sync ", path));
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

absl::Status FileError(const std::string& doing) {
  const int error = errno;
  const std::string cause = absl::StrCat(doing, ": ", std::strerror(error));
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return StoreFull(cause);
    case EIO:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      return StoreIo(cause);
    default:
      return MakeError(ErrorId::kStoreUnwritable, cause,
                       "give a data folder that this user may create and "
                       "write");
  }
}

absl::Status CreateFolder(const std::string& path) {
  if (mkdir(path.c_str(), kFolderMode) == 0) return SyncFolder(FolderOf(path));
  if (errno == EEXIST) return absl::OkStatus();  // a file shows at first use
  if (errno != ENOENT || FolderOf(path) == path) {
    return FileError(absl::StrCat("create folder ", path));
  }
  RETURN_IF_ERROR(CreateFolder(FolderOf(path)));
  // "a/b/" is there once "a/b" is.
  if (mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return FileError(absl::StrCat("create folder ", path));
  }
  return SyncFolder(FolderOf(path));
}

absl::Status CreateFile(const std::string& path) {
  const Descriptor file(
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
  if (file.ok()) return absl::OkStatus();
  return FileError(absl::StrCat("open ", path));
}

absl::Status SyncFile(const std::string& path) { return Sync(path, O_RDWR); }

absl::Status SyncFolder(const std::string& path) {
  return Sync(path, O_RDONLY | O_DIRECTORY);
}

absl::Status RenameFile(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) {
    return FileError(absl::StrCat("rename ", from));
  }
  return SyncFolder(FolderOf(to));
}

absl::Status CheckFileSystemKind(unsigned long magic,
                                 const std::string& folder) {
  const char* const remote = RemoteFileSystem(magic);
  if (remote == nullptr) return absl::OkStatus();
  return MakeError(ErrorId::kStoreFileSystem,
                   absl::StrCat(folder, " is on ", remote),
                   "put the data folder on a local disk");
}

absl::Status CheckFileSystem(const std::string& folder) {
  struct statfs facts;
  if (statfs(folder.c_str(), &facts) != 0) {
    return FileError(absl::StrCat("look at the file system of ", folder));
  }
  return CheckFileSystemKind(static_cast<unsigned long>(facts.f_type), folder);
}

}  // namespace frostline::storage

// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/watched_files.h"

#include <sys/stat.h>

#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::storage {
namespace {

absl::Status Removed(const std::string& path, const std::string& how) {
  return MakeError(ErrorId::kStoreRemoved,
                   absl::StrCat(path, " was ", how, " while it was open"),
                   "put the data folder back or restore the latest backup, "
                   "then start again");
}

}  // namespace

WatchedFiles::WatchedFiles(const std::string& database) {
  for (const char* const suffix : {"", "-wal", "-shm"}) {
    const std::string path = absl::StrCat(database, suffix);
    struct stat facts;
    if (stat(path.c_str(), &facts) != 0) continue;
    files_.push_back({path, facts.st_dev, facts.st_ino});
  }
}

absl::Status WatchedFiles::Check() const {
  for (const File& file : files_) {
    struct stat facts;
    if (stat(file.path.c_str(), &facts) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return Removed(file.path, "removed");
      }
      continue;  // a disk that fails says so where it is written
    }
    if (facts.st_dev != file.device || facts.st_ino != file.number) {
      return Removed(file.path, "replaced");
    }
  }
  return absl::OkStatus();
}

}  // namespace frostline::storage

// SPDX-License-Identifier: Apache-2.0
//
// File: files.h
//
// Errors are STORE_FULL for want of room, STORE_IO when the disk or the system
// fails, else STORE_UNWRITABLE. Files are for their owner alone.
#ifndef FROSTLINE_STORAGE_SQLITE_FILES_H_
#define FROSTLINE_STORAGE_SQLITE_FILES_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::storage {

// It is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  bool ok() const { return number_ >= 0; }

 private:
  int number_;
};

// Reads errno; `doing` names the call that failed.
absl::Status FileError(const std::string& doing);

// Creates also what leads to it.
absl::Status CreateFolder(const std::string& path);
// Leaves a file that is there alone.
absl::Status CreateFile(const std::string& path);
// When OK the contents of a file, or the names in a folder, are on disk.
absl::Status SyncFile(const std::string& path);
absl::Status SyncFolder(const std::string& path);
// It is durable; both names lie in one folder.
absl::Status RenameFile(const std::string& from, const std::string& to);

// Answers STORE_FILE_SYSTEM where locks or syncs do not mean what they say, as
// over a network.
absl::Status CheckFileSystem(const std::string& folder);
// Checks a magic number of statfs(2) so.
absl::Status CheckFileSystemKind(unsigned long magic,
                                 const std::string& folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_FILES_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: files.h
//
// What we ask of the file system ourselves, with its errors in our words:
// STORE_FULL for want of room, STORE_UNWRITABLE for want of permission, else
// STORE_IO. Files are for their owner alone.
#ifndef FROSTLINE_STORAGE_SQLITE_FILES_H_
#define FROSTLINE_STORAGE_SQLITE_FILES_H_

#include <string>

#include "absl/status/status.h"

namespace frostline::storage {

// A file descriptor, closed with the object.
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

// The error of the call that has just failed (errno); `doing` names it.
absl::Status FileError(const std::string& doing);

// Creates the folder, and what leads to it, unless it is there.
absl::Status CreateFolder(const std::string& path);
// Creates an empty file unless it is there.
absl::Status CreateFile(const std::string& path);
// On disk when OK: the contents of a file, the names in a folder.
absl::Status SyncFile(const std::string& path);
absl::Status SyncFolder(const std::string& path);
// Durable; both names lie in one folder.
absl::Status RenameFile(const std::string& from, const std::string& to);

// STORE_FILE_SYSTEM when the folder lies on a file system over a network, or
// another on which locks or syncs do not mean what they say.
absl::Status CheckFileSystem(const std::string& folder);
// The same for a magic number of statfs(2).
absl::Status CheckFileSystemKind(unsigned long magic,
                                 const std::string& folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_FILES_H_

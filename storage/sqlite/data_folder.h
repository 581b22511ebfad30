// SPDX-License-Identifier: Apache-2.0
//
// File: data_folder.h
//
// One coordinator alone holds the folder:
//   frostline.sqlite (and -wal, -shm)   the database; never delete one of them
//   frostline.lock                      locked while it runs; its process id
//   frostline.ballast                   given up when the disk is full
//   frostline.lease-key                 what lease secrets are computed from
//   frostline.starts                    when coordinators started
//
#ifndef FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_
#define FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/plain/descriptor.h"
#include "base/secret.h"
#include "storage/rows.h"

namespace frostline::storage {

// Errors are STORE_FULL for want of room, STORE_IO when the disk or the system
// fails, else STORE_UNWRITABLE. Files are for their owner alone.

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

// The ballast is a file to be given up: on a full disk SQLite can neither
// delete nor move its log, so that only room from outside lets results in.
//
// It is not thread-safe.
class Ballast {
 public:
  Ballast(std::string path, std::int64_t bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  // Takes the room, if the disk has several times as much, and says whether it
  // is there.
  bool Refill();
  // Says whether there was some.
  bool Release();

 private:
  std::string path_;
  std::int64_t bytes_;
};

inline std::string DatabaseIn(const std::string& data_folder) {
  return data_folder + "/frostline.sqlite";
}

// The kernel ends the lock with this object or the process. A forked child
// shares it.
class DataFolder {
 public:
  // Creates what is missing. It answers STORE_FILE_SYSTEM, STORE_UNWRITABLE,
  // FOLDER_UNSAFE (everybody may write it),
  // STORE_FULL or STORE_LOCKED (naming the holder).
  static absl::StatusOr<std::unique_ptr<DataFolder>> Open(
      const std::string& path, std::int64_t ballast_bytes);
  // Makes a folder of its own among the system's temporary files, and removes
  // it with this object. Such folders of processes that were killed go first.
  static absl::StatusOr<std::unique_ptr<DataFolder>> OpenEphemeral();
  ~DataFolder();
  // Creates nothing in the folder but the lock.
  static absl::StatusOr<std::unique_ptr<DataFolder>> Lock(
      const std::string& path, std::int64_t ballast_bytes = 0);

  const std::string& path() const { return path_; }
  std::string DatabasePath() const { return DatabaseIn(path_); }
  std::string StartsPath() const { return path_ + "/frostline.starts"; }
  std::string LeaseKeyPath() const { return path_ + "/frostline.lease-key"; }
  bool is_ephemeral() const { return is_ephemeral_; }
  Ballast& ballast() { return ballast_; }
  // Returns what this user may still write.
  std::int64_t FreeBytes() const;

 private:
  DataFolder(const std::string& path, int lock, std::int64_t ballast_bytes);

  std::string path_;
  Descriptor lock_;
  Ballast ballast_;
  bool is_ephemeral_ = false;
};

// The key that lease secrets are computed from lies beside the database, in a
// file of mode 0600, and not in it: who has the database or a backup alone
// cannot compute one.
//
// Makes it where there is none, or none of the right form. One that cannot be
// written serves until the process ends, and a warning says so: of leases that
// it gave, only an Acquire whose reply was lost is not answered again. It
// answers STORE_UNWRITABLE when others may read the file.
absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path);

// When coordinators started on a data folder, as lines of a file: microseconds
// since 1970, the latest last.
//
// Adds `now` and returns what was there, the last 128 at most. A file that
// cannot be read is empty; one that cannot be written is logged, and stays.
std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now);

// A database whose files were removed or replaced while they are open goes on
// as if nothing had happened, in files that nobody will ever find again.
//
// Any thread may call.
class WatchedFiles {
 public:
  // Notes the database, its log and their index, as far as they are there: to
  // be made when they are open. None of them moves while they stay open.
  explicit WatchedFiles(const std::string& database);

  // Answers STORE_REMOVED unless each name still means the same file. It costs
  // a call of the system for each.
  absl::Status Check() const;

 private:
  struct File {
    std::string path;
    dev_t device;
    ino_t number;
  };
  std::vector<File> files_;
};

// Does what ReadAuditEnd() promises (factory.h). Beside a database that was
// closed no file is made.
absl::StatusOr<AuditEnd> AuditEndIn(const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_

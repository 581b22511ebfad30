// SPDX-License-Identifier: Apache-2.0
//
// File: data_folder.h
//
// The folder that holds a database and belongs to one coordinator alone:
//   frostline.sqlite (and -wal, -shm)   the database; never delete one of them
//   frostline.lock                      locked while it runs; its process id
//   frostline.ballast                   given up when the disk is full
//   frostline.lease-key                 what lease secrets are computed from
//   frostline.starts                    when coordinators started
//
// No program but ours may open the database. To look into one that is in use,
// take a backup and open that.
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

// Functions on files. The error is STORE_FULL when there is no room, STORE_IO
// when the disk or the system fails, else STORE_UNWRITABLE. Files are readable
// by their owner alone.

// Makes an error of errno; `doing` names the call that failed.
absl::Status FileError(const std::string& doing);

// Creates the folder and those that lead to it.
absl::Status CreateFolder(const std::string& path);
// Creates the file; one that is there stays as it is.
absl::Status CreateFile(const std::string& path);
// Syncs a file or a folder. When OK, the file's contents, or the folder's
// names, are on disk.
absl::Status SyncFile(const std::string& path);
absl::Status SyncFolder(const std::string& path);
// Renames durably; both names lie in one folder.
absl::Status RenameFile(const std::string& from, const std::string& to);

// The error is STORE_FILE_SYSTEM when locks or syncs cannot be trusted there,
// as over a network.
absl::Status CheckFileSystem(const std::string& folder);
// Does the same for a magic number of statfs(2).
absl::Status CheckFileSystemKind(unsigned long magic,
                                 const std::string& folder);

// A file that reserves room on the disk. On a full disk SQLite can neither
// delete nor move its log; removing this file makes the room that results need.
// It is not thread-safe.
class Ballast {
 public:
  Ballast(std::string path, std::int64_t bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  // Takes the room if the disk has several times as much free. Returns whether
  // it has the room.
  bool Refill();
  // Gives the room up. Returns whether there was any.
  bool Release();

 private:
  std::string path_;
  std::int64_t bytes_;
};

inline std::string DatabaseIn(const std::string& data_folder) {
  return data_folder + "/frostline.sqlite";
}

// A folder and the lock on it. The kernel ends the lock with this object or the
// process. A forked child shares it.
class DataFolder {
 public:
  // Opens the folder and creates what is missing. The error is
  // STORE_FILE_SYSTEM, STORE_UNWRITABLE, FOLDER_UNSAFE (everybody may write
  // it), STORE_FULL, or STORE_LOCKED (it names the holder).
  static absl::StatusOr<std::unique_ptr<DataFolder>> Open(
      const std::string& path, std::int64_t ballast_bytes);
  // Makes a folder among the system's temporary files, which is removed with
  // this object. First it removes such folders that killed processes left.
  static absl::StatusOr<std::unique_ptr<DataFolder>> OpenEphemeral();
  ~DataFolder();
  // Locks a folder; creates nothing in it but the lock.
  static absl::StatusOr<std::unique_ptr<DataFolder>> Lock(
      const std::string& path, std::int64_t ballast_bytes = 0);

  const std::string& path() const { return path_; }
  std::string DatabasePath() const { return DatabaseIn(path_); }
  std::string StartsPath() const { return path_ + "/frostline.starts"; }
  std::string LeaseKeyPath() const { return path_ + "/frostline.lease-key"; }
  bool is_ephemeral() const { return is_ephemeral_; }
  Ballast& ballast() { return ballast_; }
  // Returns how many bytes this user may still write.
  std::int64_t FreeBytes() const;

 private:
  DataFolder(const std::string& path, int lock, std::int64_t ballast_bytes);

  std::string path_;
  Descriptor lock_;
  Ballast ballast_;
  bool is_ephemeral_ = false;
};

// Returns the key from which lease secrets are computed. It is in a file of
// mode 0600 beside the database: whoever has only the database or a backup
// cannot compute a secret.
//
// If there is no key, or none of the right form, it makes one. If that cannot
// be written, it warns, and uses the key until the process ends. After that, an
// Acquire whose reply was lost cannot be answered again for leases of this key.
// The error is STORE_UNWRITABLE when others may read the file.
absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path);

// Adds `now` to the file that says when coordinators started, and returns the
// times that were there, at most the last 128. Its lines are microseconds since
// 1970, the latest last. A file that cannot be read counts as empty; one that
// cannot be written stays as it is, which is logged.
std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now);

// A watch over the open files of a database. If they are removed or replaced,
// SQLite goes on writing files that nobody will ever find again; this notices
// it. Any thread may call.
class WatchedFiles {
 public:
  // Notes the database, its log and their index, if they are there. Make it
  // when they are open, since SQLite replaces none of them while they stay
  // open.
  explicit WatchedFiles(const std::string& database);

  // The error is STORE_REMOVED unless each name still means the same file.
  // Costs one system call for each.
  absl::Status Check() const;

 private:
  // A name, and the file that it meant.
  struct File {
    std::string path;
    dev_t device;
    ino_t number;
  };
  std::vector<File> files_;
};

// Does what ReadAuditEnd() promises (factory.h). It makes no file beside a
// database that was closed.
absl::StatusOr<AuditEnd> AuditEndIn(const std::string& data_folder);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_

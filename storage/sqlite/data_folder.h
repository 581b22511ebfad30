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

// A file that reserves room on the disk. SQLite can neither delete nor move its
// log on a full disk; giving up this file makes the room that results need.
//
// Not thread-safe.
class Ballast {
 public:
  Ballast(std::string path, std::int64_t bytes)
      : path_(std::move(path)), bytes_(bytes) {}

  // Takes the room if the disk has several times as much free, and returns
  // whether it has it.
  bool Refill();
  // Gives the room up, and returns whether there was any.
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
  // Returns how many bytes this user may still write.
  std::int64_t FreeBytes() const;

 private:
  DataFolder(const std::string& path, int lock, std::int64_t ballast_bytes);

  std::string path_;
  Descriptor lock_;
  Ballast ballast_;
  bool is_ephemeral_ = false;
};

// Returns the key from which lease secrets are computed. It lies beside the
// database, in a file of mode 0600, and not in it: whoever has only the
// database or a backup cannot compute a secret.
//
// Makes a key when there is none, or none of the right form. A key that cannot
// be written is used until the process ends, with a warning: after that, an
// Acquire whose reply was lost cannot be answered again for leases of this key.
// The error is STORE_UNWRITABLE when others may read the file.
absl::StatusOr<SecretString> KeepLeaseKey(const std::string& path);

// When coordinators started on a data folder, as lines of a file: microseconds
// since 1970, the latest last.
//
// Adds `now` and returns what was there, at most the last 128. A file that
// cannot be read counts as empty; one that cannot be written is logged and
// stays as it is.
std::vector<WallMicros> NoteStartIn(const std::string& path, WallMicros now);

// The open files of a database. If they are removed or replaced, SQLite goes on
// as if nothing had happened, in files that nobody will ever find again; this
// notices it.
//
// Any thread may call.
class WatchedFiles {
 public:
  // Notes the database, its log and their index, if they are there. To be made
  // when they are open: none of them is replaced while they stay open.
  explicit WatchedFiles(const std::string& database);

  // The error is STORE_REMOVED unless each name still means the same file.
  // Costs one system call for each.
  absl::Status Check() const;

 private:
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

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
//   (start_notes.h)
#ifndef FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_
#define FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "storage/sqlite/ballast.h"
#include "storage/sqlite/files.h"

namespace frostline::storage {

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
  // Creates nothing in the folder but the lock.
  static absl::StatusOr<std::unique_ptr<DataFolder>> Lock(
      const std::string& path, std::int64_t ballast_bytes = 0);

  std::string DatabasePath() const { return DatabaseIn(path_); }
  std::string StartsPath() const { return path_ + "/frostline.starts"; }
  std::string LeaseKeyPath() const { return path_ + "/frostline.lease-key"; }
  Ballast& ballast() { return ballast_; }
  // Returns what this user may still write.
  std::int64_t FreeBytes() const;

 private:
  DataFolder(const std::string& path, int lock, std::int64_t ballast_bytes);

  std::string path_;
  Descriptor lock_;
  Ballast ballast_;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_DATA_FOLDER_H_

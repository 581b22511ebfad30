// SPDX-License-Identifier: Apache-2.0
//
// File: watched_files.h
//
// A database whose files were removed or replaced while they are open goes on
// as if nothing had happened, in files that nobody will ever find again.
#ifndef FROSTLINE_STORAGE_SQLITE_WATCHED_FILES_H_
#define FROSTLINE_STORAGE_SQLITE_WATCHED_FILES_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace frostline::storage {

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

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_WATCHED_FILES_H_

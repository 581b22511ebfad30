// SPDX-License-Identifier: Apache-2.0
//
// File: ballast.h
//
// The ballast is a file to be given up: on a full disk SQLite can neither
// delete nor move its log, so that only room from outside lets results in.
#ifndef FROSTLINE_STORAGE_SQLITE_BALLAST_H_
#define FROSTLINE_STORAGE_SQLITE_BALLAST_H_

#include <cstdint>
#include <string>
#include <utility>

namespace frostline::storage {

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

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_BALLAST_H_

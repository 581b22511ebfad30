// SPDX-License-Identifier: Apache-2.0
//
// File: power_cut_vfs.h
//
// SQLite on a PowerCutDisk. While one of these lives it is SQLite's default in
// this process, so that the store under test is the real one and knows nothing.
// What the store asks of the file system itself (its lock, its ballast) happens
// in the real folder of the same name.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_VFS_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_VFS_H_

#include <memory>

#include "tests/fault/storage/power_cut_disk.h"

namespace frostline::test {

// Not thread-safe: all connections on one thread. One at a time.
class PowerCutVfs {
 public:
  PowerCutVfs();
  ~PowerCutVfs();  // REQUIRES: no connection is open
  PowerCutVfs(const PowerCutVfs&) = delete;
  PowerCutVfs& operator=(const PowerCutVfs&) = delete;

  PowerCutDisk& disk() { return disk_; }

 private:
  struct Registration;

  PowerCutDisk disk_;
  std::unique_ptr<Registration> registration_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_VFS_H_

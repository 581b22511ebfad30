// SPDX-License-Identifier: Apache-2.0
//
// File: small_disk.h
//
// A small file system for a process of a test's own, where the machine lets us
// mount one.
#ifndef FROSTLINE_TESTS_STORAGE_SMALL_DISK_H_
#define FROSTLINE_TESTS_STORAGE_SMALL_DISK_H_

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "tests/storage/child_process.h"

namespace frostline::storage {

inline constexpr int kCannotMount = 77;  // the child's exit code

// REQUIRES: this process is a child (child_process.h).
inline void MountOrExit(const std::string& folder, const char* size) {
  if (unshare(CLONE_NEWNS) != 0 ||
      mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", folder.c_str(), "tmpfs", 0, size) != 0) {
    _exit(kCannotMount);
  }
}

// Makes a file that leaves so many bytes.
inline void HogAllBut(const std::string& hog, const std::string& folder,
                      std::int64_t left) {
  struct statvfs room{};
  ASSERT_EQ(statvfs(folder.c_str(), &room), 0);
  const auto free = static_cast<std::int64_t>(room.f_bavail * room.f_frsize);
  const int file = open(hog.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ASSERT_EQ(posix_fallocate(file, 0, free - left), 0);
  close(file);
}

}  // namespace frostline::storage

#endif  // FROSTLINE_TESTS_STORAGE_SMALL_DISK_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: memory_folder.h
//
// Tests that open a store thousands of times do so in memory where the machine
// has such a folder: what they break is not the real disk.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_MEMORY_FOLDER_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_MEMORY_FOLDER_H_

#include <unistd.h>

#include <cstdlib>

#include "tests/support/temp_folder.h"

namespace frostline::test {

// To be made before the first TempFolder, of which it decides the place.
class MemoryFolderIsPreferred {
 public:
  MemoryFolderIsPreferred() {
    constexpr char kMemory[] = "/dev/shm";
    if (access(kMemory, R_OK | W_OK | X_OK) == 0) setenv("TMPDIR", kMemory, 1);
  }
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_MEMORY_FOLDER_H_

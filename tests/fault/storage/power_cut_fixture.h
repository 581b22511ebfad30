// SPDX-License-Identifier: Apache-2.0
//
// File: power_cut_fixture.h
//
// Tests that open a store thousands of times do so in memory where the machine
// has such a folder: what they break is not the real disk.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_FIXTURE_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_FIXTURE_H_

#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "base/log.h"
#include "gtest/gtest.h"
#include "storage/sqlite/database.h"
#include "storage/sqlite/sqlite_store.h"
#include "tests/fault/storage/power_cut_disk.h"
#include "tests/fault/storage/workload.h"
#include "tests/support/record.h"
#include "tests/support/status_matchers.h"
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

// The real store on a disk that a test switches off.

// FROSTLINE_FAULT_COUNT=n, or a hundred times `usual` with
// FROSTLINE_FAULT_LONG.
inline int FaultCount(int usual) {
  int count = 0;
  const char* const wanted = std::getenv("FROSTLINE_FAULT_COUNT");
  if (wanted != nullptr && absl::SimpleAtoi(wanted, &count)) return count;
  return std::getenv("FROSTLINE_FAULT_LONG") != nullptr ? 100 * usual : usual;
}

class PowerCutFixture : public testing::Test {
 protected:
  Record record_;

  // The store complains of each cut, and rightly.
  PowerCutFixture() { SetLogLevel(static_cast<LogLevel>(4)); }
  ~PowerCutFixture() override { SetLogLevel(LogLevel::kInfo); }

  PowerCutDisk& disk() { return vfs_.disk(); }
  std::string DatabaseFile() const {
    return folder_.File("data/frostline.sqlite");
  }

  absl::Status Open() {
    auto opened = storage::SqliteStore::Open(folder_.File("data"), limits_);
    if (opened.ok()) store_ = *std::move(opened);
    return opened.status();
  }
  void Close() { store_.reset(); }
  // A blank disk.
  void Begin(std::uint64_t seed) {
    Close();
    disk() = PowerCutDisk();
    workload_ = std::make_unique<Workload>(seed);
  }
  // Until a step fails, or after so many.
  absl::Status Run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const absl::Status status = workload_->Step(*store_);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // The power goes now, if it has not; then comes back.
  void Cut(Rng& rng) {
    if (!disk().power_is_off()) disk().Follow({.cut_at = 1});
    Close();
    disk().Restart(rng);
  }
  // A whole database with every acknowledged row.
  testing::AssertionResult IsIntact() {
    const testing::AssertionResult checked = workload_->Check(*store_);
    if (!checked) return checked;
    auto reader = storage::Database::Open(DatabaseFile(),
                                          storage::Database::Role::kReader);
    const auto found = (*reader)->ReadText("PRAGMA integrity_check");
    if (found.ok() && *found == "ok") return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << (found.ok() ? *found : DescribeError(found.status()));
  }

  storage::StoreLimits limits_{.ballast_bytes = 4096,
                               .pages_per_checkpoint = 12};
  MemoryFolderIsPreferred preferred_;
  TempFolder folder_;
  PowerCutVfs vfs_;
  std::unique_ptr<storage::SqliteStore> store_;
  std::unique_ptr<Workload> workload_;
};

}  // namespace frostline::test

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_FIXTURE_H_

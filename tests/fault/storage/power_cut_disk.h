// SPDX-License-Identifier: Apache-2.0
//
// File: power_cut_disk.h
//
// A disk in memory that knows for each file what programs see and what would
// outlive a power cut. Between the two lie writes that nobody has synced: when
// the power goes, any of their sectors is there or not, in any order, and some
// are torn. A name that was made or removed is certain only after a sync of the
// folder, which SQLite adds to the first sync of a file that it has made.
//
// It can also fail: the n-th call of a kind, once or from then on, or every
// write beyond a number of bytes. A sync that failed has lost what it should
// have written, as on Linux, and the next one says nothing of that.
#ifndef FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_DISK_H_
#define FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_DISK_H_

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

namespace frostline::test {

// Not thread-safe.
class PowerCutDisk {
 public:
  enum class Call { kWrite, kSync, kTruncate, kDelete };
  enum class Result { kOk, kFailed, kFull };
  static constexpr std::int64_t kNever = 0;

  struct Plan {
    std::int64_t cut_at = kNever;   // the power goes in the n-th call, from 1
    Call failing = Call::kWrite;    // of these calls …
    std::int64_t fail_at = kNever;  // … the n-th fails, from 1
    bool fail_for_ever = false;     // … and all after it
    std::int64_t capacity = std::numeric_limits<std::int64_t>::max();
    bool ignore_log_syncs = false;  // as synchronous=NORMAL does in a commit
  };

  struct File {
    struct Change {  // a sector's worth, or a new size where there is no data
      std::size_t offset;
      std::string data;
    };
    std::string seen;
    std::string synced;
    std::vector<Change> unsynced;
    bool is_log = false;
  };
  using FilePointer = std::shared_ptr<File>;

  // What happens from now on; calls are counted from now on.
  void Follow(const Plan& plan);
  const Plan& plan() const { return plan_; }
  // Calls since then, and how many of them were made to fail.
  std::int64_t calls() const { return calls_; }
  std::int64_t failures() const { return failures_; }
  bool power_is_off() const { return off_; }

  // Returns the bytes of all files together.
  std::int64_t Size() const;

  // nullptr when there is none.
  FilePointer Find(const std::string& name) const;
  // `durable`: the name outlives a power cut at once.
  FilePointer Create(const std::string& name, bool durable);
  Result Delete(const std::string& name, bool durable);

  Result Write(File& file, std::size_t offset, std::string data);
  Result Truncate(File& file, std::size_t size);
  Result Sync(const std::string& name, File& file);
  // Syncs the folder: every name in it survives a power cut.
  void SyncNames();

  // The power is back: what programs see is what outlived the cut.
  void Restart(Rng& rng);

  // An independent copy of all files, for another try.
  PowerCutDisk Clone() const;

 private:
  // Counts a call; whether it does what it should.
  bool Goes(Call call);

  Plan plan_;
  std::int64_t calls_ = 0;
  std::int64_t calls_of_kind_ = 0;
  std::int64_t failures_ = 0;
  bool off_ = false;
  std::map<std::string, FilePointer> names_;
  std::map<std::string, FilePointer> synced_names_;
};

// SQLite on a PowerCutDisk. While one of these lives it is SQLite's default in
// this process, so that the store under test is the real one and knows nothing.
// What the store asks of the file system itself (its lock, its ballast) happens
// in the real folder of the same name.

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

#endif  // FROSTLINE_TESTS_FAULT_STORAGE_POWER_CUT_DISK_H_

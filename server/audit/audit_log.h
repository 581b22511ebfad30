// SPDX-License-Identifier: Apache-2.0
//
// File: audit_log.h
//
// Who changed what, as a chain of entries. An entry is written in the
// transaction of the change that it describes: either both are on disk, or
// neither. The entry of a refused call is written with the next group.
//
// Threads: the loop notes and writes entries; any thread may report a call that
// the gate refused; readers move entries to the files and read them.
//
// Failure: while the files cannot be written, entries stay in the database.
#ifndef FROSTLINE_SERVER_AUDIT_AUDIT_LOG_H_
#define FROSTLINE_SERVER_AUDIT_AUDIT_LOG_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.pb.h"
#include "server/loop/call_context.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"
#include "storage/rows.h"

namespace frostline::server {

//   {"sequence":7,"time":"2026-11-23T10:00:00.000001Z","subject":"ana",…

// Returns the entry of a call, without its sequence number and chain. The
// outcome is "OK" or the error's reason.
v1::AuditEntry EntryOf(const CallContext& caller, const absl::Status& outcome,
                       WallMicros now);

// Returns fields 1 to 9, as base/plain/audit_chain.h takes them.
std::string TextOf(const v1::AuditEntry& entry);
// Reads a line of the file; returns nothing when it is no entry.
std::optional<v1::AuditEntry> ReadEntry(std::string_view line);

// Returns the sum that ends the entry's line and chains it to the one before.
std::string ChainOf(const v1::AuditEntry& entry);  // hexadecimal

// A file of this size is full.
inline constexpr std::size_t kAuditFileBytes = std::size_t{16} << 20;

// The files of the audit. audit.jsonl grows; when it is full it is renamed by
// the number of its first entry, and a new one begins. Nothing is ever removed
// here.
//
// One thread appends at a time; any thread may read meanwhile.
class AuditFiles {
 public:
  // Makes the folder at the first entry.
  explicit AuditFiles(std::string folder, std::size_t full = kAuditFileBytes);

  // Returns the last entry. An end without a newline is cut off, since its
  // entry is still in the store. The error is STORE_UNAVAILABLE.
  absl::StatusOr<v1::AuditEntry> Last();
  // Appends the entries that come after the last one, and syncs. After a
  // failure some of them may be in the file, which does no harm.
  absl::Status Append(const std::vector<storage::AuditRow>& rows);
  // Calls `take(entry)` from the newest entry on, until it answers false.
  absl::Status ReadBack(
      absl::FunctionRef<bool(const v1::AuditEntry&)> take) const;

 private:
  absl::Status Open();
  absl::Status TurnOver();
  // Returns the paths of the files, the newest first.
  std::vector<std::string> Paths() const;

  const std::string folder_;
  const std::size_t full_;
  std::int64_t last_ = -1;  // -1: not looked for yet
  std::int64_t first_ = 0;  // first entry of the file that grows
  std::size_t bytes_ = 0;   // size of that file
};

// The audit of a coordinator, which owns it: the chain of entries, in the store
// and in files.
class AuditLog {
 public:
  // An empty folder means that entries stay in the store: the last 100,000 of
  // them.
  AuditLog(std::string folder, CommitLoop& loop, TaskPool& readers,
           const storage::TrialStore& store, const Clock& clock);

  // Continues the longer chain: the store's or the files'. When an older backup
  // was restored, the files know more than the store.
  absl::Status Load() FROSTLINE_ON_LOOP;

  // Notes the outcome of a call that would change something.
  void Note(const CallContext& caller,
            const absl::Status& outcome) FROSTLINE_ON_LOOP;
  // Notes a call that was refused before it reached the loop; sixteen a second
  // at most. Any thread may call it.
  void NoteRefused(const CallContext& caller, const absl::Status& why);

  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP;
  // Writes noted entries; once a second it also has entries moved to the files.
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;
  // Returns how many entries are on disk, counted from the first ever.
  std::int64_t stored() const FROSTLINE_ON_LOOP { return stored_.sequence; }

  // Calls `take(entry)` from the newest entry on, until it returns false. For
  // readers' threads.
  absl::Status ReadBack(
      absl::FunctionRef<bool(const v1::AuditEntry&)> take) const;

 private:
  // Writes a warning to the log when the files end earlier than they did.
  absl::Status CheckEnd(const v1::AuditEntry& last) FROSTLINE_ON_LOOP;
  // Writes at the end of a group what was noted.
  void Write(Batch& batch) FROSTLINE_ON_LOOP;
  void TakeRefused() FROSTLINE_ON_LOOP;
  struct Moved {
    std::int64_t sequence = 0;  // the last one in the files
    std::int64_t forget_before = 0;
  };
  // Moves entries to the files. Runs on a reader.
  absl::StatusOr<Moved> Move();
  void TakeMoved(Batch& batch,
                 const absl::StatusOr<Moved>& moved) FROSTLINE_ON_LOOP;

  CommitLoop& loop_;
  TaskPool& readers_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  const bool has_files_;
  mutable Mutex files_mutex_;
  AuditFiles files_ ABSL_GUARDED_BY(files_mutex_);

  // The end of the chain: on disk, and with what is being written.
  struct End {
    std::int64_t sequence = 0;
    std::string chain;
  };
  End stored_ ABSL_GUARDED_BY(kLoopThread);
  End written_ ABSL_GUARDED_BY(kLoopThread);
  std::vector<v1::AuditEntry> noted_ ABSL_GUARDED_BY(kLoopThread);
  std::int64_t moved_ ABSL_GUARDED_BY(kLoopThread) = 0;
  // The newest entry that the store marks as being in the files.
  std::int64_t marked_ ABSL_GUARDED_BY(kLoopThread) = 0;
  bool is_moving_ ABSL_GUARDED_BY(kLoopThread) = false;
  SteadyTime next_move_ ABSL_GUARDED_BY(kLoopThread){};

  Mutex refused_mutex_;
  std::deque<v1::AuditEntry> refused_ ABSL_GUARDED_BY(refused_mutex_);
  SteadyTime refused_since_ ABSL_GUARDED_BY(refused_mutex_){};
  int refused_in_second_ ABSL_GUARDED_BY(refused_mutex_) = 0;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUDIT_AUDIT_LOG_H_

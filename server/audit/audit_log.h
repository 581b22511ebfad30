// SPDX-License-Identifier: Apache-2.0
//
// File: audit_log.h
//
// An entry is in the transaction of what it tells of: either both are on disk,
// or neither. What was refused is written with the next group.
//
// Threads: the loop notes and writes, any thread tells of a call that the gate
// refused, readers move entries to the files and read them.
//
// Failure: while the files cannot be written, entries stay in the database.
#ifndef FROSTLINE_SERVER_AUDIT_AUDIT_LOG_H_
#define FROSTLINE_SERVER_AUDIT_AUDIT_LOG_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/audit/audit_files.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

class AuditLog {
 public:
  // Without a folder entries stay in the store, the last 100,000 of them.
  AuditLog(std::string folder, CommitLoop& loop, TaskPool& readers,
           const storage::TrialStore& store, const Clock& clock);

  // Takes up the chain where it is longer, in the store or in the files. The
  // files know more than a backup that was restored beside them.
  absl::Status Load() FROSTLINE_ON_LOOP;

  // Notes what came of a call that would change something.
  void Note(const CallContext& caller,
            const absl::Status& outcome) FROSTLINE_ON_LOOP;
  // The same of a call that never got to the loop: sixteen a second are noted.
  // Any thread may call.
  void NoteRefused(const CallContext& caller, const absl::Status& why);

  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP;
  // Writes, and has entries moved to the files, once a second.
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP;
  // Counts the entries that are on disk, from the first on.
  std::int64_t stored() const FROSTLINE_ON_LOOP { return stored_.sequence; }

  // Calls `take(entry)` from the newest entry on, until it answers false. For
  // readers.
  absl::Status ReadBack(
      absl::FunctionRef<bool(const v1::AuditEntry&)> take) const;

 private:
  // Says so in the log where the files end before what they had.
  absl::Status CheckEnd(const v1::AuditEntry& last) FROSTLINE_ON_LOOP;
  // What was noted, at the end of a group.
  void Write(Batch& batch) FROSTLINE_ON_LOOP;
  void TakeRefused() FROSTLINE_ON_LOOP;
  struct Moved {
    std::int64_t sequence = 0;  // the last one in the files
    std::int64_t forget_before = 0;
  };
  // On a reader.
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

  // The chain's end on disk, and with what is being written.
  struct End {
    std::int64_t sequence = 0;
    std::string chain;
  };
  End stored_ ABSL_GUARDED_BY(kLoopThread);
  End written_ ABSL_GUARDED_BY(kLoopThread);
  std::vector<v1::AuditEntry> noted_ ABSL_GUARDED_BY(kLoopThread);
  std::int64_t moved_ ABSL_GUARDED_BY(kLoopThread) = 0;
  // The newest one of which the store says that the files have it.
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

// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// Holds what one attempt still has to tell the coordinator, in order: a slot
// adds, the courier takes from the front. A record is spooled before it can be
// taken. What memory does not hold is read back from the spool when it is its
// turn:
//
//   front <─ held_records.h ─ report_backlog.h ─ the ending <─ Add()
//             in memory        in the file, or refused by it
//
// An ending is never dropped, whatever the disk does. It is thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_OUTBOX_H_
#define FROSTLINE_WORKER_AGENT_OUTBOX_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/held_records.h"
#include "worker/agent/report_backlog.h"
#include "worker/agent/spool.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

class Outbox {
 public:
  // `file` is null where there is no disk. `wakeup` (may be null) rings when
  // the outbox is done, and outlives it.
  Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file, Wakeup* wakeup);
  Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file);

  void Add(const SpoolRecord& record);
  // Nothing will be added. A finish or release closes it too.
  void Close();

  std::optional<SpoolRecord> Front() const;
  void PopFront();
  bool FrontIsEnding() const;
  // Takes a report that was put together apart again, one measurement each.
  // The answer is false where there is nothing to take apart.
  bool SplitFront();
  // The front was refused: this goes in its place, unspooled.
  void ReplaceFront(const SpoolRecord& record);
  // The coordinator takes no more steps of this attempt: from now on a report
  // is its checkpoint alone, and one without is dropped.
  void EndCurve();
  // The coordinator takes no more reports of this attempt.
  void DropReports();

  bool done() const;
  // Sends nothing more. The file moves to `keep_in`, or is removed if that is
  // empty.
  void Abandon(const std::string& keep_in);

  const v1::LeaseRef& lease() const { return lease_; }
  std::size_t bytes_in_memory() const;  // of records
  void NoteVerdict(v1::FinishReply::Verdict verdict);
  v1::FinishReply::Verdict verdict() const;

 private:
  void EndIfDone() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Queue(const SpoolRecord& report, bool is_spooled)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Brings what is next to the front, where nothing is.
  void Refill() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void ForgetReports() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const v1::LeaseRef lease_;
  Wakeup* const wakeup_;
  mutable Mutex mutex_;
  HeldRecords held_ ABSL_GUARDED_BY(mutex_);
  ReportBacklog backlog_ ABSL_GUARDED_BY(mutex_);
  std::optional<SpoolRecord> ending_ ABSL_GUARDED_BY(mutex_);
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  v1::FinishReply::Verdict verdict_ ABSL_GUARDED_BY(mutex_) =
      v1::FinishReply::VERDICT_UNSPECIFIED;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_OUTBOX_H_

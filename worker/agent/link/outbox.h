// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// Holds what one attempt still has to tell the coordinator, in order: a slot
// adds, the courier takes from the front. A record is spooled before it can be
// taken. What memory does not hold is read back from the spool when it is its
// turn:
//
//   front <─ outbox.h ─ outbox.h ─ the ending <─ Add()
//             in memory        in the file, or refused by it
//
// An ending is never dropped, whatever the disk does. It is thread-safe.
#ifndef FROSTLINE_WORKER_AGENT_LINK_OUTBOX_H_
#define FROSTLINE_WORKER_AGENT_LINK_OUTBOX_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "worker/agent/spool.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// The front of an outbox: the records that are sent next, in memory. Reports
// that wait one behind the other become one, of 1,000 measurements and 256 KiB
// at most. It is not thread-safe.

bool IsReport(const SpoolRecord& record);
std::size_t BytesOf(const SpoolRecord& record);

class HeldRecords {
 public:
  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }
  std::size_t bytes() const { return bytes_; }
  // Half a MiB of reports is held, and one at least.
  bool HasRoomFor(const SpoolRecord& report) const;

  // Joins it to the last one, if that is not one of the first `sent`.
  void Add(const SpoolRecord& record, std::size_t sent);
  // These REQUIRE that it is not empty.
  const SpoolRecord& front() const { return held_.front().record; }
  void Pop();
  void ReplaceFront(const SpoolRecord& record);
  // Takes a report that was put together apart again, one measurement each. The
  // answer is false where there is nothing to take apart.
  bool SplitFront();

  // From now on a report is its checkpoint alone, and one without is dropped.
  void EndCurve();
  // Drops the reports before an ending.
  void ForgetReports();

 private:
  struct Held {
    SpoolRecord record;
    std::size_t bytes;
  };
  void PushFront(const SpoolRecord& record);

  std::deque<Held> held_;
  std::size_t bytes_ = 0;
  bool curve_ended_ = false;
};

// The back of an outbox: reports that memory does not hold, in order, which are
// read again from the spool when it is their turn. What the disk refuses is
// kept unspooled, up to 4 MiB, and tried again with the next record; beyond
// that a report is dropped, but never its checkpoint. What the disk loses costs
// the damaged record alone. The log says each of these. It is not thread-safe.
class ReportBacklog {
 public:
  // The first `unread` reports of `file`, which is null where there is no disk,
  // are still to be sent.
  ReportBacklog(std::string trial, std::unique_ptr<SpoolFile> file,
                std::int64_t unread);

  bool empty() const { return unread_ == 0 && unspooled_.empty(); }
  std::size_t bytes_in_memory() const { return unspooled_bytes_; }

  // Writes it into the file, behind what was refused before, so that the file
  // keeps the order. The answer is false where it cannot be written.
  bool Spool(const SpoolRecord& record);
  // What was spooled last is held elsewhere. REQUIRES: empty().
  void SkipSpooled();
  void Push(const v1::ReportRequest& report, bool is_spooled);
  // Returns the next one; nothing where none is left.
  std::optional<SpoolRecord> TakeNext();
  void Forget();

  void RemoveFile();
  // Nobody looks in `folder` for more to deliver.
  void MoveFile(const std::string& folder);

 private:
  struct Unspooled {
    SpoolRecord record;
    std::size_t bytes;
  };
  bool SpoolRefused();
  // Keeps the checkpoint that a dropped report names.
  void KeepCheckpoint(const v1::ReportRequest& report);
  std::optional<SpoolRecord> ReadNext();
  void PopUnspooled();

  const std::string trial_;
  std::unique_ptr<SpoolFile> file_;
  std::int64_t unread_;
  std::deque<Unspooled> unspooled_;
  std::size_t unspooled_bytes_ = 0;
  std::int64_t dropped_ = 0;
};

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

#endif  // FROSTLINE_WORKER_AGENT_LINK_OUTBOX_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// Holds what one attempt still has to tell the coordinator, in order: a slot
// adds, the courier takes from the front. A record is spooled before it can be
// taken. What memory does not hold is read back from the spool when it is its
// turn:
//
//   front <─ HeldRecords ─ SpoolFile ─ the ending <─ Add()
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
#include <variant>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "frostline/v1/worker_service.pb.h"
#include "worker/agent/wakeup.h"

namespace frostline::agent {

// What an attempt has to say is fsynced before it is sent: neither the
// coordinator's absence nor the agent's death loses hours of training. Only its
// owner may read a file, as it has the lease's proof.
//
//   file   := "frostline spool 1\n" record*
//   record := length u32, crc32 u32, kind u8, payload   (little-endian; the
//             sum covers kind and payload)
//   kind   := 'L' LeaseRef (the first) | 'R' ReportRequest | 'F' FinishRequest
//             | 'B' ReleaseRequest
//
// A record that is cut off at the end was never told of. A damaged one costs
// what it said, and nothing behind it.

using SpoolRecord =
    std::variant<v1::ReportRequest, v1::FinishRequest, v1::ReleaseRequest>;

// What a spool file holds. Its reports stay in the file until they are read.
struct SpoolContent {
  v1::LeaseRef lease;
  std::int64_t reports = 0;
  std::optional<SpoolRecord> ending;  // the last record, if it is one
};

// The spool file of one attempt. One thread at a time may use it.
class SpoolFile {
 public:
  // Returns STORE_IO and its kin when the disk will not.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Create(
      const std::string& path, const v1::LeaseRef& lease);
  // Cuts off a torn tail, and passes over damaged records, which the log names.
  // Returns STORE_CORRUPT when not even the lease is readable.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Reopen(
      const std::string& path, SpoolContent* content);

  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // After a failure the file holds what it held.
  absl::Status Append(const SpoolRecord& record);
  // Reads one record after the other, from the first that was there at the
  // beginning, past damaged ones. Returns STORE_CORRUPT where none is left.
  absl::StatusOr<SpoolRecord> ReadNext();
  // What the file holds by now need not be read.
  void SkipToEnd() { read_at_ = size_; }
  void Remove();
  // Nobody looks in `folder` for more to deliver.
  void MoveTo(const std::string& folder);

  const std::string& path() const { return path_; }

 private:
  SpoolFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Write(const std::string& bytes);
  // Fills `content`, and sets the sizes up to the last whole record.
  bool Scan(std::int64_t bytes, SpoolContent* content);
  absl::Status Unreadable(std::int64_t from, std::int64_t to) const;
  void LogUnreadable(std::int64_t from, std::int64_t to) const;

  std::string path_;
  int fd_;
  std::int64_t size_ = 0;
  std::int64_t read_at_ = 0;
};

// Attempt 2 of trial 17 has "imdb~17~2.spool", as '~' is in no id.
std::string SpoolFileName(const v1::LeaseRef& lease);

inline constexpr char kSpoolHead[] = "frostline spool 1\n";

std::string EncodeLease(const v1::LeaseRef& lease);
std::string EncodeRecord(const SpoolRecord& record);

// Each record has length and sum before its body.
inline constexpr std::size_t kPrefixBytes = 8;
std::uint32_t BodyBytes(const std::string& prefix);
bool HasSum(const std::string& prefix, const std::string& body);
inline std::int64_t FrameBytes(const std::string& body) {
  return static_cast<std::int64_t>(kPrefixBytes + body.size());
}

// Says whether a body that begins so may be a record.
bool IsRecordKind(char kind);
// They return nothing for what is another kind, or no message.
std::optional<v1::LeaseRef> DecodeLease(const std::string& body);
std::optional<SpoolRecord> DecodeRecord(const std::string& body);

// Where records lie in a spool file: each is a frame of length, sum and body. A
// damaged frame hides none behind it. Nothing here writes, and a place that the
// disk cannot read counts as damaged.

// Fills all of `bytes`, or answers false.
bool ReadAt(int fd, std::int64_t at, std::string* bytes);

// Returns the body of the frame at `at`, nothing if it is damaged or not whole
// by `end`.
std::optional<std::string> ReadBody(int fd, std::int64_t at, std::int64_t end);

struct FoundRecord {
  SpoolRecord record;
  std::int64_t at = 0;   // of its frame
  std::int64_t end = 0;  // of the frame
};
// Returns the record at `at`, or else the next one that is whole by `end`.
std::optional<FoundRecord> FindRecord(int fd, std::int64_t at,
                                      std::int64_t end);

// The front of an outbox: the records that are sent next, in memory. Reports
// that wait one behind the other become one, of 1,000 measurements and 256 KiB
// at most. It is not thread-safe.

bool IsReport(const SpoolRecord& record);
std::size_t BytesOf(const SpoolRecord& record);

// The records of an outbox that are in memory.
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

// SPDX-License-Identifier: Apache-2.0
//
// File: outbox.h
//
// An outbox holds what one attempt still has to tell the coordinator, in order.
// A slot adds records, the deliverer takes them from the front. A record is
// written to the spool file before it can be taken. Records that memory does
// not hold are read back from the file when it is their turn:
//
//   front <─ HeldRecords ─ SpoolFile ─ the ending <─ Add()
//             in memory        in the file, or refused by it
//
// An ending is never dropped, whatever the disk does.
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

// The spool file of an attempt. Each record is fsynced before it is sent, so
// that hours of training survive an absent coordinator and the agent's death.
// Only its owner may read the file, since the lease's proof is in it.
//
//   file   := "frostline spool 1\n" record*
//   record := length u32, crc32 u32, kind u8, payload   (little-endian; the
//             sum covers kind and payload)
//   kind   := 'L' LeaseRef (the first) | 'R' ReportRequest | 'F' FinishRequest
//             | 'B' ReleaseRequest
//
// A record that is cut off at the end was never sent. A damaged record is lost,
// but those behind it are not.

using SpoolRecord =
    std::variant<v1::ReportRequest, v1::FinishRequest, v1::ReleaseRequest>;

// What a spool file holds. Its reports stay in the file until they are read.
struct SpoolContent {
  v1::LeaseRef lease;
  std::int64_t reports = 0;
  std::optional<SpoolRecord> ending;  // the last record, if it is an ending
};

// The spool file of one attempt. One thread at a time may use it.
class SpoolFile {
 public:
  // Makes the file. The error is that of the disk, such as STORE_IO.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Create(
      const std::string& path, const v1::LeaseRef& lease);
  // Opens a file that an earlier process left. Cuts off a torn end and skips
  // damaged records, which it logs. The error is STORE_CORRUPT when not even
  // the lease is readable.
  static absl::StatusOr<std::unique_ptr<SpoolFile>> Reopen(
      const std::string& path, SpoolContent* content);

  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  // Writes and syncs a record. After a failure the file holds what it held.
  absl::Status Append(const SpoolRecord& record);
  // Returns the next record, beginning with the first one in the file, and
  // skips damaged ones. The error is STORE_CORRUPT when none is left.
  absl::StatusOr<SpoolRecord> ReadNext();
  // ReadNext() skips all that the file holds now.
  void SkipToEnd() { read_at_ = size_; }
  void Remove();
  // Moves the file to a folder in which nobody looks for things to deliver.
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

// Returns the name of an attempt's file: "imdb~17~2.spool" for attempt 2 of
// trial 17. No id has a '~' in it.
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
// These return nothing for a body of another kind, or that is no message.
std::optional<v1::LeaseRef> DecodeLease(const std::string& body);
std::optional<SpoolRecord> DecodeRecord(const std::string& body);

// The next functions find records in a spool file, of which each is a frame of
// length, sum and body. A damaged frame hides none behind it. They write
// nothing. A place that the disk cannot read counts as damaged.

// Fills all of `bytes`; returns false if it cannot.
bool ReadAt(int fd, std::int64_t at, std::string* bytes);

// Returns the body of the frame at `at`; nothing if the frame is damaged or
// goes beyond `end`.
std::optional<std::string> ReadBody(int fd, std::int64_t at, std::int64_t end);

// A record and where its frame lies in the file.
struct FoundRecord {
  SpoolRecord record;
  std::int64_t at = 0;
  std::int64_t end = 0;
};
// Returns the record at `at`, or the next one that lies whole before `end`.
std::optional<FoundRecord> FindRecord(int fd, std::int64_t at,
                                      std::int64_t end);

bool IsReport(const SpoolRecord& record);
std::size_t BytesOf(const SpoolRecord& record);

// The front of an outbox: the records that are sent next, in memory. Reports
// that wait one behind the other are joined into one, of at most 1,000
// measurements and 256 KiB. It is not thread-safe.
class HeldRecords {
 public:
  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }
  std::size_t bytes() const { return bytes_; }
  // Says whether the report still fits: half a MiB of reports is held, and
  // always one.
  bool HasRoomFor(const SpoolRecord& report) const;

  // Adds a record at the end. A report is joined to the last one if that is not
  // among the first `sent`, which may be on their way.
  void Add(const SpoolRecord& record, std::size_t sent);
  // REQUIRES for the next four: it is not empty.
  const SpoolRecord& front() const { return held_.front().record; }
  void Pop();
  void ReplaceFront(const SpoolRecord& record);
  // Splits a report that was joined into reports of one measurement each.
  // Returns false if the front is no report or has a single measurement.
  bool SplitFront();

  // From now on of a report only its checkpoint is kept; a report without a
  // checkpoint is dropped.
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

// The back of an outbox: reports that wait in the spool file until it is their
// turn. Reports that the disk refuses are kept in memory, up to 4 MiB, and
// written again with the next record. Beyond that a report is dropped, but
// never its checkpoint. A record that the disk has damaged is lost alone. All
// of this is logged. It is not thread-safe.
class ReportBacklog {
 public:
  // The first `unread` reports of `file` are still to be sent. `file` is null
  // when none could be made.
  ReportBacklog(std::string trial, std::unique_ptr<SpoolFile> file,
                std::int64_t unread);

  bool empty() const { return unread_ == 0 && unspooled_.empty(); }
  std::size_t bytes_in_memory() const { return unspooled_bytes_; }

  // Writes a record into the file, behind what the disk refused before, so that
  // the file keeps the order. Returns false if it cannot be written.
  bool Spool(const SpoolRecord& record);
  // Skips what was spooled last, as HeldRecords has it. REQUIRES: empty().
  void SkipSpooled();
  void Push(const v1::ReportRequest& report, bool is_spooled);
  // Returns the next report; nothing if none is left.
  std::optional<SpoolRecord> TakeNext();
  void Forget();

  void RemoveFile();
  // Moves the file to a folder in which nobody looks for things to deliver.
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

// What one attempt still has to tell the coordinator. It is thread-safe.
class Outbox {
 public:
  // `file` is null when none could be made. `wakeup` may be null; it rings when
  // the outbox is done, and outlives it.
  Outbox(v1::LeaseRef lease, std::unique_ptr<SpoolFile> file, Wakeup* wakeup);
  Outbox(SpoolContent content, std::unique_ptr<SpoolFile> file);

  void Add(const SpoolRecord& record);
  // Nothing will be added any more. A finish or a release closes it too.
  void Close();

  std::optional<SpoolRecord> Front() const;
  void PopFront();
  bool FrontIsEnding() const;
  // As HeldRecords::SplitFront().
  bool SplitFront();
  // Puts a record in place of the front, which was refused. It is not spooled.
  void ReplaceFront(const SpoolRecord& record);
  // Call it when the coordinator takes no more steps of this attempt: from now
  // on of a report only its checkpoint is sent, and one without is dropped.
  void EndCurve();
  // Call it when the coordinator takes no more reports of this attempt.
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
  // Brings the next records to the front, if it is empty.
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

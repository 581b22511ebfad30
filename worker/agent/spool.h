// SPDX-License-Identifier: Apache-2.0
//
// File: spool.h
//
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
#ifndef FROSTLINE_WORKER_AGENT_SPOOL_H_
#define FROSTLINE_WORKER_AGENT_SPOOL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frostline/v1/worker_service.pb.h"

namespace frostline::agent {

using SpoolRecord =
    std::variant<v1::ReportRequest, v1::FinishRequest, v1::ReleaseRequest>;

// Its reports stay in the file until they are read.
struct SpoolContent {
  v1::LeaseRef lease;
  std::int64_t reports = 0;
  std::optional<SpoolRecord> ending;  // the last record, if it is one
};

// One thread at a time may use it.
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

// spool.h describes these bytes.

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

// Where records lie in a spool file: each is a frame of length, sum and body
//. A damaged frame hides none behind it. Nothing here writes,
// and a place that the disk cannot read counts as damaged.

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

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPOOL_H_

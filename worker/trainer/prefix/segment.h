// SPDX-License-Identifier: Apache-2.0
//
// File: segment.h
//
// A file of rows that were computed once. Little-endian, version 1:
//
//   "FLPREFIX", u32 version, u32 0, the group's 64 digits          80 bytes
//   rows: fp32 numbers, one row behind the other, without padding
//   index, a row each: key (2 x u64), u64 at, u32 bytes, u32 crc   32 bytes
//   u64 rows, u64 at of the index, u32 crc of the index, u32 0     24 bytes
//
// Files appear whole or not at all, and never change. A row is compared with
// its CRC32C each time it is read, after it was copied: whatever becomes of the
// file, a wrong number is never handed out.
#ifndef FROSTLINE_WORKER_TRAINER_PREFIX_SEGMENT_H_
#define FROSTLINE_WORKER_TRAINER_PREFIX_SEGMENT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/plain/file.h"
#include "base/plain/result.h"
#include "worker/trainer/data/row_key.h"

namespace frostline::trainer {

struct RowPlace {
  RowKey key;
  std::uint64_t at = 0;  // in the file
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;
};

// One thread uses it. Unless Commit succeeds, nothing remains.
class SegmentWriter {
 public:
  // `group` has 64 digits. Returns kUnreadable for a folder that takes no file.
  static Expected<SegmentWriter> Create(const std::string& path,
                                        const std::string& group);

  Expected<Done> Append(const RowKey& key, std::span<const float> row);
  // Of rows so far.
  std::uint64_t bytes() const { return at_; }
  // It is the last call.
  Expected<Done> Commit();

 private:
  explicit SegmentWriter(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
  std::uint64_t at_ = 0;
  std::vector<RowPlace> places_;
};

// Any thread may read.
class Segment {
 public:
  // Returns kUnreadable, or kInconsistent for what no writer of this version
  // and group has left.
  static Expected<Segment> Open(const std::string& path,
                                const std::string& group);

  const std::vector<RowPlace>& rows() const { return rows_; }
  std::uint64_t size() const { return file_.size(); }

  // Fills all of `into`, which is as long as the row. Returns kInconsistent
  // when the file is not what was written; `into` is to be thrown away then.
  Expected<Done> Read(const RowPlace& place, std::span<float> into) const;

 private:
  explicit Segment(SourceFile file) : file_(std::move(file)) {}

  SourceFile file_;
  std::vector<RowPlace> rows_;
};

}  // namespace frostline::trainer

#endif  // FROSTLINE_WORKER_TRAINER_PREFIX_SEGMENT_H_

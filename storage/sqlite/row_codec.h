// SPDX-License-Identifier: Apache-2.0
//
// File: row_codec.h
//
// Writes rows to columns and reads them, in the order of sql.h. Readers return
// STORE_CORRUPT, with table and key, when a seal is broken.
#ifndef FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_
#define FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/plain/sums.h"
#include "storage/rows.h"
#include "storage/sqlite/database.h"

namespace frostline::storage {

// The CRC-32C of a row's columns. SQLite checks its log, but not what lies in
// the database for months, so that each row of ours carries one.
class RowSum {
 public:
  void AddBytes(const void* data, std::size_t size) {
    sum_ = Crc32c(sum_, data, size);
  }
  // Adds eight bytes, little endian.
  void AddInt(std::int64_t value);
  // Adds the length first, so that "ab", "c" differs from "a", "bc".
  void AddString(const std::string& value);

  std::uint32_t value() const { return sum_; }

 private:
  std::uint32_t sum_ = 0;
};

// SQLite's binder and source (row_columns.h), which seal each group of columns
// with a checksum.

// Binds columns to a statement, which must outlive this object.
class ColumnWriter {
 public:
  explicit ColumnWriter(Statement& statement) : statement_(statement) {}

  void Int(std::int64_t value) {
    sum_.AddInt(value);
    statement_.Int(value);
  }
  void Text(const std::string& value) {
    sum_.AddString(value);
    statement_.Text(value);
  }
  void Blob(const std::string& value) {
    sum_.AddString(value);
    statement_.Blob(value);
  }
  // An empty value leaves the seal as it was before the column existed.
  void LaterText(const std::string& value) {
    if (!value.empty()) sum_.AddString(value);
    statement_.Text(value);
  }
  void LaterBlob(const std::string& value) {
    if (!value.empty()) sum_.AddString(value);
    statement_.Blob(value);
  }
  // The value belongs under the seal but is bound elsewhere.
  void Mix(std::int64_t value) { sum_.AddInt(value); }
  // Binds the checksum of all since the last seal.
  void Seal() {
    statement_.Int(sum_.value());
    sum_ = RowSum();
  }

 private:
  Statement& statement_;
  RowSum sum_;
};

// Reads the current row of a statement, which must outlive this object.
class ColumnReader {
 public:
  explicit ColumnReader(const Statement& statement, int first = 0)
      : statement_(statement), next_(first) {}

  std::int64_t Int() {
    const std::int64_t value = statement_.IntAt(next_++);
    sum_.AddInt(value);
    return value;
  }
  std::string Bytes() {
    std::string value = statement_.BytesAt(next_++);
    sum_.AddString(value);
    return value;
  }
  std::string LaterBytes() {
    std::string value = statement_.BytesAt(next_++);
    if (!value.empty()) sum_.AddString(value);
    return value;
  }
  void Mix(std::int64_t value) { sum_.AddInt(value); }
  // What was read since the last seal is under none.
  void Unsealed() { sum_ = RowSum(); }
  void Seal() {
    Require(statement_.IntAt(next_++) == sum_.value());
    sum_ = RowSum();
  }

  void Require(bool condition) { intact_ = intact_ && condition; }
  // Says whether every seal was right and every Require true.
  bool intact() const { return intact_; }

 private:
  const Statement& statement_;
  RowSum sum_;
  int next_;
  bool intact_ = true;
};

// Binds all columns that an insertion gives.
template <typename Row>
void BindRow(const Row& row, Statement& statement);
// Binds the columns that may change.
template <typename Row>
void BindChanging(const Row& row, Statement& statement);

template <typename Row>
absl::StatusOr<Row> ReadRow(const Statement& statement);

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_ROW_CODEC_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: row_codec.h
//
// How a row becomes columns and comes back, the same in every backend: the key,
// those that never change and their seal, those that may change and their seal.
//
// A target takes values, in the columns' order, by Int(number), Text(string)
// and Blob(string); a source has the columns of one row, counted from 0, by
// IntAt(column) and BytesAt(column).
#ifndef FROSTLINE_STORAGE_ROW_CODEC_H_
#define FROSTLINE_STORAGE_ROW_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/plain/sums.h"
#include "storage/row_columns.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::storage {

// The CRC-32C of a row's columns. A database checks its log, but
// not what has lain in it for months.
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

// A binder (row_columns.h) that seals each group of columns with a checksum.
// The target must outlive it.
template <typename Target>
class ColumnWriter {
 public:
  explicit ColumnWriter(Target& target) : target_(target) {}

  void Int(std::int64_t value) {
    sum_.AddInt(value);
    target_.Int(value);
  }
  void Text(const std::string& value) {
    sum_.AddString(value);
    target_.Text(value);
  }
  void Blob(const std::string& value) {
    sum_.AddString(value);
    target_.Blob(value);
  }
  // An empty value leaves the seal as it was before the column existed.
  void LaterText(const std::string& value) {
    if (!value.empty()) sum_.AddString(value);
    target_.Text(value);
  }
  void LaterBlob(const std::string& value) {
    if (!value.empty()) sum_.AddString(value);
    target_.Blob(value);
  }
  // Adds a value to the seal that is bound elsewhere.
  void Mix(std::int64_t value) { sum_.AddInt(value); }
  // Binds the checksum of all since the last seal.
  void Seal() {
    target_.Int(sum_.value());
    sum_ = RowSum();
  }

 private:
  Target& target_;
  RowSum sum_;
};

// A source (row_columns.h) that checks the seals. What it reads from must
// outlive it.
template <typename Source>
class ColumnReader {
 public:
  explicit ColumnReader(const Source& source) : source_(source) {}

  std::int64_t Int() {
    const std::int64_t value = source_.IntAt(next_++);
    sum_.AddInt(value);
    return value;
  }
  std::string Bytes() {
    std::string value = source_.BytesAt(next_++);
    sum_.AddString(value);
    return value;
  }
  std::string LaterBytes() {
    std::string value = source_.BytesAt(next_++);
    if (!value.empty()) sum_.AddString(value);
    return value;
  }
  void Mix(std::int64_t value) { sum_.AddInt(value); }
  // Begins a new seal: what was read since the last one has none.
  void Unsealed() { sum_ = RowSum(); }
  void Seal() {
    Require(source_.IntAt(next_++) == sum_.value());
    sum_ = RowSum();
  }

  void Require(bool condition) { intact_ = intact_ && condition; }
  // Says whether every seal was right and every Require true.
  bool intact() const { return intact_; }

 private:
  const Source& source_;
  RowSum sum_;
  int next_ = 0;
  bool intact_ = true;
};

template <typename Row>
inline constexpr bool kHasFixed =
    std::tuple_size_v<decltype(RowColumns<Row>::kFixed)> > 0;

template <typename Columns, typename Row, typename Target>
void BindAll(const Columns& columns, const Row& row,
             ColumnWriter<Target>& writer) {
  ForEachColumn(columns,
                [&](const auto& column) { BindColumn(column, row, writer); });
}

template <typename Columns, typename Row, typename Source>
void ReadAllFields(const Columns& columns, ColumnReader<Source>& reader,
                   Row& row) {
  ForEachColumn(columns, [&](const auto& column) {
    reader.Require(ReadColumn(column, reader, row));
  });
}

// The seal of the changing columns covers the key too. A key that the database
// gives is not known when the row is written, so no seal covers it.
template <typename Row, typename Sealed>
void MixKey(const Row& row, Sealed& sealed) {
  if constexpr (!RowColumns<Row>::kKeyIsGiven) {
    ForEachColumn(RowColumns<Row>::kKey, [&](const auto& column) {
      sealed.Mix(ToInt(row.*column.member));
    });
  }
}

std::string NameOf(const StudyRow& row);
std::string NameOf(const TrialRow& row);
std::string NameOf(const AttemptRow& row);
std::string NameOf(const MeasurementRow& row);
std::string NameOf(const OutcomeRow& row);
std::string NameOf(const LogRow& row);
std::string NameOf(const WorkerRow& row);
std::string NameOf(const TokenRow& row);
std::string NameOf(const CertificateRow& row);
std::string NameOf(const AuditRow& row);
std::string NameOf(const NotificationRow& row);
std::string NameOf(const ReplyRow& row);
std::string NameOf(const SummaryRow& row);
std::string NameOf(const BestRow& row);
std::string NameOf(const LeadRow& row);

// Writes the columns that may change.
template <typename Row, typename Target>
void WriteChanging(const Row& row, Target& target) {
  ColumnWriter<Target> writer(target);
  MixKey(row, writer);
  BindAll(RowColumns<Row>::kChanging, row, writer);
  writer.Seal();
}

// Writes all columns that an insertion gives.
template <typename Row, typename Target>
void WriteRow(const Row& row, Target& target) {
  using Columns = RowColumns<Row>;
  ColumnWriter<Target> writer(target);
  if constexpr (!Columns::kKeyIsGiven) BindAll(Columns::kKey, row, writer);
  if constexpr (kHasFixed<Row>) {
    BindAll(Columns::kFixed, row, writer);
    writer.Seal();
    WriteChanging(row, target);
  } else {
    BindAll(Columns::kChanging, row, writer);
    writer.Seal();
  }
}

// The error is STORE_CORRUPT, with table and key, when a seal is broken.
template <typename Row, typename Source>
absl::StatusOr<Row> ReadSealed(const Source& source) {
  using Columns = RowColumns<Row>;
  Row row;
  ColumnReader<Source> reader(source);
  ReadAllFields(Columns::kKey, reader, row);
  if constexpr (Columns::kKeyIsGiven) reader.Unsealed();
  if constexpr (kHasFixed<Row>) {
    ReadAllFields(Columns::kFixed, reader, row);
    reader.Seal();
    MixKey(row, reader);
  }
  ReadAllFields(Columns::kChanging, reader, row);
  reader.Seal();
  if (reader.intact()) return row;
  return StoreCorrupt(
      absl::StrCat(Columns::kTable, ": ", NameOf(row), " is damaged"));
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_ROW_CODEC_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: column.h
//
// A binder takes the values in the columns' order by Int(number), Text(string),
// Blob(string), LaterText(string) and LaterBlob(string); a source gives them by
// Int(), Bytes() and LaterBytes().
#ifndef FROSTLINE_STORAGE_COLUMN_H_
#define FROSTLINE_STORAGE_COLUMN_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/secret.h"
#include "storage/blobs.h"
#include "study/history.h"

namespace frostline::storage {

// What a row of an older version has not is empty, under no seal.
enum class ColumnKind { kInt, kText, kBlob, kLaterText, kLaterBlob };

template <ColumnKind kind, typename Row, typename Value>
struct Column {
  const char* name;
  Value Row::* member;
};

namespace column {

template <typename Row, typename Value>
constexpr auto Int(const char* name, Value Row::* member) {
  return Column<ColumnKind::kInt, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto Text(const char* name, Value Row::* member) {
  return Column<ColumnKind::kText, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto Blob(const char* name, Value Row::* member) {
  return Column<ColumnKind::kBlob, Row, Value>{name, member};
}

template <typename Row, typename Value>
constexpr auto LaterText(const char* name, Value Row::* member) {
  return Column<ColumnKind::kLaterText, Row, Value>{name, member};
}
template <typename Row, typename Value>
constexpr auto LaterBlob(const char* name, Value Row::* member) {
  return Column<ColumnKind::kLaterBlob, Row, Value>{name, member};
}

}  // namespace column

// An update replaces such a row whole.
struct WrittenWhole {
  static constexpr bool kKeyIsGiven = false;
  static constexpr std::tuple<> kFixed = {};
};

template <typename Columns, typename F>
constexpr void ForEachColumn(const Columns& columns, F f) {
  std::apply([&f](const auto&... column) { (f(column), ...); }, columns);
}

// Unsigned numbers keep their 64 bits.
template <typename Value>
std::int64_t ToInt(const Value& value) {
  return static_cast<std::int64_t>(value);
}
inline std::int64_t ToInt(const Measurement& value) { return value.step; }
template <typename Value>
void FromInt(std::int64_t stored, Value& value) {
  value = static_cast<Value>(stored);
}
inline void FromInt(std::int64_t stored, Measurement& value) {
  value.step = stored;
}

inline const std::string& ToBytes(const std::string& value) { return value; }
inline const std::string& ToBytes(const SecretString& value) {
  return value.Reveal();
}
inline std::string ToBytes(const std::vector<double>& value) {
  return EncodeDoubles(value);
}
inline std::string ToBytes(const Metrics& value) {
  return EncodeMetrics(value);
}
inline std::string ToBytes(const Measurement& value) {
  return EncodeMeasurement(value);
}
// Answers false when the bytes are no such value.
inline bool FromBytes(std::string stored, std::string& value) {
  value = std::move(stored);
  return true;
}
inline bool FromBytes(std::string stored, SecretString& value) {
  value = SecretString(std::move(stored));
  return true;
}
inline bool FromBytes(const std::string& stored, std::vector<double>& value) {
  return DecodeDoubles(stored, value);
}
inline bool FromBytes(const std::string& stored, Metrics& value) {
  return DecodeMetrics(stored, value);
}
inline bool FromBytes(const std::string& stored, Measurement& value) {
  return DecodeMeasurement(stored, value);
}

template <ColumnKind kind, typename Row, typename Value, typename Binder>
void BindColumn(const Column<kind, Row, Value>& column, const Row& row,
                Binder& binder) {
  const Value& value = row.*column.member;
  if constexpr (kind == ColumnKind::kInt) {
    binder.Int(ToInt(value));
  } else if constexpr (kind == ColumnKind::kText) {
    binder.Text(ToBytes(value));
  } else if constexpr (kind == ColumnKind::kLaterText) {
    binder.LaterText(ToBytes(value));
  } else if constexpr (kind == ColumnKind::kLaterBlob) {
    binder.LaterBlob(ToBytes(value));
  } else {
    binder.Blob(ToBytes(value));
  }
}

// Answers false as FromBytes() does.
template <ColumnKind kind, typename Row, typename Value, typename Source>
bool ReadColumn(const Column<kind, Row, Value>& column, Source& source,
                Row& row) {
  Value& value = row.*column.member;
  if constexpr (kind == ColumnKind::kInt) {
    FromInt(source.Int(), value);
    return true;
  } else if constexpr (kind == ColumnKind::kLaterText ||
                       kind == ColumnKind::kLaterBlob) {
    return FromBytes(source.LaterBytes(), value);
  } else {
    return FromBytes(source.Bytes(), value);
  }
}

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_COLUMN_H_

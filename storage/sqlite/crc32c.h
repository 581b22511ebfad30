// SPDX-License-Identifier: Apache-2.0
//
// File: crc32c.h
//
// CRC-32C (Castagnoli). SQLite checks its log, but not what lies in the
// database for months: each row of ours carries a checksum of its columns.
#ifndef FROSTLINE_STORAGE_SQLITE_CRC32C_H_
#define FROSTLINE_STORAGE_SQLITE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace frostline::storage {

class Crc32c {
 public:
  void AddBytes(const void* data, std::size_t size);
  // Eight bytes, little endian.
  void AddInt(std::int64_t value);
  // Length first, so that "ab", "c" differs from "a", "bc".
  void AddString(const std::string& value);

  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffffu;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_CRC32C_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: crc32c.h
//
// SQLite checks its log, but not what lies in the database for months: each row
// of ours carries a CRC-32C (Castagnoli) of its columns.
#ifndef FROSTLINE_STORAGE_SQLITE_CRC32C_H_
#define FROSTLINE_STORAGE_SQLITE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace frostline::storage {

class Crc32c {
 public:
  void AddBytes(const void* data, std::size_t size);
  // Adds eight bytes, little endian.
  void AddInt(std::int64_t value);
  // Adds the length first, so that "ab", "c" differs from "a", "bc".
  void AddString(const std::string& value);

  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffffu;
};

}  // namespace frostline::storage

#endif  // FROSTLINE_STORAGE_SQLITE_CRC32C_H_

// SPDX-License-Identifier: Apache-2.0
#include "storage/sqlite/crc32c.h"

#include <array>

namespace frostline::storage {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78u;  // bits reversed

using ByteTable = std::array<std::uint32_t, 256>;

// kTables[k][b] is the effect of byte b followed by k zero bytes; with eight of
// them, eight bytes are taken at a time.
constexpr std::array<ByteTable, 8> MakeTables() {
  std::array<ByteTable, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = (crc >> 8) ^ tables[0][crc & 0xff];
    }
  }
  return tables;
}

constexpr std::array<ByteTable, 8> kTables = MakeTables();

}  // namespace

void Crc32c::AddBytes(const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint32_t crc = state_;
  for (; size >= 8; size -= 8, bytes += 8) {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      next ^= kTables[7 - i][((crc >> (8 * i)) & 0xff) ^ bytes[i]];
      next ^= kTables[3 - i][bytes[4 + i]];
    }
    crc = next;
  }
  for (; size > 0; --size, ++bytes) {
    crc = (crc >> 8) ^ kTables[0][(crc ^ *bytes) & 0xff];
  }
  state_ = crc;
}

void Crc32c::AddInt(std::int64_t value) {
  std::array<unsigned char, 8> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(
        (static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
  }
  AddBytes(bytes.data(), bytes.size());
}

void Crc32c::AddString(const std::string& value) {
  AddInt(static_cast<std::int64_t>(value.size()));
  AddBytes(value.data(), value.size());
}

}  // namespace frostline::storage

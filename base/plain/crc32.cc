// SPDX-License-Identifier: Apache-2.0
//
// Eight bytes at a time, by eight tables (Kounavis and Berry, "slicing by 8"):
// a checkpoint has hundreds of megabytes.
#include "base/plain/crc32.h"

#include <array>
#include <cstring>

namespace frostline {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables MakeTables() {
  Tables tables = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? crc >> 1 ^ 0xEDB88320U : crc >> 1;
    }
    tables[0][i] = crc;
  }
  for (std::size_t slice = 1; slice < 8; ++slice) {
    for (std::uint32_t i = 0; i < 256; ++i) {
      const std::uint32_t crc = tables[slice - 1][i];
      tables[slice][i] = crc >> 8 ^ tables[0][crc & 255U];
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

}  // namespace

std::uint32_t Crc32(std::uint32_t before, const void* bytes,
                    std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t crc = ~before;
  for (; count >= 8; count -= 8, at += 8) {
    std::array<std::uint32_t, 2> word = {};
    std::memcpy(word.data(), at, 8);  // little-endian, as tensors are
    word[0] ^= crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      crc ^= kTables[7 - i][word[i / 4] >> (8 * (i % 4)) & 255U];
    }
  }
  for (; count > 0; --count, ++at) {
    crc = crc >> 8 ^ kTables[0][(crc ^ *at) & 255U];
  }
  return ~crc;
}

}  // namespace frostline

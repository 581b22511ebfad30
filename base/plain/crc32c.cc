// SPDX-License-Identifier: Apache-2.0
#include "base/plain/crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace frostline {
namespace {

using Table = std::array<std::uint32_t, 256>;

constexpr Table MakeTable() {
  Table table = {};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc & 1U) != 0 ? crc >> 1 ^ 0x82F63B78U : crc >> 1;
    }
    table[i] = crc;
  }
  return table;
}

constexpr Table kTable = MakeTable();

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t ByInstruction(
    std::uint32_t before, const unsigned char* at, std::size_t count) {
  std::uint64_t crc = ~before;
  for (; count >= 8; count -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    crc = _mm_crc32_u64(crc, word);
  }
  auto rest = static_cast<std::uint32_t>(crc);
  for (; count > 0; --count, ++at) rest = _mm_crc32_u8(rest, *at);
  return ~rest;
}
#endif

}  // namespace

std::uint32_t Crc32cByTable(std::uint32_t before, const void* bytes,
                            std::size_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t crc = ~before;
  for (; count > 0; --count, ++at) {
    crc = crc >> 8 ^ kTable[(crc ^ *at) & 255U];
  }
  return ~crc;
}

std::uint32_t Crc32c(std::uint32_t before, const void* bytes,
                     std::size_t count) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) {
    return ByInstruction(before, static_cast<const unsigned char*>(bytes),
                         count);
  }
#endif
  return Crc32cByTable(before, bytes, count);
}

}  // namespace frostline

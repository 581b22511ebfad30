// SPDX-License-Identifier: Apache-2.0
//
// File: sums.h
//
// Checksums: CRC-32 and CRC-32C find accidents, SHA-256 finds manipulation.
#ifndef FROSTLINE_BASE_PLAIN_SUMS_H_
#define FROSTLINE_BASE_PLAIN_SUMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace frostline {

// Returns the CRC-32 that zip and Ethernet use. `before` is 0, or the sum of
// the bytes before these.
std::uint32_t Crc32(std::uint32_t before, const void* bytes, std::size_t count);

// Returns the CRC-32C (RFC 3720, appendix B.4), by the processor's own
// instruction if it has one. It guards data that is read again and again, where
// Crc32 would be too slow.

// `before` is 0, or the sum of the bytes before these.
std::uint32_t Crc32c(std::uint32_t before, const void* bytes,
                     std::size_t count);

// Computes the same by table, on any processor.
std::uint32_t Crc32cByTable(std::uint32_t before, const void* bytes,
                            std::size_t count);

// A SHA-256 (FIPS 180-4) that is computed piece by piece.
class Sha256Sum {
 public:
  void Add(std::string_view bytes);
  // Adds the length (eight bytes, little-endian), then the bytes, so that two
  // fields can never look like one.
  void AddField(std::string_view bytes);
  void AddNumber(std::uint64_t number);

  // Returns 64 lower-case hexadecimal digits; nothing may be added after that.
  std::string Finish();

 private:
  static constexpr std::size_t kBlock = 64;

  void Compress(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                         0xa54ff53a, 0x510e527f, 0x9b05688c,
                                         0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlock> held_{};
  std::size_t held_size_ = 0;
  std::uint64_t total_ = 0;
};

// Says whether the text is 64 lower-case hexadecimal digits.
bool IsSha256(std::string_view text);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_SUMS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: sums.h
//
// Checksums: CRC-32 and CRC-32C against accidents, SHA-256 against people.
#ifndef FROSTLINE_BASE_PLAIN_SUMS_H_
#define FROSTLINE_BASE_PLAIN_SUMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace frostline {

// CRC-32 is the checksum of zip and Ethernet.
//
// Goes on from `before`, which is 0 at the beginning.
std::uint32_t Crc32(std::uint32_t before, const void* bytes, std::size_t count);

// CRC32C (RFC 3720, appendix B.4), by the processor's own instruction where it
// has one: it guards what is read again and again, where Crc32 would be felt.

// `before` is 0, or the sum of the bytes before these.
std::uint32_t Crc32c(std::uint32_t before, const void* bytes,
                     std::size_t count);

// The same by table, on any processor.
std::uint32_t Crc32cByTable(std::uint32_t before, const void* bytes,
                            std::size_t count);

// SHA-256 is FIPS 180-4.

class Sha256Sum {
 public:
  void Add(std::string_view bytes);
  // Adds the length (eight bytes, little-endian), then the bytes: two fields
  // are never taken for one.
  void AddField(std::string_view bytes);
  void AddNumber(std::uint64_t number);

  // Returns 64 lower-case hexadecimal digits; nothing may be added any more.
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

// Wants 64 lower-case hexadecimal digits.
bool IsSha256(std::string_view text);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_SUMS_H_

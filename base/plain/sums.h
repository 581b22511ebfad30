// SPDX-License-Identifier: Apache-2.0
//
// File: sums.h
//
// SHA-256 is FIPS 180-4.
#ifndef FROSTLINE_BASE_PLAIN_SUMS_H_
#define FROSTLINE_BASE_PLAIN_SUMS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace frostline {

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

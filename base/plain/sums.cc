// SPDX-License-Identifier: Apache-2.0
//
// Sums eight bytes at a time with eight tables (Kounavis and Berry, "slicing by
// 8"), since a checkpoint has hundreds of megabytes.
#include "base/plain/sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

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

namespace {

// The fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

void Sha256Sum::Compress(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;  // the message schedule
  for (std::size_t t = 0; t < 16; ++t) {
    w[t] = 0;
    for (std::size_t i = 0; i < 4; ++i) w[t] = w[t] << 8 | block[4 * t + i];
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t x = w[t - 15];
    const std::uint32_t y = w[t - 2];
    w[t] = (std::rotr(y, 17) ^ std::rotr(y, 19) ^ y >> 10) + w[t - 7] +
           (std::rotr(x, 7) ^ std::rotr(x, 18) ^ x >> 3) + w[t - 16];
  }
  std::array<std::uint32_t, 8> s = state_;  // a, b, .. h
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t big1 =
        std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const std::uint32_t t1 = s[7] + big1 + choice + kRoundConstants[t] + w[t];
    const std::uint32_t big0 =
        std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t majority =
        (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    s = {t1 + big0 + majority, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
}

void Sha256Sum::Add(std::string_view bytes) {
  total_ += bytes.size();
  while (!bytes.empty()) {
    if (held_size_ == 0 && bytes.size() >= kBlock) {
      Compress(Unsigned(bytes));
      bytes.remove_prefix(kBlock);
      continue;
    }
    const std::size_t part = std::min(bytes.size(), kBlock - held_size_);
    std::copy_n(Unsigned(bytes), part, held_.data() + held_size_);
    held_size_ += part;
    bytes.remove_prefix(part);
    if (held_size_ == kBlock) {
      Compress(held_.data());
      held_size_ = 0;
    }
  }
}

void Sha256Sum::AddNumber(std::uint64_t number) {
  std::array<char, 8> bytes;
  for (char& byte : bytes) {
    byte = static_cast<char>(number & 0xFF);
    number >>= 8;
  }
  Add({bytes.data(), bytes.size()});
}

void Sha256Sum::AddField(std::string_view bytes) {
  AddNumber(bytes.size());
  Add(bytes);
}

std::string Sha256Sum::Finish() {
  const std::uint64_t bits = total_ * 8;
  std::string padding(1, '\x80');
  padding.resize(1 + (2 * kBlock - 9 - held_size_) % kBlock, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) {
    padding += static_cast<char>(bits >> shift & 0xFF);
  }
  Add(padding);
  std::string hex;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) {
      hex += "0123456789abcdef"[word >> shift & 15];
    }
  }
  return hex;
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace frostline

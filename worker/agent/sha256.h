// SPDX-License-Identifier: Apache-2.0
//
// File: sha256.h
//
// SHA-256 (FIPS 180-4): whether a checkpoint is still what its trainer wrote.
#ifndef FROSTLINE_WORKER_AGENT_SHA256_H_
#define FROSTLINE_WORKER_AGENT_SHA256_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace frostline {

class Sha256 {
 public:
  void Add(const unsigned char* bytes, std::size_t count);
  // 64 lower-case hexadecimal digits; nothing may be added any more.
  std::string Finish();

 private:
  void Mix(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                         0xa54ff53a, 0x510e527f, 0x9b05688c,
                                         0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::size_t rest_size_ = 0;
  std::uint64_t total_ = 0;
};

// Of a whole file; STORE_IO and its kin when it cannot be read.
absl::StatusOr<std::string> Sha256OfFile(const std::string& path);

}  // namespace frostline

#endif  // FROSTLINE_WORKER_AGENT_SHA256_H_

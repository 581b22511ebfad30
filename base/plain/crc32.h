// SPDX-License-Identifier: Apache-2.0
//
// File: crc32.h
//
// CRC-32 is the checksum of zip and Ethernet.
#ifndef FROSTLINE_BASE_PLAIN_CRC32_H_
#define FROSTLINE_BASE_PLAIN_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace frostline {

// Goes on from `before`, which is 0 at the beginning.
std::uint32_t Crc32(std::uint32_t before, const void* bytes, std::size_t count);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_CRC32_H_

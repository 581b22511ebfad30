// SPDX-License-Identifier: Apache-2.0
//
// File: crc32c.h
//
// CRC32C (RFC 3720, appendix B.4), by the processor's own instruction where it
// has one: it guards what is read again and again, where Crc32 would be felt.
#ifndef FROSTLINE_BASE_PLAIN_CRC32C_H_
#define FROSTLINE_BASE_PLAIN_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace frostline {

// `before` is 0, or the sum of the bytes before these.
std::uint32_t Crc32c(std::uint32_t before, const void* bytes,
                     std::size_t count);

// The same by table, on any processor.
std::uint32_t Crc32cByTable(std::uint32_t before, const void* bytes,
                            std::size_t count);

}  // namespace frostline

#endif  // FROSTLINE_BASE_PLAIN_CRC32C_H_

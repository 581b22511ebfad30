// SPDX-License-Identifier: Apache-2.0
//
// File: spool_record.h
//
// spool.h describes these bytes.
#ifndef FROSTLINE_WORKER_AGENT_SPOOL_RECORD_H_
#define FROSTLINE_WORKER_AGENT_SPOOL_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>

#include "worker/agent/spool.h"

namespace frostline::agent {

inline constexpr char kSpoolHead[] = "frostline spool 1\n";

// IEEE 802.3 defines it, as in zip and PNG.
std::uint32_t Crc32(const std::string& bytes);

std::string EncodeLease(const v1::LeaseRef& lease);
std::string EncodeRecord(const SpoolRecord& record);

// Reads up to the first record that is cut off or damaged, which begins at
// `good_bytes`. Returns nothing without head and lease.
std::optional<SpoolContent> DecodeSpool(const std::string& bytes,
                                        std::size_t* good_bytes);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPOOL_RECORD_H_

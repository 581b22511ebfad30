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

// Each record has length and sum before its body.
inline constexpr std::size_t kPrefixBytes = 8;
std::uint32_t BodyBytes(const std::string& prefix);
bool HasSum(const std::string& prefix, const std::string& body);
inline std::int64_t FrameBytes(const std::string& body) {
  return static_cast<std::int64_t>(kPrefixBytes + body.size());
}

// Says whether a body that begins so may be a record.
bool IsRecordKind(char kind);
// They return nothing for what is another kind, or no message.
std::optional<v1::LeaseRef> DecodeLease(const std::string& body);
std::optional<SpoolRecord> DecodeRecord(const std::string& body);

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_SPOOL_RECORD_H_

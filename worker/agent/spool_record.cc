// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool_record.h"

#include <array>
#include <utility>

namespace frostline::agent {
namespace {

constexpr std::uint32_t kPolynomial = 0xEDB88320;

constexpr std::array<std::uint32_t, 256> MakeTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t sum = i;
    for (int bit = 0; bit < 8; ++bit) {
      sum = (sum >> 1) ^ ((sum & 1) != 0 ? kPolynomial : 0);
    }
    table[i] = sum;
  }
  return table;
}

std::string Little32(std::uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>((value >> shift) & 0xFF);
  }
  return bytes;
}

std::uint32_t ReadLittle32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])}
             << (8 * i);
  }
  return value;
}

std::string Frame(char kind, const google::protobuf::MessageLite& message) {
  const std::string body = kind + message.SerializeAsString();
  return Little32(static_cast<std::uint32_t>(body.size())) +
         Little32(Crc32(body)) + body;
}

template <typename Request>
std::optional<SpoolRecord> Parsed(const std::string& payload) {
  Request request;
  if (!request.ParseFromString(payload)) return std::nullopt;
  return request;
}

struct KindOfRecord {
  char operator()(const v1::ReportRequest&) const { return 'R'; }
  char operator()(const v1::FinishRequest&) const { return 'F'; }
  char operator()(const v1::ReleaseRequest&) const { return 'B'; }
};

}  // namespace

std::uint32_t Crc32(const std::string& bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = MakeTable();
  std::uint32_t sum = 0xFFFFFFFF;
  for (const char c : bytes) {
    sum = (sum >> 8) ^ kTable[(sum ^ static_cast<unsigned char>(c)) & 0xFF];
  }
  return ~sum;
}

std::string EncodeLease(const v1::LeaseRef& lease) { return Frame('L', lease); }

std::string EncodeRecord(const SpoolRecord& record) {
  const char kind = std::visit(KindOfRecord(), record);
  return std::visit(
      [kind](const auto& request) { return Frame(kind, request); }, record);
}

std::uint32_t BodyBytes(const std::string& prefix) {
  return ReadLittle32(prefix, 0);
}

bool HasSum(const std::string& prefix, const std::string& body) {
  return Crc32(body) == ReadLittle32(prefix, 4);
}

std::optional<v1::LeaseRef> DecodeLease(const std::string& body) {
  v1::LeaseRef lease;
  const bool is_lease = !body.empty() && body[0] == 'L' &&
                        lease.ParseFromString(body.substr(1)) &&
                        !lease.trial().empty();
  if (!is_lease) return std::nullopt;
  return lease;
}

bool IsRecordKind(char kind) {
  return kind == 'R' || kind == 'F' || kind == 'B';
}

std::optional<SpoolRecord> DecodeRecord(const std::string& body) {
  const std::string payload = body.substr(1);
  switch (body[0]) {
    case 'R':
      return Parsed<v1::ReportRequest>(payload);
    case 'F':
      return Parsed<v1::FinishRequest>(payload);
    case 'B':
      return Parsed<v1::ReleaseRequest>(payload);
    default:
      return std::nullopt;
  }
}

}  // namespace frostline::agent

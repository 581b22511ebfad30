// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/spool_record.h"

#include <array>
#include <utility>

namespace frostline::agent {
namespace {

constexpr std::size_t kPrefixBytes = 8;  // length and sum
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

// The body of the record at `at`; nothing when it is cut off or damaged.
std::optional<std::string> BodyAt(const std::string& bytes, std::size_t at) {
  if (bytes.size() - at < kPrefixBytes) return std::nullopt;
  const std::size_t length = ReadLittle32(bytes, at);
  if (length == 0 || bytes.size() - at - kPrefixBytes < length) {
    return std::nullopt;
  }
  std::string body = bytes.substr(at + kPrefixBytes, length);
  if (Crc32(body) != ReadLittle32(bytes, at + 4)) return std::nullopt;
  return body;
}

template <typename Request>
bool Take(const std::string& payload, std::vector<SpoolRecord>* records) {
  Request request;
  if (!request.ParseFromString(payload)) return false;
  records->push_back(std::move(request));
  return true;
}

bool TakeBody(const std::string& body, SpoolContent* content) {
  const std::string payload = body.substr(1);
  switch (body[0]) {
    case 'L':
      return content->lease.ParseFromString(payload);
    case 'R':
      return Take<v1::ReportRequest>(payload, &content->records);
    case 'F':
      return Take<v1::FinishRequest>(payload, &content->records);
    case 'B':
      return Take<v1::ReleaseRequest>(payload, &content->records);
    default:
      return false;
  }
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

std::optional<SpoolContent> DecodeSpool(const std::string& bytes,
                                        std::size_t* good_bytes) {
  const std::string head = kSpoolHead;
  if (bytes.compare(0, head.size(), head) != 0) return std::nullopt;
  SpoolContent content;
  std::size_t at = head.size();
  while (const auto body = BodyAt(bytes, at)) {
    if (!TakeBody(*body, &content)) break;
    at += kPrefixBytes + body->size();
  }
  *good_bytes = at;
  if (content.lease.trial().empty()) return std::nullopt;
  return content;
}

}  // namespace frostline::agent

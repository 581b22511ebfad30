// SPDX-License-Identifier: Apache-2.0
#include "base/plain/audit_chain.h"

#include <cstddef>

#include "base/plain/sums.h"

namespace frostline {
namespace {

constexpr std::size_t kChainDigits = 64;
constexpr std::size_t kSequenceDigits = 12;
constexpr std::string_view kBeforeChain = ",\"chain_sha256\":\"";
constexpr std::string_view kAfterChain = "\"}";

char ValueOf(char digit) {
  return static_cast<char>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

std::string BytesOf(std::string_view digits) {
  std::string bytes(kChainDigits / 2, '\0');
  if (!IsSha256(digits)) return bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>((ValueOf(digits[2 * i]) << 4) |
                                 ValueOf(digits[2 * i + 1]));
  }
  return bytes;
}

}  // namespace

std::string AuditFileName(std::int64_t first_sequence) {
  std::string number = std::to_string(first_sequence);
  if (number.size() < kSequenceDigits) {
    number.insert(0, kSequenceDigits - number.size(), '0');
  }
  return "audit-" + number + ".jsonl";
}

std::string FirstChain() { return std::string(kChainDigits, '0'); }

std::string NextChain(const std::string& previous, std::string_view text) {
  Sha256Sum sum;
  sum.Add(BytesOf(previous));
  sum.Add(text);
  return sum.Finish();
}

std::string ChainedLine(std::string_view text, const std::string& chain) {
  std::string line(text);
  line += kBeforeChain;
  line += chain;
  line += kAfterChain;
  return line;
}

std::optional<ChainedText> ReadChainedLine(std::string_view line) {
  constexpr std::size_t kTail =
      kBeforeChain.size() + kChainDigits + kAfterChain.size();
  if (line.size() <= kTail) return std::nullopt;
  const std::string_view tail = line.substr(line.size() - kTail);
  const std::string_view chain = tail.substr(kBeforeChain.size(), kChainDigits);
  const bool good =
      tail.substr(0, kBeforeChain.size()) == kBeforeChain && IsSha256(chain) &&
      tail.substr(kBeforeChain.size() + kChainDigits) == kAfterChain;
  if (!good) return std::nullopt;
  return ChainedText{line.substr(0, line.size() - kTail), chain};
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "tls/join_line.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/status_macros.h"

namespace frostline::tls {
namespace {

constexpr std::size_t kTokenIdDigits = 16;
constexpr std::size_t kSecretDigits = 64;
constexpr std::size_t kFingerprintDigits = 64;
constexpr std::size_t kLongestJoinHost = 253;
constexpr int kLastPort = 65'535;

absl::Status Broken(const std::string& cause) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat("--join ", cause),
                   "paste the whole line that `frostline worker invite` "
                   "printed, TOKEN@HOST:PORT#FINGERPRINT, in quotes",
                   "--join");
}

bool IsHex(const std::string& text, std::size_t digits) {
  return text.size() == digits &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c));
         });
}

absl::Status ReadJoinToken(const std::string& text, JoinLine* line) {
  const std::vector<std::string> parts = absl::StrSplit(text, '_');
  if (parts.size() != 3 || parts[0] != "frost" ||
      !IsHex(parts[1], kTokenIdDigits) || !IsHex(parts[2], kSecretDigits)) {
    return Broken("has no token before its @");
  }
  line->token = SecretString(text);
  line->token_id = parts[1];
  return absl::OkStatus();
}

bool IsName(const std::string& host) {
  return !host.empty() && host.size() <= kLongestJoinHost &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '.' || c == '-' || c == '_';
         });
}

bool IsIpv6(const std::string& host) {
  std::array<unsigned char, 16> ignored{};
  return inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

absl::Status ReadAddress(const std::string& text, JoinLine* line) {
  const std::size_t colon = text.rfind(':');
  int port = 0;
  if (colon == std::string::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 1 ||
      port > kLastPort) {
    return Broken("has no port behind its host");
  }
  line->host = text.substr(0, colon);
  const bool brackets = line->host.size() > 2 && line->host.front() == '[' &&
                        line->host.back() == ']';
  if (brackets) line->host = line->host.substr(1, line->host.size() - 2);
  if (!(brackets ? IsIpv6(line->host) : IsName(line->host))) {
    return Broken(
        "has no host behind its @, or an IPv6 address without brackets");
  }
  line->address = absl::StrCat(
      brackets ? absl::StrCat("[", line->host, "]") : line->host, ":", port);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<JoinLine> ParseJoinLine(const std::string& given) {
  const std::string text(absl::StripAsciiWhitespace(given));
  const std::size_t at = text.find('@');
  const std::size_t hash = text.find('#');
  if (at == std::string::npos || hash == std::string::npos || hash < at) {
    return Broken("is no line of the form TOKEN@HOST:PORT#FINGERPRINT");
  }
  JoinLine line;
  RETURN_IF_ERROR(ReadJoinToken(text.substr(0, at), &line));
  RETURN_IF_ERROR(ReadAddress(text.substr(at + 1, hash - at - 1), &line));
  line.ca_sha256 = absl::AsciiStrToLower(text.substr(hash + 1));
  if (IsHex(line.ca_sha256, kFingerprintDigits)) return line;
  return Broken("has no fingerprint of 64 hexadecimal digits behind its #");
}

}  // namespace frostline::tls

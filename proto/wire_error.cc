// SPDX-License-Identifier: Apache-2.0
#include "proto/wire_error.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/plain/text.h"
#include "frostline/v1/errors.pb.h"

namespace frostline::proto {
namespace {

constexpr char kCut[] = "...";

// Says whether a character could move a cursor, forge a line or hide what a
// text says: C0, DEL and C1; ends of lines; and characters that turn the
// direction of text.
bool IsControl(char32_t code) {
  const bool is_bidi = code == 0x061C || code == 0x200E || code == 0x200F ||
                       (code >= 0x202A && code <= 0x202E) ||
                       (code >= 0x2066 && code <= 0x2069);
  const bool ends_line = code == 0x2028 || code == 0x2029;
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || is_bidi || ends_line;
}

std::optional<ErrorId> FindId(const std::string& code) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    if (ErrorCode(kind.id) == code) return kind.id;
  }
  return std::nullopt;
}

std::optional<v1::ErrorInfo> FindErrorInfo(const std::string& details) {
  v1::StatusDetails envelope;
  if (!envelope.ParseFromString(details)) return std::nullopt;
  for (const auto& detail : envelope.details()) {
    v1::ErrorInfo info;
    if (detail.type_url() == kErrorInfoUrl &&
        info.ParseFromString(detail.value()) && info.domain() == kErrorDomain) {
      return info;
    }
  }
  return std::nullopt;
}

std::string Metadata(const v1::ErrorInfo& info, const char* key,
                     std::size_t max_bytes) {
  const auto found = info.metadata().find(key);
  if (found == info.metadata().end()) return "";
  return CleanText(found->second, max_bytes);
}

// gRPC's text is the only thing that tells a failed handshake from a
// coordinator that is away.
bool IsRefusedHandshake(const std::string& cause) {
  for (const char* const word :
       {"SSL_ERROR_SSL", "erification", "verify failed"}) {
    if (cause.find(word) != std::string::npos) return true;
  }
  return false;
}

absl::Status WithoutDetails(grpc::StatusCode code, const std::string& cause) {
  if (code == grpc::StatusCode::UNAVAILABLE && IsRefusedHandshake(cause)) {
    return MakeError(
        ErrorId::kTlsRefused, cause,
        "give --tls-ca the CA of this coordinator, and its host as "
        "the certificate has it (`frostline tls init --host HOST`)");
  }
  if (code == grpc::StatusCode::UNAVAILABLE) {
    return MakeError(
        ErrorId::kCoordinatorAway, cause,
        "start it with `frostline serve --data frost`, or check the address "
        "and the network");
  }
  if (code == grpc::StatusCode::UNIMPLEMENTED) {
    return MakeError(
        ErrorId::kMethodNotBuilt,
        cause.empty() ? "the peer does not know the method" : cause,
        "use a coordinator of the client's version");
  }
  // The two enums have equal numbers; server/rpc/call.cc asserts it.
  return absl::Status(static_cast<absl::StatusCode>(code), cause);
}

}  // namespace

std::string CleanText(const std::string& text, std::size_t max_bytes) {
  // Nearly all texts are plain, and a table has many.
  const bool is_plain = text.size() <= max_bytes &&
                        std::all_of(text.begin(), text.end(), [](char c) {
                          return c >= ' ' && c <= '~';
                        });
  if (is_plain) return text;
  std::string clean;
  for (std::size_t i = 0; i < text.size() && clean.size() <= max_bytes;) {
    const CodePoint point = DecodeAt(text, i);
    if (!point.valid) {
      clean += '?';
    } else if (IsControl(point.value)) {
      clean += ' ';
    } else {
      clean.append(text, i, point.bytes);
    }
    i += point.valid ? point.bytes : 1;
  }
  if (clean.size() <= max_bytes) return clean;
  std::size_t keep = max_bytes - (sizeof(kCut) - 1);
  while (keep > 0 && IsContinuation(clean[keep])) --keep;
  return clean.substr(0, keep) + kCut;
}

absl::Status FromGrpcStatus(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const std::string cause = CleanText(status.error_message(), kMaxCauseBytes);
  const auto info = FindErrorInfo(status.error_details());
  if (!info.has_value()) return WithoutDetails(status.error_code(), cause);
  const std::string code = Metadata(*info, "id", kMaxFieldBytes);
  const std::string fix = Metadata(*info, "fix", kMaxFixBytes);
  const auto id = FindId(code);
  if (id.has_value()) {
    return MakeError(*id, cause, fix, Metadata(*info, "field", kMaxFieldBytes));
  }
  // The coordinator is newer: all that is known of its error is in the text.
  return absl::Status(static_cast<absl::StatusCode>(status.error_code()),
                      absl::StrCat(cause, " (", code, "; fix: ", fix, ")"));
}

}  // namespace frostline::proto

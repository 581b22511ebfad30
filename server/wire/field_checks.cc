// SPDX-License-Identifier: Apache-2.0
#include "server/wire/field_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "server/wire/limits.h"

namespace frostline::server {
namespace {

constexpr std::size_t kMinRequestId = 16;
constexpr std::size_t kMaxToken = 64;
constexpr std::size_t kMaxPageToken = 1024;
constexpr std::size_t kMaxFilter = 4096;

bool IsTokenChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// base/ids.h calls the field "name"; here it may have another name.
absl::Status At(const absl::Status& status, const std::string& field) {
  if (status.ok()) return status;
  const ErrorDetail detail = DetailOf(status).value_or(ErrorDetail{});
  return MakeError(detail.id, std::string(status.message()), detail.fix, field);
}

absl::Status TooLarge(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kFieldTooLarge, absl::StrCat(field, " ", cause),
                   fix, field);
}

}  // namespace

absl::Status BadField(const std::string& field, const std::string& cause,
                      const std::string& fix) {
  return MakeError(ErrorId::kRequestInvalid, absl::StrCat(field, " ", cause),
                   fix, field);
}

absl::Status CheckRequestId(const std::string& id) {
  if (id.size() >= kMinRequestId && id.size() <= kMaxToken &&
      std::all_of(id.begin(), id.end(), IsTokenChar)) {
    return absl::OkStatus();
  }
  return BadField("request_id",
                  id.empty() ? "is missing" : "is not of the right form",
                  "give 16 to 64 of A-Z, a-z, 0-9, '_', '-', drawn anew for "
                  "each request, e.g. a UUID4");
}

absl::Status CheckToken(const std::string& token, const std::string& field) {
  if (!token.empty() && token.size() <= kMaxToken &&
      std::all_of(token.begin(), token.end(),
                  [](char c) { return IsTokenChar(c) || c == '.'; })) {
    return absl::OkStatus();
  }
  return BadField(field,
                  token.empty() ? "is missing" : "is not of the right form",
                  "give 1 to 64 of A-Z, a-z, 0-9, '.', '_', '-'");
}

absl::Status CheckStudyName(const std::string& name, const std::string& field) {
  return At(ParseStudyName(name).status(), field);
}

absl::Status CheckTrialName(const std::string& name, const std::string& field) {
  return At(ParseTrialName(name).status(), field);
}

absl::Status CheckWorkerName(const std::string& name,
                             const std::string& field) {
  return At(ParseWorkerName(name).status(), field);
}

absl::Status CheckRange(std::int64_t value, std::int64_t lo, std::int64_t hi,
                        const std::string& field) {
  if (value >= lo && value <= hi) return absl::OkStatus();
  return BadField(field, absl::StrCat("is ", value),
                  absl::StrCat("give a number from ", lo, " to ", hi));
}

absl::Status CheckWithin(double value, double lo, double hi,
                         const std::string& field) {
  if (value >= lo && value <= hi) return absl::OkStatus();
  return BadField(field, "is out of its range",
                  absl::StrCat("give ", lo, " to ", hi, ", or leave it out"));
}

absl::Status CheckBytes(const std::string& text, std::size_t max,
                        const std::string& field) {
  if (text.size() <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", text.size(), " bytes"),
                  absl::StrCat("keep it within ", max, " bytes"));
}

absl::Status CheckCount(std::int64_t count, std::int64_t max,
                        const std::string& field) {
  if (count <= max) return absl::OkStatus();
  return TooLarge(field, absl::StrCat("has ", count, " entries"),
                  absl::StrCat("send at most ", max, " at a time"));
}

absl::Status CheckDuration(const google::protobuf::Duration& duration,
                           std::int64_t max_seconds, const std::string& field) {
  const std::int64_t seconds = duration.seconds();
  const std::int32_t nanos = duration.nanos();
  const bool formed = nanos >= 0 && nanos < 1'000'000'000;
  if (formed && seconds >= 0 &&
      (seconds < max_seconds || (seconds == max_seconds && nanos == 0))) {
    return absl::OkStatus();
  }
  return BadField(field, absl::StrCat("is ", seconds, " s and ", nanos, " ns"),
                  absl::StrCat("give 0 to ", max_seconds, " s"));
}

absl::Status CheckPage(int page_size, const std::string& page_token,
                       const std::string& filter) {
  RETURN_IF_ERROR(CheckRange(page_size, 0, kMaxPageSize, "page_size"));
  if (page_token.size() > kMaxPageToken) {
    return MakeError(ErrorId::kPageTokenInvalid, "the page token is too long",
                     "send next_page_token as it came", "page_token");
  }
  if (filter.size() > kMaxFilter) {
    return MakeError(ErrorId::kFilterInvalid, "the filter is too long",
                     absl::StrCat("keep it within ", kMaxFilter, " bytes"),
                     "filter");
  }
  return absl::OkStatus();
}

}  // namespace frostline::server

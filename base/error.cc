// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace frostline {
namespace {

constexpr char kPayloadUrl[] = "frostline/error-detail";
constexpr char kSeparator = '\x1f';  // ASCII unit separator: in no text of ours

}  // namespace

const std::vector<ErrorKind>& AllErrorKinds() {
  static const auto* kinds = new std::vector<ErrorKind>{
#define FROSTLINE_ROW_(name, number, code, reason, title) \
  {ErrorId::k##name, absl::StatusCode::k##code, reason, title},
      FROSTLINE_ERRORS(FROSTLINE_ROW_)
#undef FROSTLINE_ROW_
  };
  return *kinds;
}

const ErrorKind& KindOf(ErrorId id) {
  for (const ErrorKind& kind : AllErrorKinds()) {
    if (kind.id == id) return kind;
  }
  return AllErrorKinds().back();  // kInternal closes the catalogue
}

std::string ErrorCode(ErrorId id) {
  return absl::StrCat("FL-", static_cast<int>(id));
}

absl::Status MakeError(ErrorId id, const std::string& cause,
                       const std::string& fix, const std::string& field) {
  absl::Status status(KindOf(id).code, cause);
  const std::string separator(1, kSeparator);
  status.SetPayload(kPayloadUrl,
                    absl::Cord(absl::StrCat(static_cast<int>(id), separator,
                                            field, separator, fix)));
  return status;
}

std::optional<ErrorDetail> DetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayloadUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::vector<std::string> parts =
      absl::StrSplit(std::string(*payload), absl::MaxSplits(kSeparator, 2));
  int number = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &number)) {
    return std::nullopt;
  }
  return ErrorDetail{static_cast<ErrorId>(number), parts[1], parts[2]};
}

bool HasErrorId(const absl::Status& status, ErrorId id) {
  const auto detail = DetailOf(status);
  return detail.has_value() && detail->id == id;
}

std::string DescribeError(const absl::Status& status) {
  const auto detail = DetailOf(status);
  if (!detail.has_value()) return absl::StrCat("error: ", status.message());
  std::string text = absl::StrCat("error[", ErrorCode(detail->id),
                                  "]: ", KindOf(detail->id).title,
                                  "\n  because: ", status.message());
  if (!detail->field.empty()) absl::StrAppend(&text, "\n  at: ", detail->field);
  if (!detail->fix.empty()) absl::StrAppend(&text, "\n  fix: ", detail->fix);
  return text;
}

}  // namespace frostline

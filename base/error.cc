// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cerrno>

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

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  const auto detail = DetailOf(status);
  // Some errors have an exit code of their own, whatever their canonical code
  // is.
  if (detail.has_value()) {
    const int number = static_cast<int>(detail->id);
    if (detail->id == ErrorId::kCoordinatorAway) return kExitUnreachable;
    if (detail->id == ErrorId::kPortBusy) return kExitConflict;
    if (detail->id == ErrorId::kStoreUnwritable) return kExitFailure;
    if (detail->id == ErrorId::kTlsFile) return kExitAuth;
    if (detail->id == ErrorId::kAddressNotLoopback) return kExitUsage;
    if (detail->id == ErrorId::kRequestInvalid) return kExitUsage;
    // Neither of these two is ever written in a file.
    if (detail->id == ErrorId::kFilterInvalid) return kExitUsage;
    if (detail->id == ErrorId::kPageTokenInvalid) return kExitUsage;
    if (number >= 1001 && number <= 1999) return kExitInvalidFile;
    // A trainer would say this about a registry, but there is no trial yet.
    const bool of_registry =
        number >= static_cast<int>(ErrorId::kTrainerFile) &&
        number <= static_cast<int>(ErrorId::kTrainerMisuse);
    if (of_registry) return kExitInvalidFile;
  }
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      return kExitUsage;
    case absl::StatusCode::kNotFound:
      return kExitNotFound;
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return kExitAuth;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kAborted:
      return kExitConflict;
    case absl::StatusCode::kDeadlineExceeded:
      return kExitTimedOut;
    case absl::StatusCode::kUnavailable:
      return kExitUnreachable;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitFailure;
  }
}

absl::Status DiskErrorOr(int error, const std::string& cause,
                         absl::Status otherwise) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return MakeError(ErrorId::kStoreFull, cause,
                       "make room on that disk, or name a file on another");
    case EIO:
      return MakeError(ErrorId::kStoreIo, cause,
                       "look at the kernel's log, and name a file on another "
                       "disk");
    default:
      return otherwise;
  }
}

}  // namespace frostline

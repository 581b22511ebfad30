// SPDX-License-Identifier: Apache-2.0
//
// File: error.h
//
// An error has an id with a page (FL-2031), the cause and the fix. It travels
// as an absl::Status whose message is the cause; a payload carries the rest.
// Only server/rpc/status.cc makes it a wire error.
//
//   return MakeError(ErrorId::kLevelsInvalid, "levels of layer.3 are empty",
//                    "list at least one rate", "space.modules[3].levels");
//   if (HasErrorId(status, ErrorId::kLeaseLost)) StopTraining();
#ifndef FROSTLINE_BASE_ERROR_H_
#define FROSTLINE_BASE_ERROR_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/error_catalogue.h"

namespace frostline {

enum class ErrorId {
#define FROSTLINE_ENUM_(name, number, code, reason, title) k##name = number,
  FROSTLINE_ERRORS(FROSTLINE_ENUM_)
#undef FROSTLINE_ENUM_
};

struct ErrorKind {
  ErrorId id;
  absl::StatusCode code;
  std::string reason;  // "LEASE_LOST"
  std::string title;   // a few words for people
};

struct ErrorDetail {
  ErrorId id = ErrorId::kInternal;
  std::string field;  // path in the request or study, or empty
  std::string fix;    // one sentence
};

const std::vector<ErrorKind>& AllErrorKinds();
const ErrorKind& KindOf(ErrorId id);

// Returns "FL-2031".
std::string ErrorCode(ErrorId id);

absl::Status MakeError(ErrorId id, const std::string& cause,
                       const std::string& fix, const std::string& field = "");

// Answers nothing for OK and for foreign errors.
std::optional<ErrorDetail> DetailOf(const absl::Status& status);
bool HasErrorId(const absl::Status& status, ErrorId id);

// Makes lines for a terminal; the third is there where there is a field:
//   "error[FL-1003]: …", "  because: …", "  at: …", "  fix: …".
std::string DescribeError(const absl::Status& status);

}  // namespace frostline

#endif  // FROSTLINE_BASE_ERROR_H_

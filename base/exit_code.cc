// SPDX-License-Identifier: Apache-2.0
#include "base/exit_code.h"

#include "base/error.h"

namespace frostline {

ExitCode ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  const auto detail = DetailOf(status);
  // A few facts have a code of their own whatever their canonical code is.
  if (detail.has_value()) {
    const int number = static_cast<int>(detail->id);
    if (detail->id == ErrorId::kCoordinatorAway) return kExitUnreachable;
    if (detail->id == ErrorId::kPortBusy) return kExitConflict;
    if (detail->id == ErrorId::kStoreUnwritable) return kExitFailure;
    if (detail->id == ErrorId::kTlsFile) return kExitAuth;
    if (detail->id == ErrorId::kAddressNotLoopback) return kExitUsage;
    if (detail->id == ErrorId::kRequestInvalid) return kExitUsage;
    // Neither is ever written in a file.
    if (detail->id == ErrorId::kFilterInvalid) return kExitUsage;
    if (detail->id == ErrorId::kPageTokenInvalid) return kExitUsage;
    if (number >= 1001 && number <= 1999) return kExitInvalidFile;
    // What a trainer would say of a registry, said before there is a trial.
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

}  // namespace frostline

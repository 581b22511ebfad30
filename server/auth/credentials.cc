// SPDX-License-Identifier: Apache-2.0
#include "server/auth/credentials.h"

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {

absl::Status Credentials::CheckFree(const std::string& worker, WallMicros now,
                                    const std::string& field) const {
  const bool is_taken = HaveSubject(worker, now) ||
                        tokens.GetsSubject(worker, now) ||
                        certificates.GetsSubject(worker, now);
  if (!is_taken) return absl::OkStatus();
  return MakeError(
      ErrorId::kWorkerNameTaken,
      absl::StrCat(worker, " has credentials already"),
      absl::StrCat("take another --id, or end them first: `frostline worker "
                   "revoke ",
                   worker.substr(worker.find('/') + 1), "`"),
      field);
}

}  // namespace frostline::server

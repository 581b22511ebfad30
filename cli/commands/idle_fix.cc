// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/idle_fix.h"

#include "absl/strings/str_cat.h"
#include "cli/commands/registry.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// The one that study files are held against here, if there is one.
std::string RegistryHere() {
  const auto registry = FindRegistry("");
  const bool is_here = registry.ok() && registry->has_value();
  return is_here ? (*registry)->folder : "DIR";
}

}  // namespace

std::string IdleFix(const v1::ExplainStudyReply::Reason& reason,
                    const std::string& address) {
  if (reason.code() == "NO_WORKERS") {
    return absl::StrCat("start one: frostline worker --connect ", address,
                        " --registry ", RegistryHere());
  }
  return proto::CleanText(reason.fix(), proto::kMaxCauseBytes);
}

}  // namespace frostline::cli

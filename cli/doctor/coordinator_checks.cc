// SPDX-License-Identifier: Apache-2.0
//
// The settings, and the coordinator they name.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "cli/doctor/check.h"
#include "cli/view/counted.h"

namespace frostline::cli::doctor {
namespace {

constexpr double kMostSeconds = 5.0;

std::string FixOf(const absl::Status& status) {
  const auto detail = DetailOf(status);
  return detail.has_value() && !detail->fix.empty()
             ? detail->fix
             : "`frostline status --wait 60s` tries again";
}

Finding NobodyToAsk() {
  return {CheckStatus::kSkipped, "there is no coordinator to ask",
          "start one with `frostline serve --data frost`, or name one with "
          "--connect HOST:PORT"};
}

// Versions of one line understand each other: "0.1" of "0.1.3".
std::string CheckLineOf(const std::string& version) {
  const std::vector<std::string> parts = absl::StrSplit(version, '.');
  return parts.size() < 2 ? version : absl::StrCat(parts[0], ".", parts[1]);
}

}  // namespace

Finding CheckConfiguration(const Patient& patient) {
  if (!patient.configured.ok()) {
    return {CheckStatus::kCritical, std::string(patient.configured.message()),
            FixOf(patient.configured)};
  }
  const Configuration& found = patient.configuration;
  if (!found.warnings.empty()) {
    return {CheckStatus::kWarn, absl::StrJoin(found.warnings, "; "),
            "`frostline config path` says which files are read"};
  }
  std::vector<std::string> files;
  if (!found.project_file.empty()) files.push_back(found.project_file);
  if (!found.user.empty()) files.push_back(found.user_file);
  return {CheckStatus::kOk, files.empty()
                                ? "no file says anything"
                                : "read: " + absl::StrJoin(files, ", ")};
}

Finding CheckCoordinator(const Patient& patient) {
  const CoordinatorFacts& facts = patient.facts.coordinator;
  if (facts.reached.ok()) {
    return {
        CheckStatus::kOk,
        absl::StrCat("frostline ", facts.info.version(), " answers at ",
                     facts.target, ", with ",
                     Counted(facts.info.studies(), "study", "studies"), " and ",
                     Counted(facts.info.live_workers(), "worker"))};
  }
  const bool is_nobody =
      HasErrorId(facts.reached, ErrorId::kCoordinatorAway) && !facts.is_named;
  if (is_nobody) return NobodyToAsk();
  return {CheckStatus::kWarn,
          absl::StrCat(facts.target.empty() ? "" : facts.target + ": ",
                       facts.reached.message()),
          FixOf(facts.reached)};
}

Finding CheckProtocol(const Patient& patient) {
  const CoordinatorFacts& facts = patient.facts.coordinator;
  if (!facts.reached.ok()) return NobodyToAsk();
  const std::string& theirs = facts.info.version();
  const std::string& ours = patient.asked.version;
  const std::string detail = absl::StrCat("frostline.v1; this is ", ours,
                                          ", the coordinator ", theirs);
  if (CheckLineOf(theirs) == CheckLineOf(ours))
    return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail,
          "install the same release on both: docs/how-to/install.md"};
}

Finding CheckClock(const Patient& patient) {
  const CoordinatorFacts& facts = patient.facts.coordinator;
  if (!facts.reached.ok()) return NobodyToAsk();
  if (!facts.ahead_seconds.has_value()) {
    return {CheckStatus::kSkipped,
            "the coordinator tells its time to researchers and admins alone",
            "ask as one of them: `frostline doctor --token-file FILE`; "
            "`timedatectl` says whether this clock is set"};
  }
  const double ahead = *facts.ahead_seconds;
  const std::string detail =
      absl::StrFormat("the coordinator's clock is %.1f s %s this one",
                      std::abs(ahead), ahead < 0 ? "behind" : "ahead of");
  if (std::abs(ahead) <= kMostSeconds) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn,
          detail + ": tokens and certificates may seem expired",
          "set both by the network: `timedatectl set-ntp true`"};
}

}  // namespace frostline::cli::doctor

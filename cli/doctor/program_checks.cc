// SPDX-License-Identifier: Apache-2.0
//
// The programs beside this one, and the libraries they stand on.
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/known_holes.h"
#include "cli/doctor/check.h"
#include "cli/view/format.h"
#include "proto/library_versions.h"

namespace frostline::cli::doctor {
namespace {

constexpr char kTrainer[] = "frostline-trainer";

// Returns "0.1.0" for "frostline-trainer 0.1.0, LibTorch 2.11.0".
std::string WordBehind(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word + " ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + word.size() + 1;
  return text.substr(begin, text.find_first_of(", \n", begin) - begin);
}

std::string VersionIn(const Facts& facts, const std::string& program) {
  const auto found = facts.versions.find(program);
  const bool is_known = found != facts.versions.end() && found->second.ok();
  return is_known ? WordBehind(*found->second, program) : "";
}

LibraryVersions LibrariesOf(const Patient& patient) {
  LibraryVersions found = proto::RpcLibraries();
  const auto trainer = patient.facts.versions.find(kTrainer);
  if (trainer != patient.facts.versions.end() && trainer->second.ok()) {
    found["LibTorch"] = WordBehind(*trainer->second, "LibTorch");
  }
  const auto& coordinators = patient.facts.coordinator.info.libraries();
  const auto store = coordinators.find("SQLite");
  if (store != coordinators.end()) found["SQLite"] = store->second;
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

// Returns the text about late programs. A busy machine is not an error: the
// trainer loads LibTorch before it answers.
std::string WhoIsLate(const std::vector<std::string>& late) {
  if (late.empty()) return "";
  const std::chrono::duration<double> limit = kProgramLimit;
  return absl::StrCat("; ", absl::StrJoin(late, ", "), " did not answer in ",
                      limit.count(), " s");
}

struct FoundHoles {
  std::vector<std::string> ids;   // nothing of Frostline takes the occasion
  std::vector<std::string> open;  // the ids of the others
  std::string library;            // one that has an open one
  std::string in_full;
};

FoundHoles HolesIn(const LibraryVersions& libraries) {
  FoundHoles found;
  for (const auto& [library, version] : libraries) {
    for (const KnownHole& hole : HolesOf(library, version, KnownHoles())) {
      const bool is_open = hole.answer.empty();
      (is_open ? found.open : found.ids)
          .push_back(absl::StrCat(library, " ", hole.id));
      if (is_open) found.library = library;
      absl::StrAppend(&found.in_full, "; ", library, " has ", hole.id, " (",
                      hole.what, "), ",
                      is_open ? "and nothing takes the occasion"
                              : absl::StrCat("no occasion: ", hole.answer));
    }
  }
  return found;
}

// Returns a short text for people, with the place where the missing parts are
// explained.
std::string InShort(const FoundHoles& holes) {
  std::string text;
  if (!holes.ids.empty()) {
    absl::StrAppend(
        &text, "; without an occasion here: ", absl::StrJoin(holes.ids, ", "),
        " (why: frostline doctor --only libraries --format json)");
  }
  if (!holes.open.empty()) {
    absl::StrAppend(&text, "; open: ", absl::StrJoin(holes.open, ", "));
  }
  return text;
}

}  // namespace

Finding CheckVersions(const Patient& patient) {
  const std::string& ours = patient.asked.version;
  std::vector<std::string> others;
  std::vector<std::string> missing;
  std::vector<std::string> late;
  for (const auto& [program, said] : patient.facts.versions) {
    const std::string version = VersionIn(patient.facts, program);
    if (absl::IsDeadlineExceeded(said.status())) {
      late.push_back(program);
    } else if (version.empty()) {
      missing.push_back(program);
    } else if (version != ours) {
      others.push_back(absl::StrCat(program, " is ", version));
    }
  }
  const std::string detail = absl::StrCat("frostline ", ours, WhoIsLate(late));
  if (!others.empty()) {
    return {CheckStatus::kCritical,
            absl::StrCat(detail, ", but ", absl::StrJoin(others, ", ")),
            "install all programs of one release (docs/how-to/install.md); "
            "`frostline version` says what this one is"};
  }
  if (!late.empty() && late != std::vector<std::string>{kTrainer}) {
    return {CheckStatus::kWarn, detail,
            absl::StrCat("when the machine is less busy, run `", late.front(),
                         " --version`")};
  }
  if (missing.empty() && !late.empty()) return {CheckStatus::kOk, detail};
  if (missing.empty()) {
    return {CheckStatus::kOk, detail + ", and so are the programs beside it"};
  }
  // A node for the command line alone has none of them, and is well.
  const bool is_alone = missing.size() == patient.facts.versions.size();
  if (is_alone || missing == std::vector<std::string>{kTrainer}) {
    return {CheckStatus::kOk,
            absl::StrCat(detail, "; without ", absl::StrJoin(missing, ", "))};
  }
  return {CheckStatus::kWarn,
          absl::StrCat(detail, ", but ", absl::StrJoin(missing, ", "),
                       " does not say its version"),
          absl::StrCat("run `", missing.front(), " --version`")};
}

Finding CheckLibraries(const Patient& patient) {
  const auto libraries = LibrariesOf(patient);
  const std::string names =
      absl::StrJoin(libraries, ", ", absl::PairFormatter(" "));
  const FoundHoles holes = HolesIn(libraries);
  const auto& told = patient.facts.coordinator.info.known_holes();
  std::string by_coordinator;
  for (const std::string& hole : told) {
    absl::StrAppend(&by_coordinator, "; the coordinator says: ", hole);
  }
  Finding finding;
  finding.detail = absl::StrCat(names, InShort(holes), by_coordinator);
  finding.in_full = absl::StrCat(names, holes.in_full, by_coordinator);
  if (holes.open.empty() && told.empty()) return finding;
  finding.status = CheckStatus::kWarn;
  finding.fix = absl::StrCat("install a newer ",
                             holes.open.empty() ? "release" : holes.library,
                             ": docs/how-to/install.md");
  return finding;
}

// Checks of the settings and of the coordinator that they name.

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

// Returns the compatible line of a version: "0.1" for "0.1.3".
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

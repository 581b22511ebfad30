// SPDX-License-Identifier: Apache-2.0
//
// The programs beside this one, and the libraries they stand on.
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/known_holes.h"
#include "cli/doctor/check.h"
#include "proto/library_versions.h"

namespace frostline::cli::doctor {
namespace {

constexpr char kTrainer[] = "frostline-trainer";

// Answers "0.1.0" of "frostline-trainer 0.1.0, LibTorch 2.11.0".
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

// A busy machine is no broken one: the trainer loads LibTorch to answer.
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

// For people: which, and where it is told why they are none here.
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

}  // namespace frostline::cli::doctor

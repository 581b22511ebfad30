// SPDX-License-Identifier: Apache-2.0
//
// The programs beside this one, and the libraries they stand on.
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/doctor/check.h"
#include "cli/doctor/known_holes.h"

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

std::map<std::string, std::string> LibrariesOf(const Patient& patient) {
  std::map<std::string, std::string> found = {
      {"gRPC", grpc::Version()},
      {"Protobuf",
       google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)}};
  const auto trainer = patient.facts.versions.find(kTrainer);
  if (trainer != patient.facts.versions.end() && trainer->second.ok()) {
    found["LibTorch"] = WordBehind(*trainer->second, "LibTorch");
  }
  const std::string store = patient.facts.coordinator.info.store();
  found["SQLite"] = WordBehind(absl::AsciiStrToLower(store), "sqlite");
  std::erase_if(found, [](const auto& one) { return one.second.empty(); });
  return found;
}

}  // namespace

Finding CheckVersions(const Patient& patient) {
  const std::string& ours = patient.asked.version;
  std::vector<std::string> others;
  std::vector<std::string> missing;
  for (const auto& [program, said] : patient.facts.versions) {
    const std::string version = VersionIn(patient.facts, program);
    if (version.empty()) {
      missing.push_back(program);
    } else if (version != ours) {
      others.push_back(absl::StrCat(program, " is ", version));
    }
  }
  const std::string detail = absl::StrCat("frostline ", ours);
  if (!others.empty()) {
    return {CheckStatus::kCritical,
            absl::StrCat(detail, ", but ", absl::StrJoin(others, ", ")),
            "install all programs of one release (docs/how-to/install.md); "
            "`frostline version` says what this one is"};
  }
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
  std::string detail = absl::StrJoin(libraries, ", ", absl::PairFormatter(" "));
  std::string open;
  for (const auto& [library, version] : libraries) {
    for (const Hole& hole : HolesOf(library, version, KnownHoles())) {
      const bool is_open = hole.answer.empty();
      absl::StrAppend(&detail, "; ", library, " has ", hole.id, " (", hole.what,
                      "), ",
                      is_open ? "and nothing takes the occasion"
                              : absl::StrCat("no occasion: ", hole.answer));
      if (is_open) open = library;
    }
  }
  const auto& told = patient.facts.coordinator.info.known_holes();
  for (const std::string& hole : told) {
    absl::StrAppend(&detail, "; the coordinator says: ", hole);
  }
  if (open.empty() && told.empty()) return {CheckStatus::kOk, detail};
  return {CheckStatus::kWarn, detail,
          absl::StrCat("install a newer ", open.empty() ? "release" : open,
                       ": docs/how-to/install.md")};
}

}  // namespace frostline::cli::doctor

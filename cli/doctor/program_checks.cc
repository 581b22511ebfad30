// SPDX-License-Identifier: Apache-2.0
//
// The programs beside this one, the libraries they stand on, and how fast the
// trainer multiplies.
#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/plain/json.h"
#include "cli/doctor/check.h"
#include "cli/doctor/known_holes.h"

namespace frostline::cli::doctor {
namespace {

constexpr char kTrainer[] = "frostline-trainer";
constexpr double kSlowShare = 0.5;  // of what the processor should reach

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

std::string TextOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? "" : std::string(value->text);
}

double NumberOf(const JsonValue& root, const char* name) {
  const JsonValue* const value = root.Find(name);
  return value == nullptr ? 0.0 : value->number;
}

Finding JudgeSpeed(const JsonValue& root) {
  constexpr char kAgain[] =
      "run `frostline-trainer --self-check` when the machine is idle; "
      "docs/reference/trainer.md says what slows it";
  const JsonValue* const ok = root.Find("ok");
  if (ok == nullptr || !ok->truth) {
    return {CheckStatus::kCritical,
            "LibTorch multiplies wrongly here: " + TextOf(root, "error"),
            "run `frostline-trainer --self-check`; where it fails again, "
            "install the packages anew"};
  }
  const double fast = NumberOf(root, "fp32_gflops");
  const double hoped = NumberOf(root, "expected_gflops");
  const std::string detail = absl::StrCat(
      "LibTorch ", TextOf(root, "torch"), " on ", TextOf(root, "device"), ", ",
      TextOf(root, "blas"), ", ", TextOf(root, "simd"), ": ", fast,
      " GFLOP/s in fp32",
      hoped > 0 ? absl::StrCat(" of about ", hoped) : std::string());
  if (fast < kSlowShare * hoped) return {CheckStatus::kWarn, detail, kAgain};
  return {CheckStatus::kOk, detail};
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

Finding CheckSpeed(const Patient& patient) {
  const auto& ran = patient.facts.self_check;
  if (absl::IsDeadlineExceeded(ran.status())) {
    return {CheckStatus::kSkipped,
            "frostline-trainer --self-check took longer than the doctor waits",
            "run `frostline-trainer --self-check` by itself"};
  }
  if (!ran.ok()) {
    return {CheckStatus::kSkipped,
            "there is no frostline-trainer beside this program",
            "on a node that trains install the trainer: "
            "docs/how-to/install.md"};
  }
  const auto json = Json::Parse(ran->out);
  if (json.ok()) return JudgeSpeed(json.value().root());
  return {CheckStatus::kCritical,
          absl::StrCat("frostline-trainer does not start: code ", ran->code,
                       " ", ran->err.substr(0, ran->err.find('\n'))),
          "run `frostline-trainer --self-check`, which says why"};
}

Finding CheckGpu(const Patient& patient) {
  const Machine& machine = patient.machine;
  const std::string driver = machine.Read("/proc/driver/nvidia/version");
  const auto& smi = patient.facts.nvidia_smi;
  if (smi.ok() && smi->code == 0 && !smi->out.empty()) {
    std::string gpus(absl::StripAsciiWhitespace(smi->out));
    absl::StrReplaceAll({{"\n", "; "}}, &gpus);
    return {CheckStatus::kOk, gpus};
  }
  if (driver.empty()) {
    return {CheckStatus::kOk, "no NVIDIA GPU; trials run on the processor"};
  }
  return {
      CheckStatus::kWarn,
      absl::StrCat("there is a driver (", driver.substr(0, driver.find('\n')),
                   "), but nvidia-smi does not answer"),
      "run `nvidia-smi`, which says why"};
}

}  // namespace frostline::cli::doctor

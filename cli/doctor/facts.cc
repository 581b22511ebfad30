// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/facts.h"

#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/process/child_process.h"
#include "cli/study_file/study_file.h"

namespace frostline::cli::doctor {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<FolderFacts> LookAt(const std::string& folder) {
  std::error_code error;
  fs::path at = fs::absolute(folder, error).lexically_normal();
  FolderFacts facts;
  facts.is_there = fs::exists(at, error);
  while (!fs::exists(at, error) && at != at.parent_path()) {
    at = at.parent_path();
  }
  facts.nearest = at.string();
  struct statfs found{};
  if (statfs(at.c_str(), &found) != 0) {
    return absl::InternalError(
        absl::StrCat(facts.nearest, ": ", std::strerror(errno)));
  }
  facts.writable = access(at.c_str(), W_OK | X_OK) == 0;
  facts.free_bytes = static_cast<std::int64_t>(found.f_bavail) *
                     static_cast<std::int64_t>(found.f_bsize);
  facts.file_system = static_cast<std::uint64_t>(found.f_type);
  return facts;
}

}  // namespace

std::string Machine::Read(const std::string& path) const {
  std::ifstream file(root + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Machine ThisMachine() {
  Machine machine;
  machine.run = [](const std::vector<std::string>& words, Duration longest) {
    return RunCaptured(words, longest);
  };
  machine.sibling = [](const std::string& name) {
    return SiblingProgram(name);
  };
  machine.look = LookAt;
  return machine;
}

namespace {

constexpr double kMicros = 1e6;

// The smallest possible study. It is validated and never created; the answer
// has the coordinator's time.
constexpr char kClockStudy[] =
    "id: doctor-asks-for-the-time\n"
    "model: {id: none, layers: 1}\n"
    "data: none\n"
    "maximize: accuracy\n"
    "budget: 1\n"
    "sampler: {name: random}\n"
    "space:\n"
    "  modules: {\"layer.*\": [0, 1e-5]}\n";

absl::StatusOr<std::string> VersionOf(const Machine& machine,
                                      const std::string& name) {
  ASSIGN_OR_RETURN(const std::string path, machine.sibling(name));
  ASSIGN_OR_RETURN(const Captured ran,
                   machine.run({path, "--version"}, kProgramLimit));
  if (ran.code != 0) {
    return absl::InternalError(absl::StrCat("it ended with code ", ran.code));
  }
  return std::string(absl::StripAsciiWhitespace(ran.out));
}

absl::StatusOr<Captured> CheckTrainer(const Machine& machine) {
  ASSIGN_OR_RETURN(const std::string path,
                   machine.sibling("frostline-trainer"));
  return machine.run({path, "--self-check"}, kProgramLimit);
}

// Returns whether the caller may validate a study. A viewer may not, and the
// denied call would be in the audit.
bool MayValidate(const v1::Identity& who) {
  return who.role() == v1::ROLE_RESEARCHER || who.role() == v1::ROLE_ADMIN;
}

// Asks for the coordinator's time. It assumes that the way there takes half of
// the round trip.
std::optional<double> AskTime(Client& client, const v1::Identity& who,
                              const Clock& clock) {
  const auto study = ParseStudyFile(kClockStudy, "doctor");
  if (!study.ok() || !MayValidate(who)) return std::nullopt;
  v1::CreateStudyRequest request;
  request.set_study_id(study->id);
  *request.mutable_spec() = study->spec;
  *request.mutable_settings() = study->settings;
  *request.mutable_settings()->mutable_labels() = who.study_labels();
  request.set_validate_only(true);
  const WallMicros before = clock.Wall();
  const auto reply = client.Call(&v1::StudyService::Stub::CreateStudy, request);
  const WallMicros after = clock.Wall();
  if (!reply.ok() || !reply->study().has_create_time()) return std::nullopt;
  const auto& time = reply->study().create_time();
  const double theirs = static_cast<double>(time.seconds()) +
                        static_cast<double>(time.nanos()) / 1e9;
  const double ours = static_cast<double>(before + after) / 2 / kMicros;
  return theirs - ours;
}

CoordinatorFacts AskCoordinator(const absl::StatusOr<Client*>& client,
                                CoordinatorFacts facts, const Clock& clock) {
  facts.reached = client.status();
  if (!client.ok()) return facts;
  Client& at = **client;
  at.LimitCalls(kCallLimit);
  auto who = at.Call(&v1::AdminService::Stub::WhoAmI, v1::WhoAmIRequest());
  facts.reached = who.status();
  if (!who.ok()) return facts;
  facts.who = *std::move(who);
  auto info = at.Call(&v1::AdminService::Stub::GetInfo, v1::GetInfoRequest());
  facts.reached = info.status();
  if (!info.ok()) return facts;
  facts.info = *std::move(info);
  facts.ahead_seconds = AskTime(at, facts.who, clock);
  return facts;
}

}  // namespace

Facts GatherFacts(const Machine& machine, const absl::StatusOr<Client*>& client,
                  CoordinatorFacts coordinator, const Clock& clock) {
  constexpr auto kNow = std::launch::async;
  std::map<std::string, std::future<absl::StatusOr<std::string>>> versions;
  for (const char* const name :
       {"frostline-coordinator", "frostline-worker", "frostline-trainer"}) {
    versions[name] =
        std::async(kNow, VersionOf, std::cref(machine), std::string(name));
  }
  auto self_check = std::async(kNow, CheckTrainer, std::cref(machine));
  auto nvidia_smi = std::async(kNow, [&machine] {
    return machine.run(
        {"nvidia-smi", "--query-gpu=name,memory.total,driver_version",
         "--format=csv,noheader"},
        kProgramLimit);
  });
  Facts facts;
  facts.coordinator = AskCoordinator(client, std::move(coordinator), clock);
  for (auto& [name, version] : versions) {
    facts.versions[name] = version.get();
  }
  facts.self_check = self_check.get();
  facts.nvidia_smi = nvidia_smi.get();
  return facts;
}

}  // namespace frostline::cli::doctor

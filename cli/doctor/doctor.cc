// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor.h"

#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
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
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/commands/registry.h"
#include "cli/context/configuration.h"
#include "cli/process/child_process.h"
#include "cli/study_file/study_file.h"
#include "cli/term/table.h"
#include "cli/view/output.h"

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

namespace {

struct CheckMachine {
  const char* name;
  Finding (*run)(const CheckInput&);
};

constexpr CheckMachine kChecks[] = {
    {"versions", CheckVersions},
    {"libraries", CheckLibraries},
    {"configuration", CheckConfiguration},
    {"processor", CheckProcessor},
    {"memory", CheckMemory},
    {"gpu", CheckGpu},
    {"speed", CheckSpeed},
    {"descriptors", CheckDescriptors},
    {"ports", CheckPorts},
    {"disk", CheckDisk},
    {"file_system", CheckFileSystem},
    {"write_rights", CheckWriteRights},
    {"registry", CheckRegistry},
    {"coordinator", CheckCoordinator},
    {"protocol", CheckProtocol},
    {"clock", CheckClock},
};

constexpr int kStatusWidth = 8;  // "critical"
constexpr int kNameWidth = 13;   // "configuration"
constexpr int kIndent = kStatusWidth + kNameWidth + 4;

const char* StyleOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk:
      return "32";
    case CheckStatus::kWarn:
      return "33";
    case CheckStatus::kCritical:
      return "1;31";
    case CheckStatus::kSkipped:
      break;
  }
  return "2";
}

// Breaks the text on a terminal so that it stays to the right of the names.
std::string Indented(const std::string& text, int width) {
  const int room = width > kIndent + 20 ? width - kIndent : 0;
  std::string wrapped = WrapText(text, room);
  while (!wrapped.empty() && wrapped.back() == '\n') wrapped.pop_back();
  return absl::StrReplaceAll(
      wrapped, {{"\n", absl::StrCat("\n", std::string(kIndent, ' '))}});
}

// Removes control characters from what a library or another machine said.
std::string Clean(const std::string& text) {
  std::string clean = MaskSecrets(text);
  std::replace_if(
      clean.begin(), clean.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return clean;
}

std::string SumOf(const std::vector<NamedFinding>& findings) {
  std::array<int, 4> counts{};
  for (const NamedFinding& one : findings) {
    ++counts.at(static_cast<std::size_t>(one.finding.status));
  }
  return absl::StrFormat("%d ok, %d to look at, %d critical, %d skipped\n",
                         counts[0], counts[1], counts[2], counts[3]);
}

}  // namespace

std::string NameOf(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk:
      return "ok";
    case CheckStatus::kWarn:
      return "warn";
    case CheckStatus::kCritical:
      return "critical";
    case CheckStatus::kSkipped:
      break;
  }
  return "skipped";
}

std::vector<std::string> CheckNames() {
  std::vector<std::string> names;
  for (const CheckMachine& check : kChecks) names.emplace_back(check.name);
  return names;
}

std::vector<NamedFinding> Examine(const CheckInput& input,
                                  const std::vector<std::string>& only) {
  std::vector<NamedFinding> findings;
  for (const CheckMachine& check : kChecks) {
    const bool is_asked = only.empty() || std::find(only.begin(), only.end(),
                                                    check.name) != only.end();
    if (!is_asked) continue;
    Finding finding = check.run(input);
    finding.detail = Clean(finding.detail);
    finding.fix = Clean(finding.fix);
    finding.in_full = Clean(finding.in_full);
    findings.push_back({check.name, finding});
  }
  return findings;
}

bool HasCritical(const std::vector<NamedFinding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const NamedFinding& one) {
                       return one.finding.status == CheckStatus::kCritical;
                     });
}

google::protobuf::Struct MessageOf(const std::vector<NamedFinding>& findings) {
  google::protobuf::Struct message;
  auto& list = *(*message.mutable_fields())["checks"].mutable_list_value();
  for (const NamedFinding& one : findings) {
    auto& fields = *list.add_values()->mutable_struct_value()->mutable_fields();
    fields["name"].set_string_value(one.name);
    fields["status"].set_string_value(NameOf(one.finding.status));
    const std::string& in_full = one.finding.in_full;
    fields["detail"].set_string_value(in_full.empty() ? one.finding.detail
                                                      : in_full);
    fields["fix"].set_string_value(one.finding.fix);
  }
  return message;
}

std::string Render(const std::vector<NamedFinding>& findings,
                   const Terminal& terminal) {
  std::string text;
  for (const NamedFinding& one : findings) {
    const CheckStatus status = one.finding.status;
    const std::string word =
        absl::StrFormat("%-*s", kStatusWidth, NameOf(status));
    absl::StrAppend(&text, Paint(terminal, StyleOf(status), word), "  ",
                    absl::StrFormat("%-*s", kNameWidth, one.name), "  ",
                    Indented(one.finding.detail, terminal.width), "\n");
    if (one.finding.fix.empty()) continue;
    absl::StrAppend(&text, std::string(kIndent, ' '),
                    Indented("fix: " + one.finding.fix, terminal.width), "\n");
  }
  return text + SumOf(findings);
}

}  // namespace frostline::cli::doctor

namespace frostline::cli {
namespace {

struct DoctorArgs {
  doctor::Asked asked;
  std::string data;
  std::vector<std::string> only;
  Output output;
};

std::string FromVariable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string UsualCache() {
  const std::string own = FromVariable("FROSTLINE_CACHE");
  if (!own.empty()) return own;
  const std::string all = FromVariable("XDG_CACHE_HOME");
  if (!all.empty()) return all + "/frostline";
  const std::string home = FromVariable("HOME");
  return home.empty() ? "" : home + "/.cache/frostline";
}

absl::Status CheckOnly(const std::vector<std::string>& only) {
  const auto names = doctor::CheckNames();
  for (const std::string& name : only) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return MakeError(ErrorId::kRequestInvalid,
                     absl::StrCat("there is no check '", name, "'"),
                     Suggest(name, names), "--only");
  }
  return absl::OkStatus();
}

absl::StatusOr<ExitCode> RunDoctor(Session& session, const DoctorArgs& args) {
  RETURN_IF_ERROR(CheckOnly(args.only));
  doctor::Asked asked = args.asked;
  asked.data_is_named = !args.data.empty();
  if (asked.data_is_named) asked.data = args.data;
  asked.version = FROSTLINE_VERSION;
  asked.cache = UsualCache();
  const absl::StatusOr<Client*> client = OpenClient(session);
  doctor::CoordinatorFacts known;
  if (client.ok()) {
    known.target = DescribeTarget(session.target);
    known.address = session.target.connect;
    known.is_named = session.target.why != kNobodyNames;
  }
  const doctor::Machine machine = doctor::ThisMachine();
  const doctor::Facts facts =
      doctor::GatherFacts(machine, client, known, SystemClock());
  const auto findings = doctor::Examine(
      {machine, asked, facts, session.configuration, session.configured},
      args.only);
  const auto text = [&] { return doctor::Render(findings, session.terminal); };
  RETURN_IF_ERROR(
      PrintOne(session.terminal, args.output, doctor::MessageOf(findings), text)
          .status());
  return doctor::HasCritical(findings) ? kExitFailure : kExitOk;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Invocation& invocation) {
  const auto [verb, args] = AddVerb(
      app, "doctor", "What is wrong with this machine, and how to mend it",
      invocation, RunDoctor);
  AddRegistryOption(*verb, args->asked.registry);
  verb->add_option("--data", args->data,
                   "The data folder of `frostline serve`; frost")
      ->type_name("DIR");
  verb->add_option("--port", args->asked.ports,
                   "A port that a coordinator is to have; repeat it")
      ->check(CLI::Range(1, 65535))
      ->expected(1)
      ->type_name("N")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  verb->add_option("--slots", args->asked.slots,
                   "Trials at a time that a worker here is to run")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--only", args->only, "One check alone; repeat it")
      ->expected(1)
      ->type_name("NAME")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddOneFormats(verb, args->output);
}

}  // namespace frostline::cli

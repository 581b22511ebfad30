// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor_command.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/output_flags.h"
#include "cli/commands/registry.h"
#include "cli/doctor/doctor.h"
#include "cli/view/output.h"

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
  RETURN_IF_ERROR(PrintOne(session.terminal, args.output,
                           doctor::MessageOf(findings), text));
  return doctor::HasCritical(findings) ? kExitFailure : kExitOk;
}

}  // namespace

void AddDoctorCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<DoctorArgs>();
  CLI::App* const verb =
      AddVerb(app, "doctor",
              "What is wrong with this machine, and how to mend it", invocation,
              [args](Session& session) { return RunDoctor(session, *args); });
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

// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/stubs/common.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/command_page.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/commands/command.h"

namespace frostline::cli {
namespace {

constexpr char kExitCodes[] =
    "Exit codes, the same for every Frostline program:\n"
    "    0  ok\n"
    "    1  failure\n"
    "    2  usage: a wrong command, option or argument\n"
    "    3  not found\n"
    "    4  not allowed\n"
    "    5  conflict: another state, or somebody was faster\n"
    "    6  timed out\n"
    "    7  the coordinator cannot be reached; trying again may help\n"
    "    8  the study ended without a result\n"
    "   75  preempted: run me again\n"
    "  100  a study file or a registry has mistakes\n"
    "  130  interrupted by Ctrl-C\n";

constexpr char kEnvironment[] =
    "Environment:\n"
    "  FROSTLINE_CONNECT  HOST:PORT of the coordinator, for --connect\n"
    "  FROSTLINE_CONTEXT  a context of `frostline login`, for --context\n"
    "  FROSTLINE_TOKEN_FILE, FROSTLINE_TLS_CA, FROSTLINE_TLS_CERT,\n"
    "  FROSTLINE_TLS_KEY  files, for --token-file, --tls-ca, …\n"
    "  FROSTLINE_REGISTRY DIR of models.yaml and datasets.yaml, for "
    "--registry\n"
    "  XDG_CONFIG_HOME    where contexts and settings are kept; ~/.config\n"
    "                     (`frostline config view` says what holds, and "
    "why)\n"
    "  FROSTLINE_CORE_DUMPS  1: programs may dump core, secrets and all\n"
    "  NO_COLOR           no colours, as --no-color\n";

Flag FlagOf(const CLI::Option& option) {
  Flag flag;
  if (option.get_positional()) {
    flag.name = option.get_required()
                    ? option.get_name(true)
                    : absl::StrCat("[", option.get_name(true), "]");
  } else {
    std::vector<std::string> names;  // "-o, --out"
    for (const std::string& name : option.get_snames()) {
      names.push_back(absl::StrCat("-", name));
    }
    for (const std::string& name : option.get_lnames()) {
      names.push_back(absl::StrCat("--", name));
    }
    flag.name = absl::StrJoin(names, ", ");
  }
  if (option.get_items_expected_max() > 0) flag.value = option.get_type_name();
  flag.help = option.get_description();
  flag.unless_given = option.get_default_str();
  flag.repeats = option.get_items_expected_max() > 1;
  return flag;
}

CommandPage PageOf(const CLI::App& app) {
  CommandPage page;
  page.name = app.get_name();
  page.summary = app.get_description();
  page.footer = app.get_footer();
  for (const CLI::Option* const option : app.get_options()) {
    (option->get_positional() ? page.words : page.flags)
        .push_back(FlagOf(*option));
  }
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    page.commands.push_back(PageOf(*command));
  }
  return page;
}

absl::StatusOr<ExitCode> HelpJson(const CLI::App& app) {
  CommandPage page = PageOf(app);
  page.version = FROSTLINE_VERSION;
  std::cout << CommandJson(page);
  return kExitOk;
}

absl::StatusOr<ExitCode> Help(const CLI::App& app, const std::string& topic) {
  if (topic.empty()) {
    std::cout << app.help();
  } else if (topic == "exit-codes") {
    std::cout << kExitCodes;
  } else if (topic == "environment") {
    std::cout << kEnvironment;
  } else if (const CLI::App* const command = FindCommand(app, topic)) {
    std::cout << command->help();
  } else {
    return MakeError(ErrorId::kRequestInvalid, "no help on " + topic,
                     Suggest(topic, {"exit-codes", "environment", "study",
                                     "trial", "importance", "plan", "compare",
                                     "worker", "registry", "init", "demo"}));
  }
  return kExitOk;
}

absl::StatusOr<ExitCode> Version() {
  std::cout << "frostline " << FROSTLINE_VERSION << " (gRPC " << grpc::Version()
            << ", Protobuf "
            << google::protobuf::internal::VersionString(
                   GOOGLE_PROTOBUF_VERSION)
            << ")\n";
  return kExitOk;
}

}  // namespace

void AddHelpCommands(CLI::App& app, Invocation& invocation) {
  const auto topic = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* const help =
      AddVerb(app, "help", "Help on a command, exit-codes or environment",
              invocation, [&app, topic, json](Session&) {
                return *json ? HelpJson(app) : Help(app, *topic);
              });
  help->add_option("TOPIC", *topic, "A command, exit-codes or environment");
  help->add_flag("--json", *json,
                 "All commands with their flags, as JSON, for programs");
  AddVerb(app, "version", "The versions of this program", invocation,
          [](Session&) { return Version(); });
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/stubs/common.h>

#include <iostream>

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
    "  XDG_CONFIG_HOME    where contexts are kept; ~/.config\n"
    "  FROSTLINE_CORE_DUMPS  1: programs may dump core, secrets and all\n"
    "  NO_COLOR           no colours, as --no-color\n";

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
  AddVerb(app, "help", "Help on a command, exit-codes or environment",
          invocation, [&app, topic](Session&) { return Help(app, *topic); })
      ->add_option("TOPIC", *topic, "A command, exit-codes or environment");
  AddVerb(app, "version", "The versions of this program", invocation,
          [](Session&) { return Version(); });
}

}  // namespace frostline::cli

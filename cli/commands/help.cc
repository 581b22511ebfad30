// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/stubs/common.h>

#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/nearest.h"
#include "cli/commands/command.h"
#include "cli/help/complete.h"
#include "cli/help/examples.h"
#include "cli/help/help_format.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

constexpr std::size_t kMaxHelpWord = 100;

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
  if (option.get_items_expected_max() > 0) {
    flag.value = ShownType(option.get_type_name());
  }
  flag.help = option.get_description();
  flag.unless_given = option.get_default_str();
  flag.repeats = option.get_items_expected_max() > 1;
  return flag;
}

// Returns the text at the end; a page for people begins with the examples.
std::string FooterOf(const CLI::App& app) {
  std::string text;
  for (const std::string& line : ExamplesOf(PathOf(app))) {
    absl::StrAppend(&text, "  ", line, "\n");
  }
  return absl::StrCat(text, app.get_footer());
}

CommandPage HelpPageOf(const CLI::App& app) {
  CommandPage page;
  page.name = app.get_name();
  page.summary = app.get_description();
  page.footer = FooterOf(app);
  for (const CLI::Option* const option : app.get_options()) {
    (option->get_positional() ? page.words : page.flags)
        .push_back(FlagOf(*option));
  }
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    page.commands.push_back(HelpPageOf(*command));
  }
  return page;
}

absl::StatusOr<ExitCode> HelpJson(const CLI::App& app) {
  CommandPage page = HelpPageOf(app);
  page.version = FROSTLINE_VERSION;
  std::cout << CommandJson(page);
  return kExitOk;
}

// Returns the help of `app` itself, whichever of its commands was parsed.
std::string HelpOf(const CLI::App& app) {
  return app.get_formatter()->make_help(&app, "", CLI::AppFormatMode::Normal);
}

absl::Status NoHelpOn(const CLI::App& app, const std::string& topic) {
  std::vector<std::string> known = TopicNames();
  for (const CLI::App* const command : app.get_subcommands(nullptr)) {
    known.push_back(command->get_name());
  }
  return MakeError(ErrorId::kRequestInvalid, "no help on " + topic,
                   Suggest(topic, known));
}

absl::StatusOr<ExitCode> Help(const CLI::App& app,
                              const std::vector<std::string>& words) {
  const std::string topic =
      words.size() == 1 ? TopicText(words.front()) : std::string();
  if (!topic.empty()) {
    std::cout << topic;
    return kExitOk;
  }
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    const CLI::App* const next = FindCommand(*command, word);
    if (next == nullptr) {
      return NoHelpOn(*command, proto::CleanText(word, kMaxHelpWord));
    }
    command = next;
  }
  std::cout << HelpOf(*command);
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
  const auto topic = std::make_shared<std::vector<std::string>>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* const help =
      AddVerb(app, "help", "Help on a command or a topic", invocation,
              [&app, topic, json](Session&) {
                return *json ? HelpJson(app) : Help(app, *topic);
              });
  help->add_option("TOPIC", *topic,
                   "A command, or " + absl::StrJoin(TopicNames(), ", "));
  help->add_flag("--json", *json,
                 "All commands with their flags, as JSON, for programs");
  AddVerb(app, "version", "The versions of this program", invocation,
          [](Session&) { return Version(); });
}

void AddCompletionCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "completion", "Print what makes a shell complete this program's words");
  noun->require_subcommand(1);
  noun->fallthrough();
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    AddVerb(*noun, shell, "The script for " + shell, invocation,
            [shell](Session&) -> absl::StatusOr<ExitCode> {
              std::cout << CompletionScript(shell);
              return kExitOk;
            });
  }
}

}  // namespace frostline::cli

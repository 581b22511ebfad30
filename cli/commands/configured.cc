// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/configured.h"

#include "cli/term/output_file.h"

namespace frostline::cli {
namespace {

bool IsGiven(CLI::App& verb, const std::string& flag) {
  const CLI::Option* const option = verb.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

void SetFormat(CLI::App& verb, const std::string& format) {
  CLI::Option* const option = verb.get_option_no_throw("--format");
  if (option == nullptr || IsGiven(verb, "--format") ||
      IsGiven(verb, "--json") || IsGiven(verb, "--wide")) {
    return;
  }
  // What somebody types says more than what they once set: `-o all.csv`.
  CLI::Option* const output = verb.get_option_no_throw("--output");
  if (output != nullptr && output->count() > 0 &&
      !FormatOfEnding(output->as<std::string>()).empty()) {
    return;
  }
  // CLI11 throws where the verb has no such format; it ends here.
  try {
    option->add_result(format);
    option->run_callback();
  } catch (const CLI::Error&) {
    option->clear();
  }
}

// The innermost command that was reached; null when none was.
CLI::App* Reached(const CLI::App& app) {
  CLI::App* verb = nullptr;
  auto chosen = app.get_subcommands();
  while (!chosen.empty()) {
    verb = chosen.front();
    chosen = verb->get_subcommands();
  }
  return verb;
}

}  // namespace

void ApplyConfiguration(const CLI::App& app, Session& session) {
  const ConfigValue* const color = session.configuration.Find("color");
  if (color != nullptr && color->text == "never") {
    session.terminal.color = false;
  }
  const auto format =
      ConfiguredFormat(session.configuration, session.terminal.out_is_tty);
  CLI::App* const verb = Reached(app);
  if (format.has_value() && verb != nullptr) SetFormat(*verb, *format);
}

}  // namespace frostline::cli

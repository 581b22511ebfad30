// SPDX-License-Identifier: Apache-2.0
#include "cli/hidden_words.h"

#include <iostream>

#include "cli/command_line.h"
#include "cli/commands/command.h"
#include "cli/help/complete.h"

namespace frostline::cli {
namespace {

constexpr char kComplete[] = "__complete";
constexpr char kParse[] = "__parse";

ExitCode CompleteWords(const CLI::App& app,
                       const std::vector<std::string>& words) {
  // A user who has typed only `worker` may still mean `worker list`.
  std::vector<std::string> done = words;
  if (!done.empty()) done.pop_back();
  const auto other = OtherProgram(done);
  Complete(app, words, other.has_value() ? other->name : "", std::cout);
  return kExitOk;
}

ExitCode ParseWords(CLI::App& app, const std::vector<std::string>& words) {
  const auto parsed = ParseCommandLine(app, words);
  if (parsed.ok()) return kExitOk;
  std::cerr << ErrorText(parsed.status()) << "\n";
  return ExitCodeOf(parsed.status());
}

}  // namespace

std::optional<ExitCode> AnswerScript(
    CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.size() < 2 || arguments[1] != "--") return std::nullopt;
  const std::vector<std::string> words(arguments.begin() + 2, arguments.end());
  if (arguments[0] == kComplete) return CompleteWords(app, words);
  if (arguments[0] == kParse) return ParseWords(app, words);
  return std::nullopt;
}

}  // namespace frostline::cli

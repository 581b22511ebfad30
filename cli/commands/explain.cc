// SPDX-License-Identifier: Apache-2.0
//
// `frostline explain`: what a field of a study file or of an answer means, and
// what an error means.
#include "cli/contract/explain.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands/command.h"

namespace frostline::cli {
namespace {

// Longer lines are hard to read, on a wide terminal too.
constexpr int kWidestExplanation = 100;
constexpr int kOffTerminal = 80;

struct ExplainArgs {
  std::string path;
  bool recursive = false;
};

absl::StatusOr<ExitCode> ExplainWord(const Session& session,
                                     const ExplainArgs& args) {
  const int terminal = session.terminal.width;
  const int width =
      terminal == 0 ? kOffTerminal : std::min(terminal, kWidestExplanation);
  if (args.path == "exit-codes") {
    return MakeError(ErrorId::kRequestInvalid,
                     "exit codes are no part of the contract",
                     "`frostline help exit-codes` lists them", "PATH");
  }
  const bool is_error = IsErrorId(args.path);
  ASSIGN_OR_RETURN(const std::string text,
                   is_error         ? ExplainError(args.path, width)
                   : args.recursive ? ExplainTree(args.path)
                                    : ExplainPath(args.path, width));
  std::cout << text;
  return kExitOk;
}

}  // namespace

void AddExplainCommand(CLI::App& app, Invocation& invocation) {
  const auto args = std::make_shared<ExplainArgs>();
  CLI::App* const verb = AddVerb(
      app, "explain", "What a field, or an error's id, means", invocation,
      [args](Session& session) { return ExplainWord(session, *args); });
  verb->add_option(
          "PATH", args->path,
          "space.modules, study.space.levels, StudySettings.budget, FL-2001")
      ->required();
  verb->add_flag("--recursive", args->recursive,
                 "The names of all that is below, as a tree");
  verb->footer("Steps in the middle of a path may be left out.");
}

}  // namespace frostline::cli

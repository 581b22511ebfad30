// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <string>

#include "cli/commands/command.h"
#include "cli/help/complete.h"

namespace frostline::cli {

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

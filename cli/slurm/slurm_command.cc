// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm_command.h"

namespace frostline::cli {

void AddSlurmCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      app.add_subcommand("slurm", "Workers as tasks of a Slurm array");
  noun->require_subcommand(1)->fallthrough();
  AddSlurmUp(*noun, invocation);
  AddSlurmScale(*noun, invocation);
  AddSlurmDrain(*noun, invocation);
  AddSlurmStatus(*noun, invocation);
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command.h"
#include "cli/demo/demo.h"

namespace frostline::cli {

void AddDemoCommand(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<DemoOptions>();
  CLI::App* const verb =
      AddVerb(app, "demo", "A whole search on this machine, in a few minutes",
              invocation, [options](Session& session) {
                return RunDemo(*options, session.terminal);
              });
  verb->add_option("--trials", options->trials,
                   "How many trials [36; synthetic 40]")
      ->check(CLI::Range(1, 10'000));
  verb->add_option("--workers", options->workers, "How many workers")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  verb->add_option("--dir", options->folder,
                   "Keep the database and the logs in this folder");
  verb->add_option("--model", options->model,
                   "The folder of MiniLM [the one of ./dev setup]");
  verb->add_flag("--synthetic", options->synthetic,
                 "A small network on made-up numbers: seconds, no model");
  verb->add_flag("--example", options->example,
                 "Leave a finished study of 200 recorded trials, too");
  verb->add_flag("--keep", options->keep,
                 "Do not remove the temporary folder at the end");
}

}  // namespace frostline::cli

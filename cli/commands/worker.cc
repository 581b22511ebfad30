// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/error.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline {
namespace {

constexpr int kPageSize = 500;

absl::StatusOr<ExitCode> List(Session& session, bool json) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::ListWorkersRequest request;
  request.set_page_size(kPageSize);
  v1::ListWorkersReply all;
  do {
    ASSIGN_OR_RETURN(
        const v1::ListWorkersReply page,
        client->Call(&v1::WorkerService::Stub::ListWorkers, request));
    all.MergeFrom(page);
    all.clear_next_page_token();
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  if (json) {
    std::cout << ToJson(all);
  } else if (all.workers().empty()) {
    std::cerr << "no workers; start one with `frostline worker --connect "
              << session.connect << " --exec CMD`\n";
  } else {
    std::cout << RenderWorkerTable({all.workers().begin(), all.workers().end()},
                                   session.terminal.width);
  }
  return kExitOk;
}

// Reached only when something stands before `serve` (command_line.h).
absl::StatusOr<ExitCode> Misplaced(const std::string& name) {
  return MakeError(ErrorId::kRequestInvalid,
                   name + " is another program, which takes all options itself",
                   "write it first: frostline " + name + " --help");
}

}  // namespace

void AddServeCommand(CLI::App& app, Invocation& invocation) {
  AddVerb(app, "serve", "Run a coordinator here (frostline-coordinator)",
          invocation, [](Session&) { return Misplaced("serve"); });
}

void AddWorkerCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun = app.add_subcommand(
      "worker",
      "Run a worker here (frostline-worker); `worker list` lists them");
  noun->require_subcommand(1)->fallthrough();
  const auto json = std::make_shared<bool>(false);
  AddVerb(*noun, "list", "List the workers the coordinator knows", invocation,
          [json](Session& session) { return List(session, *json); })
      ->add_flag("--json", *json, "As JSON: {\"workers\": […]}");
}

}  // namespace frostline

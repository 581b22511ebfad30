// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/error.h"
#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
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

absl::StatusOr<ExitCode> DrainOne(Session& session, const std::string& id,
                                  bool undo) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::DrainWorkerRequest request;
  request.set_request_id(NewRequestId(SystemClock()));
  request.set_worker(id.starts_with("workers/") ? id : WorkerNameOf(id));
  request.set_undo(undo);
  ASSIGN_OR_RETURN(
      const v1::Worker worker,
      client->Call(&v1::WorkerService::Stub::DrainWorker, request));
  std::cout << worker.name() << (undo ? " works again" : " is drained")
            << "; it holds " << worker.trials_size() << " trials\n";
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
  CLI::App* const noun =
      app.add_subcommand("worker",
                         "Run a worker here (frostline-worker); `worker list` "
                         "and `drain` are about all");
  noun->require_subcommand(1)->fallthrough();
  const auto json = std::make_shared<bool>(false);
  AddVerb(*noun, "list", "List the workers the coordinator knows", invocation,
          [json](Session& session) { return List(session, *json); })
      ->add_flag("--json", *json, "As JSON: {\"workers\": […]}");
  const auto id = std::make_shared<std::string>();
  const auto undo = std::make_shared<bool>(false);
  CLI::App* const drain = AddVerb(
      *noun, "drain", "No new trials for a worker; it hands back what it holds",
      invocation,
      [id, undo](Session& session) { return DrainOne(session, *id, *undo); });
  drain->add_option("WORKER", *id, "The worker's id")->required();
  drain->add_flag("--undo", *undo,
                  "Let it work again, also after a quarantine");
}

}  // namespace frostline::cli

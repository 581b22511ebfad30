// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "base/error.h"
#include "base/ids.h"
#include "base/request_id.h"
#include "base/status_macros.h"
#include "cli/commands/command.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

struct ListArgs {
  bool wide = false;
  bool json = false;
};

absl::StatusOr<ExitCode> List(Session& session, const ListArgs& args) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply all, FetchWorkers(*client));
  const std::vector<v1::Worker> workers(all.workers().begin(),
                                        all.workers().end());
  if (args.json) {
    std::cout << ToJson(all);
  } else if (all.workers().empty()) {
    std::cerr << "no workers; start one with `frostline worker --connect "
              << client->address() << " --exec CMD`\n";
  } else if (args.wide) {
    std::cout << RenderStockTable(workers, session.terminal.width);
  } else {
    std::cout << RenderWorkerTable(workers, session.terminal.width);
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
                         "Run a worker here (frostline-worker); `worker list`, "
                         "`drain`, `invite` and `revoke` are about all");
  noun->require_subcommand(1)->fallthrough();
  const auto args = std::make_shared<ListArgs>();
  CLI::App* const list = AddVerb(
      *noun, "list", "List the workers the coordinator knows", invocation,
      [args](Session& session) { return List(session, *args); });
  list->add_flag("--wide", args->wide,
                 "Which models and data sets each has, and its machine");
  list->add_flag("--json", args->json, "As JSON: {\"workers\": […]}");
  const auto id = std::make_shared<std::string>();
  const auto undo = std::make_shared<bool>(false);
  CLI::App* const drain = AddVerb(
      *noun, "drain", "No new trials for a worker; it hands back what it holds",
      invocation,
      [id, undo](Session& session) { return DrainOne(session, *id, *undo); });
  drain->add_option("WORKER", *id, "The worker's id")->required();
  drain->add_flag("--undo", *undo,
                  "Let it work again, also after a quarantine");
  AddWorkerAccess(*noun, invocation);
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/commands/command.h"
#include "cli/commands/output_flags.h"
#include "cli/view/format.h"
#include "cli/view/registry_view.h"
#include "cli/view/study_view.h"

namespace frostline::cli {
namespace {

absl::StatusOr<ExitCode> ListWorkers(Session& session, const Output& output) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply all, FetchWorkers(*client));
  const std::vector<v1::Worker> workers(all.workers().begin(),
                                        all.workers().end());
  RETURN_IF_ERROR(PrintList(
      session.terminal, output, all,
      [&workers](bool wide) {
        return wide ? StockTable(workers) : WorkerTable(workers);
      },
      absl::StrCat("no workers; start one with `frostline worker --connect ",
                   client->address(), " --exec CMD`")));
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
  const auto output = std::make_shared<Output>();
  CLI::App* const list = AddVerb(
      *noun, "list", "List the workers the coordinator knows", invocation,
      [output](Session& session) { return ListWorkers(session, *output); });
  AddListFormats(list, *output);
  AddWide(list, *output,
          "Which models and data sets each has, and its machine");
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

// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm status`: what Slurm knows of a fleet beside what the
// coordinator knows of it.
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/commands/output_flags.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/fleet_view.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"

namespace frostline::cli {
namespace {

struct SlurmStatusArgs {
  FleetOf fleet;
  Output output;
};

absl::StatusOr<ExitCode> Status(Session& session, SlurmStatusArgs args) {
  RETURN_IF_ERROR(CheckFleetOf(&args.fleet));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  FleetFacts facts;
  facts.job_name = JobNameOf(args.fleet);
  ASSIGN_OR_RETURN(facts.cluster, slurm.ClusterName());
  ASSIGN_OR_RETURN(facts.tasks, slurm.Look(facts.job_name));
  ASSIGN_OR_RETURN(const v1::ListWorkersReply workers, FetchWorkers(*client));
  facts.workers = {workers.workers().begin(), workers.workers().end()};
  RETURN_IF_ERROR(
      PrintOneJson(session.terminal, args.output, FleetJson(facts),
                   [&] { return RenderFleet(facts, session.terminal.width); }));
  return kExitOk;
}

}  // namespace

void AddSlurmStatus(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<SlurmStatusArgs>();
  CLI::App* const status = AddVerb(
      noun, "status", "The fleet's jobs beside the coordinator's workers",
      invocation, [args](Session& session) { return Status(session, *args); });
  AddFleetOf(status, &args->fleet);
  AddOneFormats(status, args->output);
}

}  // namespace frostline::cli

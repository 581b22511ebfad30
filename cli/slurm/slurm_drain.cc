// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm drain`: a fleet's workers finish their trials and go.
#include <algorithm>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "cli/process/stop_signals.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/invitations.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"

namespace frostline::cli {
namespace {

constexpr Duration kDrainLook = std::chrono::seconds(2);

struct DrainArgs {
  FleetOf fleet;
  std::string wait = "0s";
};

// Those that wait never begin; those that run get no new trial, and end with 0
// after theirs. One whose worker has not begun yet hears nothing, so it is told
// again.
absl::StatusOr<std::vector<ArrayTask>> DrainOnce(const Slurm& slurm,
                                                 const FleetOf& fleet) {
  ASSIGN_OR_RETURN(std::vector<ArrayTask> tasks, slurm.Look(JobNameOf(fleet)));
  std::set<std::int64_t> waiting;
  std::set<std::int64_t> running;
  for (const ArrayTask& task : tasks) {
    if (task.waits()) waiting.insert(task.array);
    if (task.runs()) running.insert(task.array);
  }
  for (const std::int64_t array : waiting) {
    RETURN_IF_ERROR(slurm.CancelWaiting(array));
  }
  for (const std::int64_t array : running) {
    RETURN_IF_ERROR(slurm.SignalRunning(array, "USR2"));
  }
  return tasks;
}

// The workers of those tasks of `before` that waited and are gone. Where this
// cannot be seen, none is.
std::set<std::string> WhoNeverBegins(const Slurm& slurm, const FleetOf& fleet,
                                     const std::vector<ArrayTask>& before) {
  std::set<std::string> workers;
  for (const ArrayTask& task : before) {
    if (task.waits()) workers.insert(InvitedWorker(task));
  }
  const auto now = slurm.Look(JobNameOf(fleet));
  if (!now.ok()) {
    std::cerr << "which invitations nobody will use is not known: "
              << now.status().message() << "\n";
    return {};
  }
  for (const ArrayTask& task : *now) workers.erase(InvitedWorker(task));
  workers.erase("");
  return workers;
}

absl::StatusOr<ExitCode> Drain(Session& session, DrainArgs args) {
  RETURN_IF_ERROR(CheckFleetOf(&args.fleet));
  ASSIGN_OR_RETURN(const Duration wait,
                   ReadTime("--wait", args.wait, Duration::zero(),
                            std::chrono::hours(24 * 100)));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  StopSignals signals;
  ASSIGN_OR_RETURN(std::vector<ArrayTask> tasks, DrainOnce(slurm, args.fleet));
  if (tasks.empty()) return NoFleet(args.fleet);
  const auto waiting = std::count_if(
      tasks.begin(), tasks.end(), [](const ArrayTask& t) { return t.waits(); });
  std::cout << JobNameOf(args.fleet) << ": " << waiting
            << " that waited are cancelled, "
            << static_cast<std::int64_t>(tasks.size()) - waiting
            << " finish their trial and go\n"
            << std::flush;
  EndInvitations(session, WhoNeverBegins(slurm, args.fleet, tasks));
  const SystemClock clock;
  const SteadyTime end = clock.Steady() + wait;
  while (!tasks.empty() && wait > Duration::zero()) {
    if (clock.Steady() >= end) {
      return MakeError(ErrorId::kDeadlinePassed,
                       absl::StrCat(tasks.size(), " workers still train"),
                       "wait for longer; `scancel` makes them write a "
                       "checkpoint and hand their trials back");
    }
    RETURN_IF_ERROR(signals.Pause(kDrainLook));
    ASSIGN_OR_RETURN(tasks, DrainOnce(slurm, args.fleet));
  }
  return kExitOk;
}

}  // namespace

void AddSlurmDrain(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<DrainArgs>();
  CLI::App* const drain = AddVerb(
      noun, "drain", "No new trials: workers finish theirs and go", invocation,
      [args](Session& session) { return Drain(session, *args); });
  AddFleetOf(drain, &args->fleet);
  drain
      ->add_option("--wait", args->wait, "Until all have gone, at most so long")
      ->type_name("TIME")
      ->capture_default_str();
}

}  // namespace frostline::cli

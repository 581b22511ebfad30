// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm scale`: how many workers of a fleet run.
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "cli/process/stop_signals.h"
#include "cli/slurm/demand.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/fleet_view.h"
#include "cli/slurm/invitations.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr int kMostScaledTasks = 10'000;
constexpr Duration kShortestPause = std::chrono::seconds(1);
constexpr Duration kLongestScalePause = std::chrono::hours(1);

struct ScaleArgs {
  FleetOf fleet;
  int max = kMostScaledTasks;
  bool follow = false;
  std::string every = "30s";
  bool json = false;
};

struct Scaled {
  int wish = 0;
  int most = 0;
  int running = 0;
  int waiting = 0;
  Demand demand;
  std::set<std::string> invited;  // workers
};

absl::StatusOr<int> TaskSlotsOf(Client& client, const Slurm& slurm,
                                const std::vector<ArrayTask>& tasks) {
  FleetFacts facts;
  facts.tasks = tasks;
  ASSIGN_OR_RETURN(facts.cluster, slurm.ClusterName());
  ASSIGN_OR_RETURN(const v1::ListWorkersReply workers, FetchWorkers(client));
  facts.workers = {workers.workers().begin(), workers.workers().end()};
  return SlotsOfFleet(facts);
}

// A throttle of 0 is none at all for Slurm, so nobody is let in by a hold.
absl::Status ApplyScale(const Slurm& slurm, std::int64_t array, bool is_held,
                        int wish) {
  if (wish == 0) return is_held ? absl::OkStatus() : slurm.Hold(array);
  RETURN_IF_ERROR(slurm.Throttle(array, wish));
  return is_held ? slurm.Release(array) : absl::OkStatus();
}

absl::StatusOr<Scaled> ScaleOnce(Client& client, const Slurm& slurm,
                                 const ScaleArgs& args) {
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies,
                   FetchStudiesOf(client, args.fleet));
  ASSIGN_OR_RETURN(const std::vector<ArrayTask> tasks,
                   slurm.Look(JobNameOf(args.fleet)));
  if (tasks.empty()) return NoFleet(args.fleet);
  ASSIGN_OR_RETURN(const int slots, TaskSlotsOf(client, slurm, tasks));
  Scaled scaled;
  std::set<std::int64_t> waiting;
  std::set<std::int64_t> held;
  for (const ArrayTask& task : tasks) {
    scaled.waiting += task.waits() ? 1 : 0;
    scaled.running += task.waits() ? 0 : 1;
    if (task.waits()) waiting.insert(task.array);
    if (task.waits() && task.is_held()) held.insert(task.array);
    scaled.invited.insert(InvitedWorker(task));
  }
  scaled.invited.erase("");
  scaled.most = std::min(args.max, static_cast<int>(tasks.size()));
  scaled.demand = DemandOf(studies);
  scaled.wish = WorkersFor(scaled.demand, slots, scaled.most);
  // What runs cannot be throttled; Slurm refuses an array without a task that
  // waits.
  for (const std::int64_t array : waiting) {
    RETURN_IF_ERROR(
        ApplyScale(slurm, array, held.contains(array), scaled.wish));
  }
  return scaled;
}

void ShowScale(const Scaled& scaled, const ScaleArgs& args) {
  if (!args.json) {
    std::cout << JobNameOf(args.fleet) << ": "
              << DescribeWish(scaled.demand, scaled.wish, scaled.most) << "; "
              << scaled.running << " run, " << scaled.waiting << " wait"
              << std::endl;  // NOLINT(performance-avoid-endl): it is followed
    return;
  }
  google::protobuf::Struct fields;
  auto& map = *fields.mutable_fields();
  map["job_name"].set_string_value(JobNameOf(args.fleet));
  map["at_a_time"].set_number_value(scaled.wish);
  map["max"].set_number_value(scaled.most);
  map["trials_left"].set_number_value(static_cast<double>(scaled.demand.left));
  map["useful"].set_number_value(static_cast<double>(scaled.demand.usable));
  map["running"].set_number_value(scaled.running);
  map["waiting"].set_number_value(scaled.waiting);
  std::cout << ToJson(fields) << std::flush;
}

// A coordinator that is away for a while, or a controller that is busy, changes
// nothing: the array goes on as it was set. Tasks that somebody cancelled leave
// invitations behind, which end with the last of them.
absl::StatusOr<ExitCode> FollowScale(Session& session, Client& client,
                                     const Slurm& slurm, const ScaleArgs& args,
                                     Duration every) {
  StopSignals signals;
  std::set<std::string> invited;
  while (true) {
    auto scaled = ScaleOnce(client, slurm, args);
    if (scaled.ok()) {
      ShowScale(*scaled, args);
      invited.merge(scaled->invited);
    } else {
      ASSIGN_OR_RETURN(const auto tasks, slurm.Look(JobNameOf(args.fleet)));
      if (tasks.empty()) {
        EndInvitations(session, invited);
        return kExitOk;
      }
      std::cerr << scaled.status().message() << "\n";
    }
    RETURN_IF_ERROR(signals.Pause(every));
  }
}

absl::StatusOr<ExitCode> Scale(Session& session, ScaleArgs args) {
  RETURN_IF_ERROR(CheckFleetOf(&args.fleet));
  ASSIGN_OR_RETURN(
      const Duration every,
      ReadTime("--every", args.every, kShortestPause, kLongestScalePause));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const Scaled scaled, ScaleOnce(*client, slurm, args));
  if (args.follow) return FollowScale(session, *client, slurm, args, every);
  ShowScale(scaled, args);
  return kExitOk;
}

}  // namespace

void AddSlurmScale(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<ScaleArgs>();
  CLI::App* const scale = AddVerb(
      noun, "scale", "Let as many of the array run as the studies can use",
      invocation, [args](Session& session) { return Scale(session, *args); });
  AddFleetOf(scale, &args->fleet);
  scale->add_option("--max", args->max, "Never more; 0: nothing more begins")
      ->check(CLI::Range(0, kMostScaledTasks));
  scale->add_flag("--follow", args->follow,
                  "Again and again, until it is gone");
  scale->add_option("--every", args->every, "The time between two looks")
      ->type_name("TIME")
      ->capture_default_str();
  scale->add_flag("--json", args->json, "As JSON");
}

}  // namespace frostline::cli

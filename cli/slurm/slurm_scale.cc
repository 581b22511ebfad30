// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm scale` and `drain`: how many workers of a fleet run.
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/status_macros.h"
#include "cli/process/stop_signals.h"
#include "cli/slurm/demand.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr int kMostTasks = 10'000;
constexpr Duration kShortestPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::hours(1);
constexpr Duration kDrainLook = std::chrono::seconds(2);

struct ScaleArgs {
  FleetOf fleet;
  int max = kMostTasks;
  bool follow = false;
  std::string every = "30s";
  bool json = false;
};

struct DrainArgs {
  FleetOf fleet;
  std::string wait = "0s";
};

struct Scaled {
  int wish = 0;
  int most = 0;
  int running = 0;
  int waiting = 0;
  Demand demand;
};

absl::Status NoFleet(const FleetOf& fleet) {
  return MakeError(ErrorId::kSlurmRefused,
                   absl::StrCat("no task of ", JobNameOf(fleet),
                                " waits or runs on this cluster"),
                   "`frostline slurm up` submits them; what ended says why in "
                   "its log");
}

std::set<std::int64_t> ArraysOf(const std::vector<ArrayTask>& tasks) {
  std::set<std::int64_t> arrays;
  for (const ArrayTask& task : tasks) arrays.insert(task.array);
  return arrays;
}

// Of a fleet's workers, as they registered: the trials at a time of each.
absl::StatusOr<int> SlotsOf(Client& client,
                            const std::vector<ArrayTask>& tasks) {
  ASSIGN_OR_RETURN(const v1::ListWorkersReply workers, FetchWorkers(client));
  const std::set<std::int64_t> arrays = ArraysOf(tasks);
  int slots = 1;
  for (const v1::Worker& worker : workers.workers()) {
    const auto job = worker.labels().find("slurm_job");
    if (job == worker.labels().end()) continue;
    const bool is_ours =
        std::any_of(arrays.begin(), arrays.end(), [&job](std::int64_t array) {
          return job->second == absl::StrCat(array);
        });
    if (is_ours) slots = std::max(slots, worker.slots());
  }
  return slots;
}

// A throttle of 0 is none at all for Slurm, so nobody is let in by a hold.
absl::Status Apply(const Slurm& slurm, std::int64_t array, bool is_held,
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
  ASSIGN_OR_RETURN(const int slots, SlotsOf(client, tasks));
  Scaled scaled;
  std::set<std::int64_t> waiting;
  std::set<std::int64_t> held;
  for (const ArrayTask& task : tasks) {
    scaled.waiting += task.waits() ? 1 : 0;
    scaled.running += task.waits() ? 0 : 1;
    if (task.waits()) waiting.insert(task.array);
    if (task.waits() && task.is_held()) held.insert(task.array);
  }
  scaled.most = std::min(args.max, static_cast<int>(tasks.size()));
  scaled.demand = DemandOf(studies);
  scaled.wish = WorkersFor(scaled.demand, slots, scaled.most);
  // What runs cannot be throttled; Slurm refuses an array without a task that
  // waits.
  for (const std::int64_t array : waiting) {
    RETURN_IF_ERROR(Apply(slurm, array, held.contains(array), scaled.wish));
  }
  return scaled;
}

void Show(const Scaled& scaled, const ScaleArgs& args) {
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
// nothing: the array goes on as it was set.
absl::StatusOr<ExitCode> Follow(Client& client, const Slurm& slurm,
                                const ScaleArgs& args, Duration every) {
  StopSignals signals;
  while (true) {
    const auto scaled = ScaleOnce(client, slurm, args);
    if (scaled.ok()) {
      Show(*scaled, args);
    } else {
      ASSIGN_OR_RETURN(const auto tasks, slurm.Look(JobNameOf(args.fleet)));
      if (tasks.empty()) return kExitOk;  // all have ended
      std::cerr << scaled.status().message() << "\n";
    }
    RETURN_IF_ERROR(signals.Pause(every));
  }
}

absl::StatusOr<ExitCode> Scale(Session& session, ScaleArgs args) {
  RETURN_IF_ERROR(CheckFleetOf(&args.fleet));
  ASSIGN_OR_RETURN(
      const Duration every,
      ReadTime("--every", args.every, kShortestPause, kLongestPause));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const Scaled scaled, ScaleOnce(*client, slurm, args));
  if (args.follow) return Follow(*client, slurm, args, every);
  Show(scaled, args);
  return kExitOk;
}

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

absl::StatusOr<ExitCode> Drain(Session&, DrainArgs args) {
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

void AddSlurmScale(CLI::App& noun, Invocation& invocation) {
  const auto args = std::make_shared<ScaleArgs>();
  CLI::App* const scale = AddVerb(
      noun, "scale", "Let as many of the array run as the studies can use",
      invocation, [args](Session& session) { return Scale(session, *args); });
  AddFleetOf(scale, &args->fleet);
  scale->add_option("--max", args->max, "Never more; 0: nothing more begins")
      ->check(CLI::Range(0, kMostTasks));
  scale->add_flag("--follow", args->follow,
                  "Again and again, until it is gone");
  scale->add_option("--every", args->every, "The time between two looks")
      ->type_name("TIME")
      ->capture_default_str();
  scale->add_flag("--json", args->json, "As JSON");
}

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

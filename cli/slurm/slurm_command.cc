// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/slurm_command.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/flags.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/slurm.h"
#include "cli/view/format.h"

namespace frostline::cli {

void AddSlurmCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* const noun =
      AddNoun(app, "slurm", "Workers as tasks of a Slurm array");
  AddSlurmUp(*noun, invocation);
  AddSlurmScale(*noun, invocation);
  AddSlurmDrain(*noun, invocation);
  AddSlurmStatus(*noun, invocation);
}

// `frostline slurm up`: a new array of workers.

namespace {

constexpr int kMostStartedTasks = 10'000;
constexpr int kMostGpusOfSlot = 64;

std::string CommandLine(const ArraySpec& array) {
  return absl::StrJoin(SubmitWords(array), " ",
                       [](std::string* out, const std::string& word) {
                         out->append(ShellWord(word));
                       });
}

std::string SlurmUpJsonOf(const FleetPlan& plan, std::int64_t array,
                          const UpArgs& args) {
  google::protobuf::Struct fields;
  auto& map = *fields.mutable_fields();
  map["fleet"].set_string_value(plan.id);
  map["job_name"].set_string_value(plan.array.name);
  map["folder"].set_string_value(plan.array.folder);
  map["tasks"].set_number_value(plan.array.tasks);
  map["at_a_time"].set_number_value(plan.array.at_a_time);
  if (args.dry_run) {
    map["command"].set_string_value(CommandLine(plan.array));
  } else {
    map["array"].set_number_value(static_cast<double>(array));
  }
  return ToJson(fields);
}

absl::StatusOr<ExitCode> Up(Session& session, UpArgs args) {
  RETURN_IF_ERROR(CheckUpArgs(&args));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(FleetPlan plan, PlanFleet(*client, slurm, args));
  const std::string wish =
      DescribeWish(plan.demand, plan.array.at_a_time, args.max);
  if (args.dry_run) {
    std::cout << (args.json ? SlurmUpJsonOf(plan, 0, args)
                            : CommandLine(plan.array) + "\n");
    if (!args.json) std::cerr << "nothing was submitted; " << wish << "\n";
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const std::int64_t array,
                   SubmitFleet(*client, slurm, args, &plan));
  if (args.json) {
    std::cout << SlurmUpJsonOf(plan, array, args);
    return kExitOk;
  }
  std::cout << plan.array.name << ": array " << array << " of "
            << plan.array.tasks << " workers, " << wish << "\n";
  std::cerr << "logs: " << plan.array.folder << "/log\n";
  if (plan.connects_directly) {
    std::cerr << "they connect to " << client->address()
              << ", which only jobs on this machine can reach\n";
  }
  return kExitOk;
}

// The flags of `frostline worker --command`, which each worker gets as they
// are.
void AddCommandOptions(CLI::App* up, UpArgs* args) {
  up->add_option("--command", args->command,
                 "Any command as a trainer, unedited")
      ->type_name("CMD");
  const auto pass = [up, args](const std::string& flag, const char* help,
                               const char* type) {
    up->add_option_function<std::vector<std::string>>(
          flag,
          [args, flag](const std::vector<std::string>& values) {
            for (const std::string& value : values) {
              args->command_flags.push_back(absl::StrCat(flag, "=", value));
            }
          },
          help)
        ->type_name(type)
        ->allow_extra_args(false);
  };
  pass("--metrics", "Where its metrics are; repeats", "KIND:WHAT");
  pass("--rename", "What the study calls a metric; repeats", "OLD=NEW");
  pass("--config", "A YAML or JSON file; {config} is a copy with --set applied",
       "FILE");
  pass("--set", "A value in it; repeats", "PATH={NAME}");
  up->add_flag_callback(
      "--in-folder",
      [args] { args->command_flags.emplace_back("--in-folder"); },
      "Run it in the trial's own folder");
}

void AddOptions(CLI::App* up, UpArgs* args) {
  const auto text = [up](const char* flag, std::string* value, const char* help,
                         const char* type) {
    return up->add_option(flag, *value, help)->type_name(type);
  };
  AddFleetOf(up, &args->fleet);
  up->add_option("--max", args->max, "So many workers, never more at a time")
      ->check(CLI::Range(1, kMostStartedTasks))
      ->capture_default_str();
  text("--partition", &args->partition, "Else the cluster's default", "P");
  text("--gres", &args->gres, "What a worker gets; none: no GPU", "GRES")
      ->capture_default_str();
  text("--slots", &args->slots, "Trials at a time of a worker, or gpu", "N")
      ->capture_default_str();
  text("--registry", &args->registry, "The nodes' models and data", "DIR");
  text("--exec", &args->exec, "Another trainer, as `frostline worker`", "CMD");
  AddCommandOptions(up, args);
  up->add_option("--gpus-per-slot", args->gpus_per_slot, "GPUs of one trial")
      ->check(CLI::Range(1, kMostGpusOfSlot))
      ->capture_default_str();
  up->add_flag("--fresh-process", args->fresh_process,
               "Another trainer for each trial");
  up->add_option("--label", args->labels, "What studies may ask for; repeats")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  text("--run-dir", &args->run_dir, "On storage that all nodes share", "DIR")
      ->capture_default_str();
  text("--idle-timeout", &args->idle,
       "A worker without a trial for so long goes", "TIME")
      ->capture_default_str();
  text("--program", &args->program,
       "frostline-worker as the nodes see it; else the one beside this",
       "FILE");
  text("--dir", &args->folder, "Holds scripts, invitations and logs", "DIR")
      ->capture_default_str();
  text("--id", &args->id, "Its workers are ID-0, ID-1, …; else one is drawn",
       "ID");
  text("--join", &args->join,
       "Of mode 0600, an invitation on each line; else they are made now",
       "FILE");
  up->add_flag("--dry-run", args->dry_run, "Show what sbatch would get");
  up->add_flag("--json", args->json, "As JSON");
}

}  // namespace

void AddSlurmUp(CLI::App& noun, Invocation& invocation) {
  const auto [up, args] =
      AddVerb(noun, "up", "Submit an array of workers", invocation, Up);
  AddOptions(up, args);
  up->footer(
      "sbatch reads its usual variables too: SBATCH_ACCOUNT, SBATCH_QOS,\n"
      "SBATCH_TIMELIMIT.");
}

// `frostline slurm status`: what Slurm and the coordinator know about a fleet.

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
  return PrintOneJson(
      session.terminal, args.output, SlurmFleetJson(facts),
      [&] { return RenderFleet(facts, session.terminal.width); });
}

}  // namespace

void AddSlurmStatus(CLI::App& noun, Invocation& invocation) {
  const auto [status, args] = AddVerb(
      noun, "status", "The fleet's jobs beside the coordinator's workers",
      invocation, Status);
  AddFleetOf(status, &args->fleet);
  AddOneFormats(status, args->output);
}

// `frostline slurm scale`: changes how many workers of a fleet run.

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

// Applies the number of workers. For Slurm a throttle of 0 means no limit, so a
// hold is used to start none.
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
  // Running tasks cannot be throttled, and Slurm refuses an array without a
  // waiting task.
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

// Follows the studies and scales the array. If the coordinator is away or the
// controller is busy, the array keeps its last setting. Cancelled tasks
// leave invitations behind, which are revoked when no task is left.
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
  const auto [scale, args] = AddVerb(
      noun, "scale", "Let as many of the array run as the studies can use",
      invocation, Scale);
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

// `frostline slurm drain`: the workers of a fleet finish their trials and
// leave.

namespace {

constexpr Duration kDrainLook = std::chrono::seconds(2);

struct DrainArgs {
  FleetOf fleet;
  std::string wait = "0s";
};

// Drains once. Waiting tasks never start. Running ones get no new trial and end
// with code 0 after their current one. A task whose worker has not started
// misses the signal, so the call is repeated.
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

// Returns the workers of tasks in `before` that waited and are gone now.
// Returns none when this cannot be seen.
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
  const auto [drain, args] =
      AddVerb(noun, "drain", "No new trials: workers finish theirs and go",
              invocation, Drain);
  AddFleetOf(drain, &args->fleet);
  drain
      ->add_option("--wait", args->wait, "Until all have gone, at most so long")
      ->type_name("TIME")
      ->capture_default_str();
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm up`: a new array of workers.
#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <filesystem>
#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/status_macros.h"
#include "cli/client/address.h"
#include "cli/process/child_process.h"
#include "cli/slurm/demand.h"
#include "cli/slurm/fleet.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"
#include "cli/view/format.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kMostTasks = 10'000;
constexpr char kNoJoin[] = "-";  // as worker.sbatch reads it

struct UpArgs {
  FleetOf fleet;
  std::string partition;
  std::string gres = "gpu:1";
  int max = 1;
  std::string slots = "1";
  std::string registry;
  std::string exec;
  std::vector<std::string> labels;
  std::string run_dir = "frostline-runs";
  std::string idle = "10m";
  std::string program;
  std::string folder = "frostline-slurm";
  std::string id;
  std::string join;
  bool dry_run = false;
  bool json = false;
};

// What is known once everything has been looked at, and nothing done.
struct Plan {
  std::string id;
  ArraySpec array;
  Demand demand;
  int slots = 1;
  bool connects_directly = false;  // no invitations: one machine, no CA
};

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// Of "gpu:a100:4" a worker with --slots gpu has 4.
absl::StatusOr<int> SlotsOf(const UpArgs& args) {
  constexpr int kMostSlots = 1024;
  if (args.slots != "gpu") {
    ASSIGN_OR_RETURN(const std::int64_t slots,
                     ReadWhole("--slots", args.slots, 1, kMostSlots));
    return static_cast<int>(slots);
  }
  const std::string last = args.gres.substr(args.gres.rfind(':') + 1);
  int gpus = 0;
  return absl::SimpleAtoi(last, &gpus) && gpus > 0 ? std::min(gpus, kMostSlots)
                                                   : 1;
}

absl::Status CheckArgs(UpArgs* args) {
  RETURN_IF_ERROR(CheckFleetOf(&args->fleet));
  // Each worker's name is this and its task.
  if (!args->id.empty()) {
    RETURN_IF_ERROR(
        CheckNewName(absl::StrCat(args->id, "-", args->max - 1), "--id"));
  }
  if (args->exec.empty() && args->registry.empty()) {
    return MakeError(
        ErrorId::kRequestInvalid,
        "a worker needs models and data, or a trainer",
        "give --registry DIR or --exec CMD, as the nodes see them");
  }
  RETURN_IF_ERROR(ReadTime("--idle-timeout", args->idle, Duration::zero(),
                           std::chrono::hours(24 * 100))
                      .status());
  if (args->join.empty()) return absl::OkStatus();
  args->join = Absolute(args->join);
  // The worker would refuse it too, but on a node, an hour later.
  ASSIGN_OR_RETURN(const SecretString lines,
                   tls::ReadPrivateFile(args->join, "--join"));
  const std::string& text = lines.Reveal();
  const auto count = std::count(text.begin(), text.end(), '\n') +
                     (!text.empty() && text.back() != '\n' ? 1 : 0);
  if (count >= args->max) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(args->join, " has ", count, " lines for ", args->max,
                   " workers"),
      "an invitation is good for one worker: put one on each line, "
      "or leave --join out, as an admin",
      "--join");
}

std::vector<std::string> WorkerFlags(const UpArgs& args) {
  std::vector<std::string> flags = {"--slots", args.slots, "--idle-timeout",
                                    args.idle};
  const auto add = [&flags](const char* flag, const std::string& value) {
    if (!value.empty()) flags.insert(flags.end(), {flag, value});
  };
  add("--registry", args.registry.empty() ? "" : Absolute(args.registry));
  add("--exec", args.exec);
  for (const std::string& label : args.labels) add("--label", label);
  add("--study", args.fleet.study);
  if (!args.fleet.all) flags.emplace_back("--exit-when-done");
  return flags;
}

absl::Status RefuseSecondFleet(const Slurm& slurm, const std::string& name) {
  ASSIGN_OR_RETURN(const std::vector<ArrayTask> tasks, slurm.Look(name));
  if (tasks.empty()) return absl::OkStatus();
  const std::string of = name == "frostline" ? "--all" : name.substr(10);
  return MakeError(
      ErrorId::kSlurmRefused,
      absl::StrCat("there is a fleet of this name: array ", tasks[0].array,
                   " has ", tasks.size(), " tasks that have not ended"),
      absl::StrCat("`frostline slurm scale ", of,
                   "` sets how many of it run, `frostline slurm drain ", of,
                   "` ends it"));
}

absl::StatusOr<Plan> MakePlan(Client& client, const Slurm& slurm,
                              const UpArgs& args) {
  Plan plan;
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies,
                   FetchStudiesOf(client, args.fleet));
  if (!args.fleet.all && IsEnded(studies[0].state())) {
    return MakeError(ErrorId::kStudyNotActive,
                     absl::StrCat(args.fleet.study,
                                  " has ended: ", NameOf(studies[0].state())),
                     "name a study that is active, or raise its budget with "
                     "`frostline study update`");
  }
  plan.array.name = JobNameOf(args.fleet);
  RETURN_IF_ERROR(RefuseSecondFleet(slurm, plan.array.name));
  ASSIGN_OR_RETURN(plan.slots, SlotsOf(args));
  plan.demand = DemandOf(studies);
  plan.id = args.id.empty() ? NewFleetId(args.fleet) : args.id;
  ArraySpec& array = plan.array;
  array.folder = Absolute(args.folder) + "/" + plan.id;
  array.partition = args.partition;
  array.gres = args.gres;
  array.tasks = args.max;
  array.at_a_time = std::max(1, WorkersFor(plan.demand, plan.slots, args.max));
  array.script = array.folder + "/worker.sbatch";
  std::string program = args.program;
  if (program.empty()) {
    ASSIGN_OR_RETURN(program, SiblingProgram("frostline-worker"));
  }
  array.arguments = {plan.id, Absolute(args.run_dir),
                     args.join.empty() ? array.folder + "/join" : args.join,
                     program};
  const std::vector<std::string> flags = WorkerFlags(args);
  array.arguments.insert(array.arguments.end(), flags.begin(), flags.end());
  return plan;
}

bool IsThisMachine(const std::string& address) {
  const std::string host = HostOf(address);
  return absl::StartsWith(address, "unix:") || host == "localhost" ||
         host == "::1" || absl::StartsWith(host, "127.");
}

// Where the coordinator can invite nobody, workers of its own machine need no
// invitation.
absl::StatusOr<Invitations> InviteFor(Client& client, const UpArgs& args,
                                      Plan* plan) {
  if (!args.join.empty()) return Invitations();
  auto made = Invite(client, plan->id, args.max);
  if (!HasErrorId(made.status(), ErrorId::kJoinUnavailable) ||
      !IsThisMachine(client.address())) {
    return made;
  }
  plan->connects_directly = true;
  plan->array.arguments[2] = kNoJoin;
  plan->array.arguments.insert(plan->array.arguments.end(),
                               {"--connect", client.address()});
  return Invitations();
}

absl::StatusOr<std::int64_t> Submit(Client& client, const Slurm& slurm,
                                    const UpArgs& args, Plan* plan) {
  ASSIGN_OR_RETURN(const Invitations invitations,
                   InviteFor(client, args, plan));
  absl::StatusOr<std::int64_t> array = 0;
  std::error_code ignored;
  const bool is_new = !fs::exists(plan->array.folder, ignored);
  const auto made = MakeFleetFolder(args.folder, plan->id);
  absl::Status ready = made.status();
  if (ready.ok() && !invitations.text.empty()) {
    ready = tls::WritePrivateFile(plan->array.folder + "/join",
                                  SecretString(invitations.text), "--dir");
  }
  array = ready.ok() ? slurm.Submit(plan->array) : ready;
  if (array.ok()) return array;
  // Refused: nothing is left behind.
  Revoke(client, invitations);
  if (is_new) fs::remove_all(plan->array.folder, ignored);
  return array;
}

std::string CommandLine(const ArraySpec& array) {
  return absl::StrJoin(SubmitWords(array), " ",
                       [](std::string* out, const std::string& word) {
                         out->append(ShellWord(word));
                       });
}

std::string JsonOf(const Plan& plan, std::int64_t array, const UpArgs& args) {
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
  RETURN_IF_ERROR(CheckArgs(&args));
  ASSIGN_OR_RETURN(const Slurm slurm, Slurm::Find());
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(Plan plan, MakePlan(*client, slurm, args));
  const std::string wish =
      DescribeWish(plan.demand, plan.array.at_a_time, args.max);
  if (args.dry_run) {
    std::cout << (args.json ? JsonOf(plan, 0, args)
                            : CommandLine(plan.array) + "\n");
    if (!args.json) std::cerr << "nothing was submitted; " << wish << "\n";
    return kExitOk;
  }
  ASSIGN_OR_RETURN(const std::int64_t array,
                   Submit(*client, slurm, args, &plan));
  if (args.json) {
    std::cout << JsonOf(plan, array, args);
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

void AddOptions(CLI::App* up, UpArgs* args) {
  const auto text = [up](const char* flag, std::string* value, const char* help,
                         const char* type) {
    return up->add_option(flag, *value, help)->type_name(type);
  };
  AddFleetOf(up, &args->fleet);
  up->add_option("--max", args->max, "So many workers, never more at a time")
      ->check(CLI::Range(1, kMostTasks))
      ->capture_default_str();
  text("--partition", &args->partition, "Else the cluster's default", "P");
  text("--gres", &args->gres, "What a worker gets; none: no GPU", "GRES")
      ->capture_default_str();
  text("--slots", &args->slots, "Trials at a time of a worker, or gpu", "N")
      ->capture_default_str();
  text("--registry", &args->registry, "The nodes' models and data", "DIR");
  text("--exec", &args->exec, "Another trainer, as `frostline worker`", "CMD");
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
  const auto args = std::make_shared<UpArgs>();
  CLI::App* const up =
      AddVerb(noun, "up", "Submit an array of workers", invocation,
              [args](Session& session) { return Up(session, *args); });
  AddOptions(up, args.get());
  up->footer(
      "sbatch reads its usual variables too: SBATCH_ACCOUNT, SBATCH_QOS,\n"
      "SBATCH_TIMELIMIT.\n\n"
      "Examples:\n"
      "  frostline slurm up imdb --max 16 --registry /srv/models\n"
      "  frostline slurm up --all --max 4 --gres gpu:4 --slots gpu "
      "--registry /srv/models");
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
//
// `frostline slurm up`: a new array of workers.
#include <google/protobuf/struct.pb.h>

#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "cli/slurm/demand.h"
#include "cli/slurm/fleet_plan.h"
#include "cli/slurm/fleet_submit.h"
#include "cli/slurm/slurm.h"
#include "cli/slurm/slurm_command.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

constexpr int kMostStartedTasks = 10'000;

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
      "SBATCH_TIMELIMIT.");
}

}  // namespace frostline::cli

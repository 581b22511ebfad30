// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet.h"

#include <google/protobuf/struct.pb.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "cli/client/address.h"
#include "cli/commands/command.h"
#include "cli/context/context_store.h"
#include "cli/process/child_process.h"
#include "cli/term/table.h"
#include "cli/view/format.h"
#include "proto/rules.h"
#include "tls/private_file.h"

namespace frostline::cli {

Demand DemandOf(const v1::Study& study) {
  Demand demand;
  if (IsEnded(study.state())) return demand;
  const v1::TrialCounts& counts = study.counts();
  demand.running = counts.running();
  const std::int64_t begun = counts.running() + counts.queued();
  // A retried trial is queued and belongs to no budget.
  demand.left = std::max(
      study.settings().budget().trials() - counts.budget_used(), begun);
  if (study.state() == v1::STUDY_STATE_PAUSED) {
    demand.usable = counts.running();
    return demand;
  }
  const std::int64_t bound = study.settings().max_parallel() > 0
                                 ? study.settings().max_parallel()
                                 : std::max(study.useful_parallelism(), begun);
  demand.usable = std::min(demand.left, bound);
  return demand;
}

Demand DemandOf(const std::vector<v1::Study>& studies) {
  Demand all;
  for (const v1::Study& study : studies) {
    const Demand one = DemandOf(study);
    all.left += one.left;
    all.running += one.running;
    all.usable += one.usable;
  }
  return all;
}

int WorkersFor(const Demand& demand, int slots, int most) {
  const std::int64_t workers = (demand.usable + slots - 1) / slots;
  return static_cast<int>(std::min<std::int64_t>(workers, most));
}

std::string DescribeWish(const Demand& demand, int wish, int most) {
  return absl::StrCat(wish, " at a time (", FormatCount(demand.left),
                      demand.left == 1 ? " trial left, " : " trials left, ",
                      FormatCount(demand.usable), " useful at a time, at most ",
                      most, ")");
}

namespace {

namespace fs = std::filesystem;

constexpr int kFleetPageSize = 500;
constexpr std::size_t kStudyInId = 40;  // an id has 64, and tasks a number
constexpr std::size_t kDigits = 6;

}  // namespace

void AddFleetOf(CLI::App* verb, FleetOf* fleet) {
  verb->add_option("STUDY", fleet->study, "The study's id");
  verb->add_flag("--all", fleet->all, "Instead: any study there is");
}

absl::Status CheckFleetOf(FleetOf* fleet) {
  if (fleet->all == !fleet->study.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     fleet->all ? "STUDY and --all exclude each other"
                                : "a fleet needs a study to work for",
                     "name a study, or give --all");
  }
  if (fleet->all) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string name, StudyNameFrom(fleet->study));
  fleet->study = LastPart(name);
  return absl::OkStatus();
}

std::string JobNameOf(const FleetOf& fleet) {
  return fleet.all ? "frostline" : absl::StrCat("frostline-", fleet.study);
}

absl::Status NoFleet(const FleetOf& fleet) {
  return MakeError(ErrorId::kSlurmRefused,
                   absl::StrCat("no task of ", JobNameOf(fleet),
                                " waits or runs on this cluster"),
                   "`frostline slurm up STUDY --registry DIR` submits them; "
                   "what ended says why in "
                   "its log");
}

std::string NewFleetId(const FleetOf& fleet) {
  const std::string name =
      fleet.all ? "all" : fleet.study.substr(0, kStudyInId);
  return absl::StrCat(name, "-", RandomHexId().substr(0, kDigits));
}

absl::StatusOr<std::vector<v1::Study>> FetchStudiesOf(Client& client,
                                                      const FleetOf& fleet) {
  if (!fleet.all) {
    ASSIGN_OR_RETURN(v1::Study study,
                     FetchStudy(client, StudyNameOf(fleet.study)));
    return std::vector<v1::Study>{std::move(study)};
  }
  std::vector<v1::Study> studies;
  v1::ListStudiesRequest request;
  request.set_page_size(kFleetPageSize);
  do {
    ASSIGN_OR_RETURN(
        const v1::ListStudiesReply page,
        client.Call(&v1::StudyService::Stub::ListStudies, request));
    for (const v1::Study& study : page.studies()) {
      if (!IsEnded(study.state())) studies.push_back(study);
    }
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  return studies;
}

absl::StatusOr<std::string> MakeFleetFolder(const std::string& parent,
                                            const std::string& id) {
  std::error_code error;
  std::string folder = (fs::absolute(parent, error) / id).string();
  if (!error) fs::create_directories(parent, error);
  if (error) return Unwritable(parent, error.message());
  RETURN_IF_ERROR(MakeFolder(folder));
  RETURN_IF_ERROR(MakeFolder(folder + "/log"));
  RETURN_IF_ERROR(tls::WritePrivateFile(folder + "/worker.sbatch",
                                        SecretString(kWorkerScript), "--dir"));
  return folder;
}

namespace {

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// Returns the slots of a worker with --slots gpu: 4 for "gpu:a100:4".
absl::StatusOr<int> NodeSlotsOf(const UpArgs& args) {
  const auto most = static_cast<int>(proto::MostOf<v1::Worker>("slots"));
  if (args.slots != "gpu") {
    ASSIGN_OR_RETURN(const std::int64_t slots,
                     ReadWhole("--slots", args.slots, 1, most));
    return static_cast<int>(slots);
  }
  const std::string last = args.gres.substr(args.gres.rfind(':') + 1);
  int gpus = 0;
  if (!absl::SimpleAtoi(last, &gpus) || gpus <= 0) return 1;
  return std::clamp(gpus / args.gpus_per_slot, 1, most);
}

// Checks the file of invitations. The worker would refuse a bad one too, but
// only on a node, an hour later.
absl::Status CheckJoinFile(const std::string& file, int tasks) {
  ASSIGN_OR_RETURN(const SecretString lines,
                   tls::ReadPrivateFile(file, "--join"));
  const std::string& text = lines.Reveal();
  const auto count = std::count(text.begin(), text.end(), '\n') +
                     (!text.empty() && text.back() != '\n' ? 1 : 0);
  if (count >= tasks) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat(file, " has ", count, " lines for ", tasks, " workers"),
      "an invitation is good for one worker: put one on each line, "
      "or leave --join out, as an admin",
      "--join");
}

constexpr char kConfigFlag[] = "--config=";
constexpr std::size_t kConfigSize = sizeof(kConfigFlag) - 1;

std::vector<std::string> WorkerFlags(const UpArgs& args) {
  std::vector<std::string> flags = {"--slots", args.slots, "--idle-timeout",
                                    args.idle};
  const auto add = [&flags](const char* flag, const std::string& value) {
    if (!value.empty()) flags.insert(flags.end(), {flag, value});
  };
  add("--registry", args.registry.empty() ? "" : Absolute(args.registry));
  add("--exec", args.exec);
  add("--command", args.command);
  for (const std::string& flag : args.command_flags) {
    // The workers run in the fleet's folder.
    flags.push_back(absl::StartsWith(flag, kConfigFlag)
                        ? kConfigFlag + Absolute(flag.substr(kConfigSize))
                        : flag);
  }
  if (args.gpus_per_slot > 1) {
    add("--gpus-per-slot", absl::StrCat(args.gpus_per_slot));
  }
  if (args.fresh_process) flags.emplace_back("--fresh-process");
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

}  // namespace

absl::Status CheckUpArgs(UpArgs* args) {
  RETURN_IF_ERROR(CheckFleetOf(&args->fleet));
  // Each worker's name is this and its task.
  if (!args->id.empty()) {
    RETURN_IF_ERROR(
        CheckNewName(absl::StrCat(args->id, "-", args->max - 1), "--id"));
  }
  if (args->exec.empty() && args->registry.empty() && args->command.empty()) {
    return MakeError(ErrorId::kRequestInvalid,
                     "a worker needs models and data, or a trainer",
                     "give --registry DIR, --exec CMD or --command CMD, as the "
                     "nodes see them");
  }
  // The workers would refuse these too, each an hour later.
  if (args->command.empty() && !args->command_flags.empty()) {
    const std::string& first = args->command_flags.front();
    const std::string flag = first.substr(0, first.find('='));
    return BadFlag(flag, "is about a --command, and there is none",
                   "give it: --command 'python train.py --lr {lr}'");
  }
  if (!args->command.empty() && !args->exec.empty()) {
    return BadFlag("--command", "does not go with --exec",
                   "give one trainer: a command as it is, or a program that "
                   "speaks the protocol");
  }
  RETURN_IF_ERROR(ReadTime("--idle-timeout", args->idle, Duration::zero(),
                           std::chrono::hours(24 * 100))
                      .status());
  if (args->join.empty()) return absl::OkStatus();
  args->join = Absolute(args->join);
  return CheckJoinFile(args->join, args->max);
}

absl::StatusOr<FleetPlan> PlanFleet(Client& client, const Slurm& slurm,
                                    const UpArgs& args) {
  FleetPlan plan;
  ASSIGN_OR_RETURN(const std::vector<v1::Study> studies,
                   FetchStudiesOf(client, args.fleet));
  if (!args.fleet.all && IsEnded(studies[0].state())) {
    return MakeError(ErrorId::kStudyNotActive,
                     absl::StrCat(args.fleet.study,
                                  " has ended: ", NameOf(studies[0].state())),
                     absl::StrCat("name a study that is active, or raise its "
                                  "budget with `frostline study update ",
                                  args.fleet.study, " --budget N`"));
  }
  plan.array.name = JobNameOf(args.fleet);
  RETURN_IF_ERROR(RefuseSecondFleet(slurm, plan.array.name));
  ASSIGN_OR_RETURN(const int slots, NodeSlotsOf(args));
  plan.demand = DemandOf(studies);
  plan.id = args.id.empty() ? NewFleetId(args.fleet) : args.id;
  ArraySpec& array = plan.array;
  array.folder = Absolute(args.folder) + "/" + plan.id;
  array.partition = args.partition;
  array.gres = args.gres;
  array.tasks = args.max;
  array.at_a_time = std::max(1, WorkersFor(plan.demand, slots, args.max));
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

namespace {

// The life of an invitation, the longest that a coordinator allows. A task may
// wait in the queue for weeks before its worker joins.
constexpr std::int64_t kLongestInvitationWait = 90LL * 24 * 3600;

absl::StatusOr<v1::CreateTokenReply> InviteOne(Client& client,
                                               const std::string& worker) {
  v1::CreateTokenRequest request;
  request.set_role(v1::ROLE_WORKER);
  request.set_single_use(true);
  request.set_note("slurm up");
  request.set_subject(WorkerNameOf(worker));
  request.mutable_lifetime()->set_seconds(kLongestInvitationWait);
  ASSIGN_OR_RETURN(v1::CreateTokenReply made,
                   client.Call(&v1::AdminService::Stub::CreateToken, request));
  if (!made.join_address().empty() && !made.ca_sha256().empty()) return made;
  return MakeError(ErrorId::kJoinUnavailable,
                   "the coordinator names no address with TLS to join at",
                   "start it with `frostline serve --listen 0.0.0.0:7443 "
                   "--tls DIR`");
}

absl::StatusOr<int> RevokeUnused(Session& session,
                                 const std::set<std::string>& workers) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const v1::ListTokensReply all, FetchTokens(*client));
  int revoked = 0;
  for (const v1::Token& token : all.tokens()) {
    if (!token.single_use() || token.has_revoke_time() ||
        !workers.contains(token.subject())) {
      continue;
    }
    v1::RevokeTokenRequest request;
    request.set_id(token.id());
    RETURN_IF_ERROR(
        client->Call(&v1::AdminService::Stub::RevokeToken, request).status());
    ++revoked;
  }
  return revoked;
}

}  // namespace

absl::StatusOr<Invitations> Invite(Client& client, const std::string& id,
                                   int tasks) {
  Invitations invitations;
  for (int task = 0; task < tasks; ++task) {
    auto made = InviteOne(client, absl::StrCat(id, "-", task));
    if (!made.ok()) {
      Revoke(client, invitations);
      return made.status();
    }
    absl::StrAppend(&invitations.text, made->secret(), "@",
                    made->join_address(), "#", made->ca_sha256(), "\n");
    invitations.token_ids.push_back(made->token().id());
  }
  return invitations;
}

void Revoke(Client& client, const Invitations& invitations) {
  for (const std::string& id : invitations.token_ids) {
    v1::RevokeTokenRequest request;
    request.set_id(id);
    // If this fails, the invitation is only valid for a worker that never
    // starts.
    (void)client.Call(&v1::AdminService::Stub::RevokeToken, request);
  }
}

std::string InvitedWorker(const ArrayTask& task) {
  std::error_code ignored;
  if (!std::filesystem::exists(task.folder + "/join", ignored)) return "";
  return WorkerNameOf(absl::StrCat(LastPart(task.folder), "-", task.index));
}

void EndInvitations(Session& session, const std::set<std::string>& workers) {
  if (workers.empty()) return;
  const auto ended = RevokeUnused(session, workers);
  if (!ended.ok()) {
    std::cerr << "invitations that nobody used are still good: "
              << ended.status().message()
              << "; `frostline token revoke ID` ends each\n";
  } else if (*ended == 1) {
    std::cerr << "1 invitation that nobody used is ended\n";
  } else if (*ended > 1) {
    std::cerr << *ended << " invitations that nobody used are ended\n";
  }
}

namespace {

constexpr char kNoJoin[] = "-";  // as worker.sbatch reads it

bool IsThisMachine(const std::string& address) {
  const std::string host = HostOf(address);
  return absl::StartsWith(address, "unix:") || host == "localhost" ||
         host == "::1" || absl::StartsWith(host, "127.");
}

// Invites the workers. If the coordinator cannot invite and is on this machine,
// the workers need no invitation.
absl::StatusOr<Invitations> InviteFor(Client& client, const UpArgs& args,
                                      FleetPlan* plan) {
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

}  // namespace

absl::StatusOr<std::int64_t> SubmitFleet(Client& client, const Slurm& slurm,
                                         const UpArgs& args, FleetPlan* plan) {
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

namespace {

std::string FleetLabelOf(const v1::Worker& worker, const char* key) {
  const auto label = worker.labels().find(key);
  return label == worker.labels().end() ? "" : label->second;
}

// The match of tasks and workers. A restarted task gets a worker of the same
// name, so each task has one worker.
class Matched {
 public:
  explicit Matched(const FleetFacts& facts) {
    std::map<std::tuple<std::string, std::string, std::string>,
             const v1::Worker*>
        by_task;
    for (const v1::Worker& worker : facts.workers) {
      if (worker.state() == v1::WORKER_STATE_GONE) continue;
      by_task[{FleetLabelOf(worker, "slurm_cluster"),
               FleetLabelOf(worker, "slurm_job"),
               FleetLabelOf(worker, "slurm_task")}] = &worker;
    }
    std::set<const v1::Worker*> taken;
    for (const ArrayTask& task : facts.tasks) {
      const auto found = by_task.find(
          {facts.cluster, absl::StrCat(task.array), absl::StrCat(task.index)});
      of_task_.push_back(found == by_task.end() ? nullptr : found->second);
      taken.insert(of_task_.back());
    }
    for (const v1::Worker& worker : facts.workers) {
      if (worker.state() != v1::WORKER_STATE_GONE && !taken.contains(&worker)) {
        others_.push_back(&worker);
      }
    }
  }

  // Null where the coordinator knows none.
  const std::vector<const v1::Worker*>& of_task() const { return of_task_; }
  const std::vector<const v1::Worker*>& others() const { return others_; }

 private:
  std::vector<const v1::Worker*> of_task_;
  std::vector<const v1::Worker*> others_;
};

std::string FleetOriginOf(const v1::Worker& worker) {
  const std::string job = FleetLabelOf(worker, "slurm_job");
  if (job.empty()) return "no Slurm";
  return absl::StrCat("array ", job, " of cluster ",
                      FleetLabelOf(worker, "slurm_cluster"));
}

// Returns "3 of array 17 of cluster west, 1 of no Slurm".
std::string OriginsOf(const std::vector<const v1::Worker*>& workers) {
  std::map<std::string, int> counts;
  for (const v1::Worker* worker : workers) ++counts[FleetOriginOf(*worker)];
  return absl::StrJoin(counts, ", ", [](std::string* out, const auto& entry) {
    absl::StrAppend(out, entry.second, " of ", entry.first);
  });
}

}  // namespace

int SlotsOfFleet(const FleetFacts& facts) {
  std::set<std::string> arrays;
  for (const ArrayTask& task : facts.tasks) {
    arrays.insert(absl::StrCat(task.array));
  }
  int slots = 1;
  for (const v1::Worker& worker : facts.workers) {
    if (FleetLabelOf(worker, "slurm_cluster") == facts.cluster &&
        arrays.contains(FleetLabelOf(worker, "slurm_job"))) {
      slots = std::max(slots, worker.slots());
    }
  }
  return slots;
}

std::string RenderFleet(const FleetFacts& facts, int width) {
  const Matched matched(facts);
  Table table({{"TASK"},
               {"JOB"},
               {"NODE"},
               {"WORKER"},
               {"WORKER IS"},
               {"TRIALS", Align::kRight, 1},
               {"LAST SEEN", Align::kLeft, 2},
               {"WAITS FOR", Align::kLeft, 1}});
  for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
    const ArrayTask& task = facts.tasks[i];
    const v1::Worker* const worker = matched.of_task()[i];
    const bool is_there = worker != nullptr;
    table.AddRow({absl::StrCat(task.array, "_", task.index), task.state,
                  task.node, is_there ? LastPart(worker->name()) : "-",
                  is_there ? NameOf(worker->state()) : "not there",
                  absl::StrCat(is_there ? worker->trials_size() : 0),
                  is_there ? FormatTime(worker->last_seen_time()) : "",
                  task.waits() ? task.reason : ""});
  }
  std::string text = facts.tasks.empty()
                         ? absl::StrCat("no task of ", facts.job_name,
                                        " on cluster ", facts.cluster, "\n")
                         : table.Render(width);
  if (!matched.others().empty()) {
    absl::StrAppend(&text, "other workers of this coordinator: ",
                    OriginsOf(matched.others()), "\n");
  }
  return text;
}

std::string SlurmFleetJson(const FleetFacts& facts) {
  const Matched matched(facts);
  google::protobuf::Struct fields;
  auto& map = *fields.mutable_fields();
  map["job_name"].set_string_value(facts.job_name);
  map["cluster"].set_string_value(facts.cluster);
  auto* const tasks = map["tasks"].mutable_list_value();
  for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
    const ArrayTask& task = facts.tasks[i];
    auto& row = *tasks->add_values()->mutable_struct_value()->mutable_fields();
    row["array"].set_number_value(static_cast<double>(task.array));
    row["task"].set_number_value(task.index);
    row["state"].set_string_value(task.state);
    row["node"].set_string_value(task.node);
    row["reason"].set_string_value(task.reason);
    const v1::Worker* const worker = matched.of_task()[i];
    if (worker == nullptr) continue;
    row["worker"].set_string_value(worker->name());
    row["worker_state"].set_string_value(NameOf(worker->state()));
    row["trials"].set_number_value(worker->trials_size());
  }
  auto* const others = map["other_workers"].mutable_list_value();
  for (const v1::Worker* worker : matched.others()) {
    auto& row = *others->add_values()->mutable_struct_value()->mutable_fields();
    row["worker"].set_string_value(worker->name());
    row["state"].set_string_value(NameOf(worker->state()));
    row["cluster"].set_string_value(FleetLabelOf(*worker, "slurm_cluster"));
    row["array"].set_string_value(FleetLabelOf(*worker, "slurm_job"));
  }
  return ToJson(fields);
}

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/fleet_plan.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "cli/client/address.h"
#include "cli/commands/command.h"
#include "cli/process/child_process.h"
#include "cli/slurm/fleet.h"
#include "cli/view/format.h"
#include "tls/private_file.h"

namespace frostline::cli {
namespace {

namespace fs = std::filesystem;

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// Returns the slots of a worker with --slots gpu: 4 for "gpu:a100:4".
absl::StatusOr<int> NodeSlotsOf(const UpArgs& args) {
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

}  // namespace

absl::Status CheckUpArgs(UpArgs* args) {
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
  request.set_request_id(NewRequestId(SystemClock()));
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
    request.set_request_id(NewRequestId(SystemClock()));
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
    request.set_request_id(NewRequestId(SystemClock()));
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

}  // namespace frostline::cli

// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/struct.pb.h>

#include <iostream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/flags.h"
#include "base/ids.h"
#include "cli/commands/command.h"
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
  return PrintList(
      session.terminal, output, all,
      [&workers](bool wide) {
        return wide ? StockTable(workers) : WorkerTable(workers);
      },
      absl::StrCat("no workers; start one with `frostline worker --connect ",
                   client->address(), " --exec CMD`"));
}

absl::StatusOr<ExitCode> DrainOne(Session& session, const std::string& id,
                                  bool undo) {
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::DrainWorkerRequest request;
  request.set_worker(id.starts_with("workers/") ? id : WorkerNameOf(id));
  request.set_undo(undo);
  ASSIGN_OR_RETURN(
      const v1::Worker worker,
      client->Call(&v1::WorkerService::Stub::DrainWorker, request));
  std::cout << worker.name() << (undo ? " works again" : " is drained")
            << "; it holds " << worker.trials_size() << " trials\n";
  return kExitOk;
}

// Returns the error for `serve` or `worker` that is not the first word; the
// first word is handled in command_line.h.
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
      AddNoun(app, "worker",
              "Run a worker here (frostline-worker); `worker list`, "
              "`drain`, `invite` and `revoke` are about all");
  const auto [list, output] =
      AddVerb(*noun, "list", "List the workers the coordinator knows",
              invocation, ListWorkers);
  AddListFormats(list, *output);
  AddWide(list, *output,
          "Which models and data sets each has, and its machine");
  const auto [drain, id, undo] = AddVerb(
      *noun, "drain", "No new trials for a worker; it hands back what it holds",
      invocation, DrainOne);
  drain->add_option("WORKER", *id, "The worker's id")->required();
  drain->add_flag("--undo", *undo,
                  "Let it work again, also after a quarantine");
  AddWorkerAccess(*noun, invocation);
}

// How a node is admitted, by one line to paste there, and removed again.

namespace {

constexpr Duration kShortest = std::chrono::minutes(1);
constexpr Duration kLongestInvitation = std::chrono::hours(24);
constexpr Duration kLongestOfOne = std::chrono::hours(24 * 90);
constexpr char kAnyFolder[] = "DIR";

struct InviteArgs {
  std::string id;
  std::string slots;
  std::string expires = "1h";
  std::string registry = kAnyFolder;
  bool json = false;
};

std::string InvitationLineOf(const InviteArgs& args,
                             const v1::CreateTokenReply& made) {
  const std::string at = absl::StrCat(made.secret(), "@", made.join_address(),
                                      "#", made.ca_sha256());
  // The brackets of an IPv6 address are a pattern to a shell.
  const bool is_plain = !absl::StrContains(at, '[');
  std::string line =
      absl::StrCat("frostline worker --join ", is_plain ? at : ShellWord(at),
                   " --registry ", ShellWord(args.registry));
  if (!args.id.empty()) absl::StrAppend(&line, " --id ", args.id);
  if (!args.slots.empty()) absl::StrAppend(&line, " --slots ", args.slots);
  return line;
}

std::string WorkerJsonOf(const std::string& line, const v1::Token& token) {
  google::protobuf::Struct fields;
  const auto set = [&fields](const char* key, const std::string& text) {
    (*fields.mutable_fields())[key].set_string_value(text);
  };
  set("line", line);
  set("token_id", token.id());
  set("subject", token.subject());
  set("expire_time", FormatWall(token.expire_time().seconds() * 1'000'000));
  return ToJson(fields);
}

absl::Status CheckSlots(const std::string& slots) {
  if (slots.empty() || slots == "gpu") return absl::OkStatus();
  constexpr std::int64_t kMostSlots = 1024;
  return ReadWhole("--slots", slots, 1, kMostSlots).status();
}

absl::StatusOr<ExitCode> InviteWorker(Session& session,
                                      const InviteArgs& args) {
  if (!args.id.empty()) RETURN_IF_ERROR(CheckNewName(args.id, "--id"));
  RETURN_IF_ERROR(CheckSlots(args.slots));
  ASSIGN_OR_RETURN(
      const Duration lifetime,
      ReadTime("--expires", args.expires, kShortest,
               args.id.empty() ? kLongestInvitation : kLongestOfOne));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  v1::CreateTokenRequest request;
  request.set_role(v1::ROLE_WORKER);
  request.set_single_use(true);
  request.set_note("worker invite");
  if (!args.id.empty()) request.set_subject(WorkerNameOf(args.id));
  request.mutable_lifetime()->set_seconds(
      std::chrono::duration_cast<std::chrono::seconds>(lifetime).count());
  ASSIGN_OR_RETURN(const v1::CreateTokenReply made,
                   client->Call(&v1::AdminService::Stub::CreateToken, request));
  if (made.join_address().empty() || made.ca_sha256().empty()) {
    return MakeError(ErrorId::kJoinUnavailable,
                     "the coordinator names no address with TLS to join at",
                     "start it with `frostline serve --listen "
                     "0.0.0.0:7443 --tls DIR`");
  }
  const std::string line = InvitationLineOf(args, made);
  std::cout << (args.json ? WorkerJsonOf(line, made.token()) : line + "\n");
  std::cerr << "paste it on the node"
            << (args.registry == kAnyFolder
                    ? ", with its folder of models and data for DIR"
                    : "")
            << "; it works once, until "
            << FormatTime(made.token().expire_time()) << "\n";
  return kExitOk;
}

absl::StatusOr<int> RevokeTokensOf(Client& client, const std::string& subject) {
  ASSIGN_OR_RETURN(const v1::ListTokensReply all, FetchTokens(client));
  int revoked = 0;
  for (const v1::Token& token : all.tokens()) {
    if (token.subject() != subject || token.has_revoke_time()) continue;
    v1::RevokeTokenRequest request;
    request.set_id(token.id());
    RETURN_IF_ERROR(
        client.Call(&v1::AdminService::Stub::RevokeToken, request).status());
    ++revoked;
  }
  return revoked;
}

// Removes a node. Tokens are revoked first, because a token could get a new
// certificate.
absl::StatusOr<ExitCode> ShutOut(Session& session, const std::string& id) {
  const std::string subject =
      absl::StartsWith(id, "workers/") ? id : WorkerNameOf(id);
  RETURN_IF_ERROR(CheckNewName(LastPart(subject), "WORKER"));
  ASSIGN_OR_RETURN(Client* const client, Connect(session));
  ASSIGN_OR_RETURN(const int tokens, RevokeTokensOf(*client, subject));
  v1::RevokeCertificatesRequest request;
  request.set_subject(subject);
  ASSIGN_OR_RETURN(
      const v1::RevokeCertificatesReply reply,
      client->Call(&v1::AdminService::Stub::RevokeCertificates, request));
  std::cout << subject << " is shut out: tokens revoked " << tokens
            << ", certificates " << FormatCount(reply.revoked()) << "\n";
  return kExitOk;
}

}  // namespace

void AddWorkerAccess(CLI::App& noun, Invocation& invocation) {
  const auto [invite, args] = AddVerb(
      noun, "invite", "Print a line that starts a worker on another node",
      invocation, InviteWorker);
  invite->add_option("--id", args->id, "The worker's id; the node's name")
      ->type_name("ID");
  invite->add_option("--slots", args->slots, "Trials at a time, or gpu")
      ->type_name("N");
  invite->add_option("--expires", args->expires, "At most 24h, with --id 2160h")
      ->type_name("TIME")
      ->capture_default_str();
  invite
      ->add_option("--registry", args->registry,
                   "The node's models and data, for the line")
      ->type_name("DIR");
  invite->add_flag("--json", args->json, "As JSON, the secret within \"line\"");
  const auto [revoke, id] =
      AddVerb(noun, "revoke", "Shut a worker out: its certificates and tokens",
              invocation, ShutOut);
  revoke->add_option("WORKER", *id, "The worker's id")->required();
}

}  // namespace frostline::cli

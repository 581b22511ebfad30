// SPDX-License-Identifier: Apache-2.0
#include "cli/slurm/invitations.h"

#include <filesystem>
#include <iostream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "cli/view/format.h"

namespace frostline::cli {
namespace {

// A task may wait in the queue for weeks before its worker joins: as long as a
// coordinator lets an invitation live.
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
    // What is not revoked is good for a worker that never begins.
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

}  // namespace frostline::cli

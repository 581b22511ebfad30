// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/join.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"
#include "tls/join.h"
#include "worker/agent/identity.h"
#include "worker/agent/rpc_client.h"
#include "worker/agent/run_folder.h"

namespace frostline::agent {
namespace {

constexpr Duration kFirstJoinPause = std::chrono::milliseconds(200);
constexpr Duration kLongestJoinPause = std::chrono::seconds(5);

// Each try has a connection of its own, so that what it was refused for is
// known.
absl::StatusOr<v1::JoinReply> AskOnce(const tls::JoinLine& line,
                                      const v1::JoinRequest& request,
                                      WallMicros now) {
  const tls::PinnedChannel pinned({line.host, line.ca_sha256}, now);
  RpcClient client(line.address,
                   tls::Access::WithToken(pinned.credentials(), line.token));
  auto reply = client.Join(request);
  if (reply.ok()) return reply;
  RETURN_IF_ERROR(pinned.refusal());
  if (!HasErrorId(reply.status(), ErrorId::kTlsRefused)) return reply;
  return MakeError(ErrorId::kTlsRefused, std::string(reply.status().message()),
                   "name an address at which the coordinator serves TLS: "
                   "`frostline serve --data frost --listen 0.0.0.0:7443 --tls "
                   "DIR`");
}

absl::StatusOr<v1::JoinReply> AskUntilAnswered(const tls::JoinLine& line,
                                               const v1::JoinRequest& request,
                                               const Clock& clock,
                                               const JoinPause& pause) {
  Backoff backoff(kFirstJoinPause, kLongestJoinPause);
  Rng rng(std::hash<std::string>()(request.request_id()));
  while (true) {
    auto reply = AskOnce(line, request, clock.Wall());
    if (reply.ok() || !WorthRetrying(reply.status())) return reply;
    Log(LogLevel::kWarning, "not_joined",
        {{"coordinator", line.address},
         {"cause", std::string(reply.status().message())}});
    if (!pause(backoff.Next(rng))) {
      return absl::CancelledError("told to end before it had joined");
    }
  }
}

// The lock of the agent keeps a second one of this id away meanwhile.
absl::Status Join(const tls::JoinLine& line, const AgentOptions& options,
                  const Clock& clock, const JoinPause& pause,
                  Identity* identity) {
  ASSIGN_OR_RETURN(const auto lock,
                   RunFolder::Open(options.run_dir, options.id));
  ASSIGN_OR_RETURN(const Identity::Question question,
                   identity->Ask(absl::StrCat("Join ", line.token_id)));
  v1::JoinRequest request;
  request.set_request_id(question.request_id);
  request.set_worker_id(options.id);
  request.set_certificate_request(question.request_pem);
  ASSIGN_OR_RETURN(const v1::JoinReply reply,
                   AskUntilAnswered(line, request, clock, pause));
  RETURN_IF_ERROR(identity->StoreAddress(line.address));
  RETURN_IF_ERROR(identity->Store(reply, line.ca_sha256));
  RETURN_IF_ERROR(identity->StoreTokenId(line.token_id));
  Log(LogLevel::kInfo, "joined",
      {{"worker", options.id},
       {"coordinator", line.address},
       {"identity", identity->folder()}});
  return absl::OkStatus();
}

enum class Kept {
  kNothing,       // that holds
  kOfAnotherOne,  // another invitation of the same coordinator
  kOfThisOne,
};

// The coordinator may have moved since.
absl::StatusOr<Kept> LookAtKept(const tls::JoinLine& line, WallMicros now,
                                Identity* identity) {
  if (!identity->exists()) return Kept::kNothing;
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity->Read());
  if (now >= facts.expires) return Kept::kNothing;
  if (facts.ca_sha256 != line.ca_sha256) {
    return MakeError(
        ErrorId::kFingerprintWrong,
        absl::StrCat("this worker has joined another coordinator, at ",
                     facts.address),
        absl::StrCat("give another --run-dir or --id, or remove ",
                     identity->folder(), " to leave that one"),
        "--join");
  }
  if (facts.address != line.address) {
    RETURN_IF_ERROR(identity->StoreAddress(line.address));
  }
  return facts.token_id == line.token_id ? Kept::kOfThisOne
                                         : Kept::kOfAnotherOne;
}

// A new invitation is for one that was revoked. It is tried once; where the old
// certificate is still good, the coordinator refuses a second one.
void JoinAgain(const tls::JoinLine& line, const AgentOptions& options,
               const Clock& clock, Identity* identity) {
  const absl::Status joined =
      Join(line, options, clock, [](Duration) { return false; }, identity);
  if (joined.ok()) return;
  Log(LogLevel::kWarning, "not_joined_again",
      {{"cause", std::string(joined.message())},
       {"uses", identity->files().certificate}});
}

// Empty: no worker that has joined is meant.
absl::StatusOr<std::string> JoinedId(const AgentOptions& options) {
  const auto exists = [&options](const std::string& id) {
    return Identity(options.run_dir, id).exists();
  };
  if (options.id_is_given) return exists(options.id) ? options.id : "";
  if (exists(options.host_id)) return options.host_id;
  const std::vector<std::string> ids = Identity::JoinedFrom(options.run_dir);
  if (ids.size() < 2) return ids.empty() ? "" : ids.front();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("several workers have joined from ", options.run_dir, ": ",
                   absl::StrJoin(ids, ", ")),
      "say which one this is: --id NAME", "--id");
}

absl::Status Use(const Identity& identity, WallMicros now,
                 AgentOptions* options) {
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity.Read());
  if (now >= facts.expires) {
    return MakeError(
        ErrorId::kCertificateExpired,
        absl::StrCat("the certificate of ", options->id, " expired at ",
                     FormatWall(facts.expires)),
        "have a line made by `frostline worker invite`, and start the worker "
        "with it");
  }
  options->connect = facts.address;
  options->access.tls = identity.files();
  options->has_joined = true;
  return absl::OkStatus();
}

absl::Status UseFound(const Clock& clock, AgentOptions* options) {
  const bool says_how =
      !options->access.tls.empty() || !options->access.token.empty();
  if (says_how) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string id, JoinedId(*options));
  if (id.empty()) return absl::OkStatus();
  const Identity identity(options->run_dir, id);
  ASSIGN_OR_RETURN(const IdentityFacts facts, identity.Read());
  if (options->connect_is_given && options->connect != facts.address) {
    return absl::OkStatus();
  }
  options->id = id;
  return Use(identity, clock.Wall(), options);
}

}  // namespace

absl::Status SettleIdentity(const std::optional<tls::JoinLine>& line,
                            const Clock& clock, const JoinPause& pause,
                            AgentOptions* options) {
  if (!line.has_value()) return UseFound(clock, options);
  if (!options->id_is_given) options->id = options->host_id;
  Identity identity(options->run_dir, options->id);
  ASSIGN_OR_RETURN(const Kept kept, LookAtKept(*line, clock.Wall(), &identity));
  if (kept == Kept::kNothing) {
    RETURN_IF_ERROR(Join(*line, *options, clock, pause, &identity));
  } else if (kept == Kept::kOfAnotherOne) {
    JoinAgain(*line, *options, clock, &identity);
  }
  return Use(identity, clock.Wall(), options);
}

}  // namespace frostline::agent

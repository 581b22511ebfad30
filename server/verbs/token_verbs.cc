// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/token_verbs.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/status_macros.h"
#include "proto/wire_time.h"
#include "server/auth/roles.h"
#include "server/auth/token_secret.h"
#include "server/wire/page_token.h"

namespace frostline::server {
namespace {

using storage::TokenRow;

constexpr WallMicros kSecond = 1'000'000;
constexpr WallMicros kUsualLifetime = 90 * 86'400 * kSecond;
constexpr WallMicros kUsualOverlap = 86'400 * kSecond;
constexpr WallMicros kUseIsWritten = 60 * kSecond;
constexpr Duration kUsesLooked = std::chrono::seconds(10);

WallMicros MicrosOf(const google::protobuf::Duration& duration,
                    WallMicros unless_given) {
  const auto given = std::chrono::duration_cast<std::chrono::microseconds>(
      proto::DurationFromProto(duration));
  return given.count() == 0 ? unless_given : given.count();
}

v1::Token Describe(const TokenRow& row) {
  v1::Token token;
  token.set_id(row.id);
  token.set_role(static_cast<v1::Role>(row.role));
  token.set_subject(row.subject);
  token.set_note(row.note);
  *token.mutable_create_time() = proto::TimestampToProto(row.created);
  if (row.expires != 0) {
    *token.mutable_expire_time() = proto::TimestampToProto(row.expires);
  }
  if (row.last_used != 0) {
    *token.mutable_last_used_time() = proto::TimestampToProto(row.last_used);
  }
  if (row.revoked != 0) {
    *token.mutable_revoke_time() = proto::TimestampToProto(row.revoked);
  }
  if (!row.old_secret_sha256.empty()) {
    *token.mutable_old_secret_expire_time() =
        proto::TimestampToProto(row.old_secret_expires);
  }
  return token;
}

bool IsSame(const TokenRow& row, const v1::CreateTokenRequest& request) {
  return row.request_id == request.request_id() && row.revoked == 0 &&
         row.last_used == 0 && row.role == request.role() &&
         row.subject == request.subject() && row.note == request.note();
}

const char* NameOfProof(CallerProof proof) {
  switch (proof) {
    case CallerProof::kToken:
      return "token";
    case CallerProof::kCertificate:
      return "certificate";
    case CallerProof::kLoopback:
      break;
  }
  return "loopback";
}

}  // namespace

TokenVerbs::TokenVerbs(Calls& calls, TokenBook& tokens, const Clock& clock)
    : calls_(calls), tokens_(tokens), clock_(clock) {}

void TokenVerbs::AddTo(VerbTable& table) {
  using V = TokenVerbs;
  constexpr CallerRole kAdmin = CallerRole::kAdmin;
  calls_.Add(table, "AdminService.CreateToken", kAdmin, this, &V::CreateToken);
  calls_.Add(table, "AdminService.RotateToken", kAdmin, this, &V::RotateToken);
  calls_.Add(table, "AdminService.RevokeToken", kAdmin, this, &V::RevokeToken);
  calls_.Add(table, "AdminService.ListTokens", kAdmin, this, &V::ListTokens);
  calls_.Add(table, "AdminService.WhoAmI", CallerRole::kAnyone, this,
             &V::WhoAmI);
}

absl::StatusOr<TokenRow> TokenVerbs::Require(const std::string& id) {
  const auto row = tokens_.Find(id);
  if (row.has_value()) return *row;
  return MakeError(ErrorId::kTokenNotFound,
                   absl::StrCat("there is no token ", id),
                   "`frostline token list` shows them", "id");
}

absl::Status TokenVerbs::Put(Batch& batch, const TokenRow& row) {
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.PutToken(row);
  }));
  tokens_.Put(row);
  return absl::OkStatus();
}

absl::StatusOr<v1::CreateTokenReply> TokenVerbs::CreateToken(
    Change& change, const v1::CreateTokenRequest& request) {
  TokenRow row;
  row.id = TokenIdOf(request.request_id());
  const auto before = tokens_.Find(row.id);
  if (before.has_value() && !IsSame(*before, request)) {
    return MakeError(ErrorId::kRequestIdReused,
                     absl::StrCat("this request id made token ", row.id,
                                  ", whose secret is shown once"),
                     "draw a new request id, or give the token another secret "
                     "with `frostline token rotate`",
                     "request_id");
  }
  const SecretString secret = NewTokenSecret(row.id);
  row.role = request.role();
  row.subject = request.subject();
  row.note = request.note();
  row.request_id = request.request_id();
  row.secret_sha256 = HashOfSecret(secret);
  row.created = before.has_value() ? before->created : clock_.Wall();
  row.expires = row.created + MicrosOf(request.lifetime(), kUsualLifetime);
  RETURN_IF_ERROR(Put(change.batch, row));
  v1::CreateTokenReply reply;
  *reply.mutable_token() = Describe(row);
  reply.set_secret(secret.Reveal());
  return reply;
}

absl::StatusOr<v1::RotateTokenReply> TokenVerbs::RotateToken(
    Change& change, const v1::RotateTokenRequest& request) {
  ASSIGN_OR_RETURN(TokenRow row, Require(request.id()));
  if (row.revoked != 0) {
    return MakeError(ErrorId::kTokenInvalid,
                     absl::StrCat("token ", row.id, " was revoked"),
                     "make another with `frostline token create`", "id");
  }
  const SecretString secret = NewTokenSecret(row.id);
  // Repeated: the secret before the last stays the old one.
  if (row.request_id != request.request_id()) {
    row.old_secret_sha256 = row.secret_sha256;
    row.old_secret_expires =
        clock_.Wall() + (request.has_overlap() ? MicrosOf(request.overlap(), 0)
                                               : kUsualOverlap);
  }
  row.request_id = request.request_id();
  row.secret_sha256 = HashOfSecret(secret);
  RETURN_IF_ERROR(Put(change.batch, row));
  v1::RotateTokenReply reply;
  *reply.mutable_token() = Describe(row);
  reply.set_secret(secret.Reveal());
  return reply;
}

absl::StatusOr<v1::RevokeTokenReply> TokenVerbs::RevokeToken(
    Change& change, const v1::RevokeTokenRequest& request) {
  ASSIGN_OR_RETURN(TokenRow row, Require(request.id()));
  if (row.revoked != 0) return v1::RevokeTokenReply();
  row.revoked = clock_.Wall();
  RETURN_IF_ERROR(Put(change.batch, row));
  return v1::RevokeTokenReply();
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void TokenVerbs::ListTokens(CallContext, v1::ListTokensRequest request,
                            Reply<v1::ListTokensReply> reply) {
  const auto first = ParsePageToken("tokens", "", request.page_token());
  if (!first.ok()) return reply(first.status());
  const std::vector<TokenRow> rows = tokens_.List();
  v1::ListTokensReply page;
  const auto size = static_cast<std::size_t>(PageSize(request.page_size()));
  const auto begin = static_cast<std::size_t>(*first);
  for (std::size_t i = begin; i < rows.size() && i < begin + size; ++i) {
    *page.add_tokens() = Describe(rows[i]);
  }
  if (begin + size < rows.size()) {
    page.set_next_page_token(
        MakePageToken("tokens", "", static_cast<std::int64_t>(begin + size)));
  }
  reply(std::move(page));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void TokenVerbs::WhoAmI(CallContext caller, v1::WhoAmIRequest,
                        Reply<v1::Identity> reply) {
  const CallerIdentity& who = caller.identity;
  v1::Identity identity;
  identity.set_subject(who.subject);
  identity.set_role(RoleToProto(who.role));
  identity.set_proof(NameOfProof(who.proof));
  identity.set_token_id(who.token_id);
  identity.set_certificate_sha256(who.certificate_sha256);
  if (who.expires != 0) {
    *identity.mutable_expire_time() = proto::TimestampToProto(who.expires);
  }
  identity.set_address(caller.peer);
  reply(std::move(identity));
}

void TokenVerbs::WriteDownUsed(Batch& batch, bool all) {
  const SteadyTime now = clock_.Steady();
  if ((now < next_write_ && !all) || !batch.MayWrite()) return;
  next_write_ = now + kUsesLooked;
  for (const TokenRow& row : tokens_.UsedSince(all ? 1 : kUseIsWritten)) {
    (void)Put(batch, row);  // the next look tries again
  }
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/access_verbs.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/wire_values.h"
#include "server/auth/access.h"
#include "server/auth/credentials.h"
#include "server/verbs/describe.h"
#include "server/wire/convert.h"
#include "server/wire/filter.h"
#include "tls/certificate.h"

namespace frostline::server {
namespace {

using storage::TokenRow;

constexpr WallMicros kSecond = 1'000'000;
constexpr WallMicros kUsualLifetime = 90 * 86'400 * kSecond;
constexpr WallMicros kUsualInvitation = 3'600 * kSecond;
constexpr WallMicros kUsualOverlap = 86'400 * kSecond;
constexpr WallMicros kTokenUseIsWritten = 60 * kSecond;
constexpr Duration kTokenUsesLooked = std::chrono::seconds(10);
constexpr Duration kSecretKept = std::chrono::minutes(10);
constexpr std::size_t kMostSecretsKept = 1'000;

WallMicros MicrosOf(const google::protobuf::Duration& duration,
                    WallMicros unless_given) {
  const auto given = std::chrono::duration_cast<std::chrono::microseconds>(
      proto::DurationFromProto(duration));
  return given.count() == 0 ? unless_given : given.count();
}

v1::Token DescribeToken(const TokenRow& row) {
  v1::Token token;
  token.set_id(row.id);
  token.set_role(static_cast<v1::Role>(row.role));
  token.set_subject(row.subject);
  token.set_note(row.note);
  token.set_single_use(row.single_use != 0);
  v1::Token labelled;
  labelled.ParseFromString(row.study_labels);
  *token.mutable_study_labels() = labelled.study_labels();
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

// Returns labels as a row keeps them; equal labels give equal bytes.
std::string TokenLabelsOf(const v1::CreateTokenRequest& request) {
  v1::Token labelled;
  *labelled.mutable_study_labels() = request.study_labels();
  return OrderedBytes(labelled);
}

// A request id belongs to one kind of request, so the mark holds that kind.
std::string SecretMarkOf(const CallerIdentity& caller,
                         const google::protobuf::Message& request) {
  return absl::StrCat(request.GetTypeName(), "\n", caller.subject, "\n",
                      caller.token_id, "\n", caller.certificate_sha256, "\n",
                      OrderedBytes(request));
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

TokenVerbs::TokenVerbs(Calls& calls, Credentials& credentials,
                       const Issuer* issuer, const Clock& clock)
    : calls_(calls),
      credentials_(credentials),
      issuer_(issuer),
      clock_(clock) {}

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
  const auto row = credentials_.tokens.rows().Find(id);
  if (row.has_value()) return *row;
  return MakeError(ErrorId::kTokenNotFound,
                   absl::StrCat("there is no token ", id),
                   "`frostline token list` shows them", "id");
}

absl::Status TokenVerbs::Put(Batch& batch, const TokenRow& row) {
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.PutToken(row);
  }));
  credentials_.tokens.rows().Put(row);
  return absl::OkStatus();
}

absl::StatusOr<v1::CreateTokenReply> TokenVerbs::CreateToken(
    Change& change, const v1::CreateTokenRequest& request) {
  if (request.single_use() && issuer_ == nullptr) {
    return CannotIssue("single_use");
  }
  const CallerIdentity& caller = change.caller.identity;
  const auto reply_with = [this, &request](const TokenRow& made,
                                           const SecretString& shown) {
    v1::CreateTokenReply reply;
    *reply.mutable_token() = DescribeToken(made);
    reply.set_secret(shown.Reveal());
    if (request.single_use()) {
      reply.set_join_address(issuer_->address());
      reply.set_ca_sha256(issuer_->ca_sha256());
    }
    return reply;
  };
  TokenRow row;
  row.id = TokenIdOf(request.request_id());
  const auto before = credentials_.tokens.rows().Find(row.id);
  if (before.has_value()) {
    ASSIGN_OR_RETURN(const SecretString secret,
                     DrawnBefore(caller, request, *before));
    return reply_with(*before, secret);
  }
  if (request.single_use() && !request.subject().empty()) {
    RETURN_IF_ERROR(
        credentials_.CheckFree(request.subject(), clock_.Wall(), "subject"));
  }
  const SecretString secret = NewTokenSecret(row.id);
  row.role = request.role();
  row.subject = request.subject();
  row.note = request.note();
  row.request_id = request.request_id();
  row.secret_sha256 = HashOfSecret(secret);
  row.created = clock_.Wall();
  row.study_labels = TokenLabelsOf(request);
  row.single_use = request.single_use() ? 1 : 0;
  row.expires = row.created + MicrosOf(request.lifetime(),
                                       request.single_use() ? kUsualInvitation
                                                            : kUsualLifetime);
  RETURN_IF_ERROR(Put(change.batch, row));
  Remember(change, request, secret);
  return reply_with(row, secret);
}

void TokenVerbs::Remember(Change& change,
                          const google::protobuf::Message& request,
                          const SecretString& secret) {
  const SteadyTime now = clock_.Steady();
  while (!drawn_.empty() &&
         (drawn_.size() >= kMostSecretsKept || drawn_.front().until <= now)) {
    drawn_.pop_front();
  }
  drawn_.push_back({SecretMarkOf(change.caller.identity, request), secret,
                    now + kSecretKept});
  change.batch.Then([this, &batch = change.batch,
                     hash = HashOfSecret(secret)](const absl::Status& stored) {
    batch.AssertOnLoop();
    if (stored.ok()) return;
    std::erase_if(drawn_, [&hash](const Drawn& one) {
      return HashOfSecret(one.secret) == hash;
    });
  });
}

absl::StatusOr<SecretString> TokenVerbs::DrawnBefore(
    const CallerIdentity& caller, const google::protobuf::Message& request,
    const TokenRow& row) {
  const std::string mark = SecretMarkOf(caller, request);
  const SteadyTime now = clock_.Steady();
  for (const Drawn& drawn : drawn_) {
    if (row.revoked == 0 && drawn.until > now && drawn.request == mark &&
        HashOfSecret(drawn.secret) == row.secret_sha256) {
      return drawn.secret;
    }
  }
  return MakeError(ErrorId::kRequestIdReused,
                   absl::StrCat("this request id gave token ", row.id,
                                " a secret, which is shown once"),
                   "draw a new request id, or give the token another secret "
                   "with `frostline token rotate ID`",
                   "request_id");
}

absl::StatusOr<v1::RotateTokenReply> TokenVerbs::RotateToken(
    Change& change, const v1::RotateTokenRequest& request) {
  ASSIGN_OR_RETURN(TokenRow row, Require(request.id()));
  if (row.revoked != 0) {
    return MakeError(ErrorId::kTokenInvalid,
                     absl::StrCat("token ", row.id, " was revoked"),
                     "make another with `frostline token create --role "
                     "researcher --subject NAME`",
                     "id");
  }
  const CallerIdentity& caller = change.caller.identity;
  v1::RotateTokenReply reply;
  const std::string mark = SecretMarkOf(caller, request);
  const bool is_repeated =
      row.request_id == request.request_id() ||
      std::any_of(drawn_.begin(), drawn_.end(),
                  [&mark](const Drawn& one) { return one.request == mark; });
  if (is_repeated) {
    ASSIGN_OR_RETURN(const SecretString before,
                     DrawnBefore(caller, request, row));
    *reply.mutable_token() = DescribeToken(row);
    reply.set_secret(before.Reveal());
    return reply;
  }
  const SecretString secret = NewTokenSecret(row.id);
  row.old_secret_sha256 = row.secret_sha256;
  row.old_secret_expires =
      clock_.Wall() +
      (request.has_overlap() ? MicrosOf(request.overlap(), 0) : kUsualOverlap);
  row.request_id = request.request_id();
  row.secret_sha256 = HashOfSecret(secret);
  RETURN_IF_ERROR(Put(change.batch, row));
  Remember(change, request, secret);
  *reply.mutable_token() = DescribeToken(row);
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
  reply(PageOf<v1::ListTokensReply>(
      "tokens", credentials_.tokens.rows().List(), request,
      [](const TokenRow& row, v1::ListTokensReply& page) {
        *page.add_tokens() = DescribeToken(row);
      }));
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
  for (const auto& [key, value] : who.study_labels) {
    (*identity.mutable_study_labels())[key] = value;
  }
  identity.set_address(caller.peer);
  reply(std::move(identity));
}

void TokenVerbs::WriteDownUsed(Batch& batch, bool all) {
  const SteadyTime now = clock_.Steady();
  if ((now < next_write_ && !all) || !batch.MayWrite()) return;
  next_write_ = now + kTokenUsesLooked;
  for (const TokenRow& row :
       credentials_.tokens.rows().UsedSince(all ? 1 : kTokenUseIsWritten)) {
    (void)Put(batch, row);  // the next look tries again
  }
}

namespace {

using storage::CertificateRow;

constexpr char kJoin[] = "WorkerService.Join";
constexpr char kRenew[] = "WorkerService.RenewCertificate";
constexpr WallMicros kCertificateUseIsWritten = 60'000'000;
constexpr Duration kCertificateUsesLooked = std::chrono::seconds(10);

v1::Certificate DescribeCertificate(const CertificateRow& row) {
  v1::Certificate shown;
  shown.set_sha256(row.id);
  shown.set_subject(row.subject);
  shown.set_role(static_cast<v1::Role>(row.role));
  *shown.mutable_create_time() = proto::TimestampToProto(row.created);
  *shown.mutable_expire_time() = proto::TimestampToProto(row.expires);
  if (row.last_used != 0) {
    *shown.mutable_last_used_time() = proto::TimestampToProto(row.last_used);
  }
  if (row.revoked != 0) {
    *shown.mutable_revoke_time() = proto::TimestampToProto(row.revoked);
  }
  return shown;
}

// Says whether the row stands for all certificates of a subject.
bool IsOfAll(const CertificateRow& row) {
  return row.id == IdOfAllOf(row.subject);
}

}  // namespace

CertificateVerbs::CertificateVerbs(Calls& calls, Credentials& credentials,
                                   const Issuer* issuer, const Clock& clock)
    : calls_(calls),
      credentials_(credentials),
      issuer_(issuer),
      clock_(clock) {}

void CertificateVerbs::AddTo(VerbTable& table) {
  using V = CertificateVerbs;
  calls_.AddOnce(table, kJoin, CallerRole::kInvited, this, &V::Join);
  calls_.AddOnce(table, kRenew, CallerRole::kCertified, this,
                 &V::RenewCertificate);
  calls_.AddOnce(table, "AdminService.RevokeCertificates", CallerRole::kAdmin,
                 this, &V::RevokeCertificates);
  calls_.Add(table, "AdminService.ListCertificates", CallerRole::kAdmin, this,
             &V::ListCertificates);
}

absl::Status CertificateVerbs::Put(Batch& batch, const CertificateRow& row) {
  RETURN_IF_ERROR(batch.Write([&row](storage::Transaction& transaction) {
    return transaction.PutCertificate(row);
  }));
  credentials_.certificates.rows().Put(row);
  return absl::OkStatus();
}

absl::StatusOr<TokenRow> CertificateVerbs::CheckInvitation(
    const CallerIdentity& caller, const std::string& worker_id) {
  if (issuer_ == nullptr) return CannotIssue();
  RETURN_IF_ERROR(CheckRole(caller, CallerRole::kInvited, kJoin));
  const auto token = credentials_.tokens.rows().Find(caller.token_id);
  const std::string name = WorkerNameOf(worker_id);
  if (caller.is_spent || !token.has_value() || token->revoked != 0) {
    return MakeError(
        ErrorId::kTokenUsed,
        absl::StrCat("invitation ", caller.token_id, " was used before"),
        "`frostline cert list` shows by whom; have an admin make "
        "another with `frostline worker invite`");
  }
  if (!token->subject.empty() && token->subject != name) {
    return MakeError(ErrorId::kWorkerDenied,
                     absl::StrCat("the invitation is for ", token->subject,
                                  ", not for ", name),
                     "join with the --id of the invitation", "worker_id");
  }
  RETURN_IF_ERROR(credentials_.CheckFree(name, clock_.Wall(), "worker_id"));
  return *token;
}

absl::StatusOr<v1::JoinReply> CertificateVerbs::Issue(
    Batch& batch, const std::string& worker_id,
    const std::string& request_pem) {
  const WallMicros now = clock_.Wall();
  v1::JoinReply reply;
  reply.set_worker(WorkerNameOf(worker_id));
  ASSIGN_OR_RETURN(*reply.mutable_certificate(),
                   issuer_->Issue(worker_id, request_pem, now));
  reply.set_ca(issuer_->ca_pem());
  ASSIGN_OR_RETURN(const tls::CertificateFacts facts,
                   tls::ReadCertificate(reply.certificate()));
  RETURN_IF_ERROR(Put(batch, {.id = facts.sha256,
                              .subject = reply.worker(),
                              .role = v1::ROLE_WORKER,
                              .created = now,
                              .expires = facts.expires}));
  return reply;
}

absl::StatusOr<v1::JoinReply> CertificateVerbs::Join(
    Change& change, const v1::JoinRequest& request) {
  change.AssertOnLoop();
  RETURN_IF_ERROR(CheckId(request.worker_id(), "worker_id"));
  ASSIGN_OR_RETURN(TokenRow token, CheckInvitation(change.caller.identity,
                                                   request.worker_id()));
  ASSIGN_OR_RETURN(v1::JoinReply reply, Issue(change.batch, request.worker_id(),
                                              request.certificate_request()));
  token.last_used = clock_.Wall();
  token.revoked = token.last_used;
  RETURN_IF_ERROR(
      change.batch.Write([&token](storage::Transaction& transaction) {
        return transaction.PutToken(token);
      }));
  credentials_.tokens.rows().Put(token);
  return reply;
}

absl::StatusOr<v1::JoinReply> CertificateVerbs::RenewCertificate(
    Change& change, const v1::RenewCertificateRequest& request) {
  const CallerIdentity& caller = change.caller.identity;
  if (issuer_ == nullptr) return CannotIssue();
  RETURN_IF_ERROR(CheckRole(caller, CallerRole::kCertified, kRenew));
  ASSIGN_OR_RETURN(const std::string id, ParseWorkerName(caller.subject));
  return Issue(change.batch, id, request.certificate_request());
}

absl::StatusOr<v1::RevokeCertificatesReply>
CertificateVerbs::RevokeCertificates(
    Change& change, const v1::RevokeCertificatesRequest& request) {
  const WallMicros now = clock_.Wall();
  const auto& book = credentials_.certificates.rows();
  v1::RevokeCertificatesReply reply;
  if (!request.sha256().empty()) {
    CertificateRow row =
        book.Find(request.sha256())
            .value_or(CertificateRow{
                .id = request.sha256(), .subject = "", .created = now});
    if (row.revoked != 0) return reply;
    row.revoked = now;
    RETURN_IF_ERROR(Put(change.batch, row));
    reply.set_revoked(1);
    return reply;
  }
  for (CertificateRow& row : book.List()) {
    if (row.subject != request.subject() || IsOfAll(row)) continue;
    if (row.revoked != 0) continue;
    row.revoked = now;
    RETURN_IF_ERROR(Put(change.batch, row));
    reply.set_revoked(reply.revoked() + 1);
  }
  RETURN_IF_ERROR(Put(change.batch, {.id = IdOfAllOf(request.subject()),
                                     .subject = request.subject(),
                                     .created = now,
                                     .revoked = now}));
  return reply;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
void CertificateVerbs::ListCertificates(
    CallContext, v1::ListCertificatesRequest request,
    Reply<v1::ListCertificatesReply> reply) {
  std::vector<CertificateRow> rows = credentials_.certificates.rows().List();
  std::erase_if(rows, IsOfAll);
  reply(PageOf<v1::ListCertificatesReply>(
      "certificates", rows, request,
      [](const CertificateRow& row, v1::ListCertificatesReply& page) {
        *page.add_certificates() = DescribeCertificate(row);
      }));
}

void CertificateVerbs::WriteDownUsed(Batch& batch, bool all) {
  const SteadyTime now = clock_.Steady();
  if ((now < next_write_ && !all) || !batch.MayWrite()) return;
  next_write_ = now + kCertificateUsesLooked;
  const auto& book = credentials_.certificates.rows();
  for (const CertificateRow& row :
       book.UsedSince(all ? 1 : kCertificateUseIsWritten)) {
    (void)Put(batch, row);  // the next look tries again
  }
}

namespace {

constexpr char kList[] = "audit";

}  // namespace

void AuditVerb::AddTo(VerbTable& table) {
  calls_.Add(table, "AdminService.ListAuditEntries", CallerRole::kAdmin, this,
             &AuditVerb::ListAuditEntries);
}

void AuditVerb::ListAuditEntries(CallContext caller,
                                 v1::ListAuditEntriesRequest request,
                                 Reply<v1::ListAuditEntriesReply> reply) {
  const auto before =
      ParsePageToken(kList, request.filter(), request.page_token());
  if (!before.ok()) return reply(before.status());
  calls_.PostTo(calls_.readers(), Urgency::kRead, std::move(reply),
                [this, caller = std::move(caller), request = std::move(request),
                 before = *before](Reply<v1::ListAuditEntriesReply> to) {
                  to(Page(caller, request, before));
                });
}

absl::StatusOr<v1::ListAuditEntriesReply> AuditVerb::Page(
    const CallContext& caller, const v1::ListAuditEntriesRequest& request,
    std::int64_t before) const {
  ASSIGN_OR_RETURN(const AuditFilter filter,
                   AuditFilter::Parse(request.filter()));
  v1::ListAuditEntriesReply page;
  const int size = PageSize(request.page_size());
  RETURN_IF_ERROR(audit_.ReadBack([&](const v1::AuditEntry& entry) {
    if (before != 0 && entry.sequence() >= before) return true;
    if (caller.hung_up()) return false;
    if (!filter.Matches(entry)) return true;
    if (page.entries_size() == size) {
      const std::int64_t last = page.entries(size - 1).sequence();
      page.set_next_page_token(MakePageToken(kList, request.filter(), last));
      return false;
    }
    *page.add_entries() = entry;
    return true;
  }));
  return page;
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/certificate_verbs.h"

#include <chrono>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/ids.h"
#include "proto/wire_time.h"
#include "server/auth/gate.h"
#include "server/verbs/listed.h"
#include "tls/certificate.h"

namespace frostline::server {
namespace {

using storage::CertificateRow;
using storage::TokenRow;

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

// Of all certificates of a subject.
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

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "server/auth/access.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/error.h"
#include "base/ids.h"
#include "tls/certificate.h"

namespace frostline::server {
namespace {

struct RoleRow {
  CallerRole role;
  const char* name;
  v1::Role wire;
};

constexpr std::array<RoleRow, 4> kRoles = {
    {{CallerRole::kViewer, "viewer", v1::ROLE_VIEWER},
     {CallerRole::kWorker, "worker", v1::ROLE_WORKER},
     {CallerRole::kResearcher, "researcher", v1::ROLE_RESEARCHER},
     {CallerRole::kAdmin, "admin", v1::ROLE_ADMIN}}};

}  // namespace

bool Allows(const CallerIdentity& caller, CallerRole row) {
  const CallerRole role = caller.role;
  if (role == CallerRole::kAnyone) return false;  // nobody has this role
  if (row == CallerRole::kAnyone || row == role) return true;
  if (row == CallerRole::kInvited) return false;
  if (row == CallerRole::kCertified) {
    return role == CallerRole::kWorker &&
           caller.proof == CallerProof::kCertificate;
  }
  if (role == CallerRole::kAdmin) return true;
  return role == CallerRole::kResearcher && row == CallerRole::kViewer;
}

const char* NameOfRole(CallerRole role) {
  if (role == CallerRole::kInvited) return "invited";
  if (role == CallerRole::kCertified) return "certified";
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.name;
  }
  return "anyone";
}

std::optional<CallerRole> RoleNamed(const std::string& name) {
  for (const RoleRow& row : kRoles) {
    if (row.name == name) return row.role;
  }
  return std::nullopt;
}

v1::Role RoleToProto(CallerRole role) {
  for (const RoleRow& row : kRoles) {
    if (row.role == role) return row.wire;
  }
  return v1::ROLE_UNSPECIFIED;
}

std::optional<CallerRole> RoleFromProto(int role) {
  for (const RoleRow& row : kRoles) {
    if (row.wire == role) return row.role;
  }
  return std::nullopt;
}

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Labels = google::protobuf::Map<std::string, std::string>;

constexpr char kStudies[] = "studies/";
// Fields with text of people, in which anything may stand.
constexpr std::array<std::string_view, 4> kProse = {"notes", "note", "reason",
                                                    "filter"};

bool CarriesLabelsOf(const CallerIdentity& caller, const Labels& labels) {
  return std::all_of(caller.study_labels.begin(), caller.study_labels.end(),
                     [&labels](const auto& wanted) {
                       const auto found = labels.find(wanted.first);
                       return found != labels.end() &&
                              found->second == wanted.second;
                     });
}

bool MayChange(const CallerIdentity& caller, const StudyBelongs& study) {
  if (caller.role != CallerRole::kResearcher) {
    return caller.role == CallerRole::kAdmin;
  }
  if (!study.owner.empty() && study.owner == caller.subject) return true;
  return !caller.study_labels.empty() && CarriesLabelsOf(caller, study.labels);
}

std::string AccessTextOf(const CallerIdentity& caller) {
  return absl::StrJoin(caller.study_labels, ", ", absl::PairFormatter("="));
}

void AddStudy(const std::string& text, std::set<std::string>& found) {
  if (!absl::StartsWith(text, kStudies)) return;
  found.insert(text.substr(0, text.find('/', sizeof(kStudies) - 1)));
}

void AddStudies(const Message& message, std::set<std::string>& found) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const bool is_prose =
        std::find(kProse.begin(), kProse.end(), field->name()) != kProse.end();
    if (is_prose || field->is_map()) continue;
    const int count =
        field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        AddStudy(field->is_repeated()
                     ? reflection.GetRepeatedString(message, field, i)
                     : reflection.GetString(message, field),
                 found);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        AddStudies(field->is_repeated()
                       ? reflection.GetRepeatedMessage(message, field, i)
                       : reflection.GetMessage(message, field),
                   found);
      }
    }
  }
}

bool EndsAttempt(const std::string& method) {
  return absl::EndsWith(method, "WorkerService.Finish") ||
         absl::EndsWith(method, "WorkerService.Release");
}

// Returns "" when the message has no such text.
std::string TextAt(const Message& message, const char* name) {
  const auto* const field = message.GetDescriptor()->FindFieldByName(name);
  const bool is_text = field != nullptr && !field->is_repeated() &&
                       field->cpp_type() == FieldDescriptor::CPPTYPE_STRING;
  return is_text ? message.GetReflection()->GetString(message, field) : "";
}

}  // namespace

bool IsLimited(const CallerIdentity& caller) {
  return !caller.study_labels.empty();
}

bool MaySee(const CallerIdentity& caller, const StudyBelongs& study) {
  if (!IsLimited(caller) || MayChange(caller, study)) return true;
  return CarriesLabelsOf(caller, study.labels);
}

absl::Status CheckStudyAccess(const CallerIdentity& caller,
                              const StudyBelongs& study, bool changes) {
  if (changes ? MayChange(caller, study) : MaySee(caller, study)) {
    return absl::OkStatus();
  }
  std::string cause = study.name;
  // A caller who may not see a study is not told whose it is.
  if (MaySee(caller, study)) {
    absl::StrAppend(&cause,
                    study.owner.empty() ? " has no owner" : " belongs to ",
                    study.owner);
    if (!IsLimited(caller)) {
      absl::StrAppend(&cause, ", not to ", caller.subject);
    }
  }
  if (IsLimited(caller)) {
    absl::StrAppend(&cause, cause == study.name ? "" : " and",
                    " does not carry ", AccessTextOf(caller));
  }
  return MakeError(
      ErrorId::kStudyDenied, cause,
      "ask its owner, or an admin; a token with --study-label changes what "
      "carries the label");
}

absl::Status CheckOwnLabels(const CallerIdentity& caller,
                            const Labels& labels) {
  if (CarriesLabelsOf(caller, labels)) return absl::OkStatus();
  return MakeError(
      ErrorId::kStudyDenied,
      absl::StrCat("the token of ", caller.subject,
                   " is for studies that carry ", AccessTextOf(caller)),
      absl::StrCat("give the study the labels ", AccessTextOf(caller)),
      "settings.labels");
}

std::vector<std::string> StudiesNamedIn(const Message& request) {
  std::set<std::string> found;
  AddStudies(request, found);
  return {found.begin(), found.end()};
}

namespace {

std::string ResourceOf(const Message& request) {
  for (const char* const name : {"name", "parent", "study", "worker"}) {
    std::string text = TextAt(request, name);
    if (!text.empty()) return text;
  }
  const auto* const lease = request.GetDescriptor()->FindFieldByName("lease");
  if (lease != nullptr) {
    return TextAt(request.GetReflection()->GetMessage(request, lease), "trial");
  }
  constexpr std::array<std::array<const char*, 2>, 5> kPrefixed = {
      {{"study_id", "studies/"},
       {"worker_id", "workers/"},
       {"id", "tokens/"},
       {"sha256", "certificates/"},
       {"subject", "subjects/"}}};
  for (const auto& [name, prefix] : kPrefixed) {
    const std::string text = TextAt(request, name);
    if (!text.empty()) return absl::StrCat(prefix, text);
  }
  return "";
}

}  // namespace

bool MayChange(const google::protobuf::Descriptor& request,
               const std::string& method) {
  return request.FindFieldByName("request_id") != nullptr ||
         EndsAttempt(method);
}

void NoteRequest(const Message& request, const std::string& method,
                 CallContext* caller) {
  caller->method = std::string(absl::StripPrefix(method, "frostline.v1."));
  caller->request_id = TextAt(request, "request_id");
  caller->changes = !caller->request_id.empty() || EndsAttempt(method);
  const CallerRole role = caller->identity.role;
  const bool looks_at_studies =
      role == CallerRole::kResearcher || role == CallerRole::kViewer;
  if (caller->changes || looks_at_studies) {
    caller->resource = ResourceOf(request);
  }
  if (looks_at_studies) caller->studies = StudiesNamedIn(request);
}

namespace {

// Beyond so many buckets, full ones are forgotten: they are like new ones.
constexpr std::size_t kManyBuckets = 4'096;

}  // namespace

double CallRates::Fill(const Bucket& bucket, SteadyTime now) const {
  const double waited_s =
      std::chrono::duration<double>(now - bucket.filled).count();
  return std::min(limit_.burst, bucket.calls + waited_s * limit_.calls_per_s);
}

bool CallRates::Take(const std::string& who, SteadyTime now) {
  const MutexLock lock(&mutex_);
  if (buckets_.size() >= kManyBuckets) ForgetFull(now);
  Bucket& bucket = buckets_.try_emplace(who, limit_.burst, now).first->second;
  bucket.calls = Fill(bucket, now);
  bucket.filled = now;
  if (bucket.calls < 1.0) return false;
  bucket.calls -= 1.0;
  return true;
}

void CallRates::ForgetFull(SteadyTime now) {
  std::erase_if(buckets_, [&](const auto& one) {
    return Fill(one.second, now) >= limit_.burst;
  });
}

std::size_t CallRates::size() const {
  const MutexLock lock(&mutex_);
  return buckets_.size();
}

absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>>
CertificateFactsCache::Read(const std::string& pem) {
  {
    const MutexLock lock(&mutex_);
    const auto known = known_.find(pem);
    if (known != known_.end()) return known->second;
  }
  ASSIGN_OR_RETURN(tls::CertificateFacts facts, tls::ReadCertificate(pem));
  auto shared = std::make_shared<const tls::CertificateFacts>(std::move(facts));
  const MutexLock lock(&mutex_);
  ++reads_;
  if (known_.size() >= kMostKnownCertificates) known_.clear();
  known_.emplace(pem, shared);
  return shared;
}

std::int64_t CertificateFactsCache::reads() const {
  const MutexLock lock(&mutex_);
  return reads_;
}

namespace {

constexpr char kBearer[] = "bearer ";  // in any case, as RFC 6750 has it
constexpr char kCredentialsFix[] =
    "have an admin make a token with `frostline token create --role "
    "researcher --subject NAME`, put it in a file that only you may read, and "
    "give --token-file FILE; or show a certificate";

absl::Status Missing(const std::string& cause) {
  return MakeError(ErrorId::kCredentialsMissing, cause, kCredentialsFix);
}

}  // namespace

absl::StatusOr<CallerIdentity> Gate::OwnerOf(const std::string& pem) const {
  const auto facts = facts_.Read(pem);
  if (!facts.ok()) return Missing(std::string(facts.status().message()));
  for (const std::string& uri : (*facts)->uris) {
    const tls::OwnerName owner = tls::ParseOwnerName(uri);
    const std::optional<CallerRole> role = RoleNamed(owner.role);
    if (!role.has_value()) continue;
    const bool works = *role == CallerRole::kWorker;
    return credentials_.certificates.Admit(
        {.subject = works ? WorkerNameOf(owner.name) : owner.name,
         .role = *role,
         .proof = CallerProof::kCertificate,
         .token_id = "",
         .certificate_sha256 = (*facts)->sha256,
         .expires = (*facts)->expires},
        clock_.Wall());
  }
  return Missing(
      "the certificate names no role: it has no name of the form "
      "spiffe://DOMAIN/frostline/ROLE/NAME");
}

absl::StatusOr<CallerIdentity> Gate::Identify(const Shown& shown,
                                              CallerRole row) const {
  if (!shown.authorization.empty()) {
    const std::string& text = shown.authorization.Reveal();
    if (!absl::StartsWithIgnoreCase(text, kBearer)) {
      return Missing("the call's authorization is no Bearer token");
    }
    return credentials_.tokens.Identify(
        SecretString(text.substr(sizeof(kBearer) - 1)), clock_.Wall(), row);
  }
  if (!shown.certificate_pem.empty()) return OwnerOf(shown.certificate_pem);
  if (shown.is_local && !require_tokens_) return LocalAdmin();
  return Missing(shown.is_local
                     ? "this coordinator asks for a token on loopback too"
                     : "the call shows neither a token nor a certificate");
}

absl::Status Gate::TakeCall(const CallerIdentity& caller) const {
  if (caller.proof == CallerProof::kLoopback) return absl::OkStatus();
  const std::string& who =
      caller.token_id.empty() ? caller.certificate_sha256 : caller.token_id;
  if (rates_.Take(who, clock_.Steady())) return absl::OkStatus();
  too_fast_.Add();
  return MakeError(ErrorId::kCallerTooFast,
                   absl::StrCat(caller.subject, " calls too often"),
                   "wait a second, or share the work among more tokens");
}

absl::Status CheckHolds(const CallerIdentity& caller) {
  if (!caller.is_revoked()) return absl::OkStatus();
  const bool is_token = caller.proof == CallerProof::kToken;
  return MakeError(
      is_token ? ErrorId::kTokenInvalid : ErrorId::kCertificateRevoked,
      absl::StrCat("what ", caller.subject, " called with was revoked"),
      is_token ? "have an admin make a token with `frostline token "
                 "create --role researcher --subject NAME`"
               : "join again with `frostline worker invite`");
}

absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method) {
  if (Allows(caller, row)) return absl::OkStatus();
  if (row == CallerRole::kInvited) {
    return MakeError(ErrorId::kRoleDenied,
                     "joining is for whoever shows an invitation",
                     "have an admin make one with `frostline worker invite`");
  }
  if (row == CallerRole::kCertified) {
    return MakeError(
        ErrorId::kRoleDenied, "only a worker's certificate is renewed",
        "call over TLS with the certificate that is to be renewed, "
        "and without a token");
  }
  return MakeError(
      ErrorId::kRoleDenied,
      absl::StrCat(caller.subject, " has the role ", NameOfRole(caller.role),
                   "; ", method, " is for the role ", NameOfRole(row)),
      absl::StrCat("use credentials of the role ", NameOfRole(row),
                   ", or ask an admin"));
}

absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id,
                         const Credentials& credentials, WallMicros now) {
  if (caller.role != CallerRole::kWorker) return absl::OkStatus();
  const std::string name = WorkerNameOf(worker_id);
  if (caller.subject == name) return absl::OkStatus();
  const bool any = caller.subject.empty();
  if (any && !credentials.HaveSubject(name, now)) return absl::OkStatus();
  return MakeError(
      ErrorId::kWorkerDenied,
      absl::StrCat(any ? "the worker token" : caller.subject,
                   " may not call as ", name),
      any ? "use the credentials that name this worker, or another --id"
          : absl::StrCat("start the worker with --id ",
                         caller.subject.substr(caller.subject.find('/') + 1)));
}

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include "tests/worker/agent/scripted_coordinator.h"

#include <chrono>

#include "base/clock.h"
#include "base/ids.h"
#include "frostline/v1/errors.pb.h"
#include "proto/wire_error.h"
#include "proto/wire_values.h"
#include "tls/certificate.h"
#include "worker/agent/link/rpc_client.h"

namespace frostline::agent {
namespace {

constexpr auto kScriptPatience = std::chrono::seconds(30);
constexpr auto kHeartbeat = std::chrono::milliseconds(50);
constexpr auto kTtl = std::chrono::milliseconds(500);

grpc::Status WireError(ErrorId id) {
  const absl::Status status = MakeError(id, "as the test says", "none");
  v1::ErrorInfo info;
  info.set_domain(proto::kErrorDomain);
  info.set_reason(KindOf(id).reason);
  (*info.mutable_metadata())["id"] = ErrorCode(id);
  v1::StatusDetails details;
  auto* const detail = details.add_details();
  detail->set_type_url(proto::kErrorInfoUrl);
  detail->set_value(info.SerializeAsString());
  return {static_cast<grpc::StatusCode>(status.code()),
          std::string(status.message()), details.SerializeAsString()};
}

std::optional<tls::CertificateFacts> ShownCertificate(
    const grpc::ServerContext& context) {
  const auto shown = context.auth_context()->FindPropertyValues(
      GRPC_X509_PEM_CERT_PROPERTY_NAME);
  if (shown.empty()) return std::nullopt;
  const auto facts = tls::ReadCertificate({shown[0].data(), shown[0].size()});
  if (!facts.ok()) return std::nullopt;
  return *facts;
}

}  // namespace

ScriptedCoordinator::ScriptedCoordinator(
    std::shared_ptr<grpc::ServerCredentials> credentials)
    : credentials_(std::move(credentials)) {
  ComeBack();
}

ScriptedCoordinator::~ScriptedCoordinator() { GoAway(); }

std::string ScriptedCoordinator::address() const {
  return "127.0.0.1:" + std::to_string(port_);
}

void ScriptedCoordinator::GoAway() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    away_ = true;
  }
  changed_.notify_all();
  if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
  server_.reset();
}

void ScriptedCoordinator::ComeBack() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    away_ = false;
    ++life_;
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address(), credentials_, &port_);
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
}

v1::Lease ScriptedCoordinator::LeaseOf(int number, std::int64_t attempt) {
  v1::Lease lease;
  lease.set_trial(TrialNameOf("s", number));
  lease.set_attempt(attempt);
  lease.set_secret("secret-" + std::to_string(number));
  *lease.mutable_ttl() = proto::DurationToProto(kTtl);
  *lease.mutable_heartbeat_interval() = proto::DurationToProto(kHeartbeat);
  lease.mutable_spec()->add_objectives()->set_metric("score");
  return lease;
}

void ScriptedCoordinator::Offer(const v1::Lease& lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  offers_.push_back(lease);
  changed_.notify_all();
}

void ScriptedCoordinator::GrantUnanswered(int number) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, kScriptPatience, [this] { return !parked_.empty(); });
  unanswered_ = parked_;
  granted_[parked_] = LeaseOf(number);
}

void ScriptedCoordinator::WantLogs() {
  const std::lock_guard<std::mutex> lock(mutex_);
  want_logs_ = true;
}

void ScriptedCoordinator::TakeLoad() {
  const std::lock_guard<std::mutex> lock(mutex_);
  takes_load_ = true;
}

void ScriptedCoordinator::TakeProgress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  takes_progress_ = true;
}

void ScriptedCoordinator::HearListeners() {
  const std::lock_guard<std::mutex> lock(mutex_);
  hears_listeners_ = true;
}

void ScriptedCoordinator::Wish(int number, std::optional<std::int64_t> after) {
  v1::LogWish wish;
  wish.set_trial(TrialNameOf("s", number));
  wish.set_attempt(1);
  if (after.has_value()) wish.set_after(*after);
  const std::lock_guard<std::mutex> lock(mutex_);
  wishes_.push_back(wish);
  changed_.notify_all();
}

void ScriptedCoordinator::EndStudy() {
  const std::lock_guard<std::mutex> lock(mutex_);
  study_ended_ = true;
  changed_.notify_all();
}

void ScriptedCoordinator::Direct(int number, v1::Directive::Action action) {
  const std::lock_guard<std::mutex> lock(mutex_);
  directives_[TrialNameOf("s", number)] = action;
}

void ScriptedCoordinator::LoseAnswers(const std::string& method, int count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  lost_answers_[method] = count;
}

void ScriptedCoordinator::Refuse(const std::string& method, ErrorId id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  refusals_[method] = id;
}

Heard ScriptedCoordinator::heard() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return heard_;
}

bool ScriptedCoordinator::Await(
    const std::function<bool(const Heard&)>& condition) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, kScriptPatience,
                           [&] { return condition(heard_); });
}

void ScriptedCoordinator::IssueBy(Issuer issuer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  issuer_ = std::move(issuer);
}

template <typename Request>
grpc::Status ScriptedCoordinator::Note(const grpc::ServerContext& context,
                                       const std::string& method,
                                       const Request& request,
                                       std::vector<Request> Heard::* list) {
  const auto shown = ShownCertificate(context);
  const std::lock_guard<std::mutex> lock(mutex_);
  (heard_.*list).push_back(request);
  heard_.order.push_back(method);
  if (shown.has_value()) heard_.certificates.insert(shown->sha256);
  changed_.notify_all();
  if (issuer_ && method != "Join") {
    if (!shown.has_value()) return WireError(ErrorId::kCredentialsMissing);
    if (shown->expires <= SystemClock().Wall()) {
      return WireError(ErrorId::kCertificateExpired);
    }
  }
  const auto refusal = refusals_.find(method);
  if (refusal != refusals_.end()) {
    const ErrorId id = refusal->second;
    refusals_.erase(refusal);
    return WireError(id);
  }
  if (lost_answers_[method] == 0) return grpc::Status::OK;
  --lost_answers_[method];
  return {grpc::StatusCode::UNAVAILABLE, "the answer is lost"};
}

v1::Directive ScriptedCoordinator::DirectiveFor(const v1::LeaseRef& lease) {
  const std::lock_guard<std::mutex> lock(mutex_);
  v1::Directive directive;
  directive.set_trial(lease.trial());
  directive.set_attempt(lease.attempt());
  const auto found = directives_.find(lease.trial());
  directive.set_action(found == directives_.end() ? v1::Directive::CONTINUE
                                                  : found->second);
  return directive;
}

grpc::Status ScriptedCoordinator::Register(grpc::ServerContext* context,
                                           const v1::RegisterRequest* request,
                                           v1::RegisterReply* reply) {
  *reply->mutable_heartbeat_interval() = proto::DurationToProto(kHeartbeat);
  *reply->mutable_lease_ttl() = proto::DurationToProto(kTtl);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (takes_load_) reply->add_takes("load");
    if (takes_progress_) reply->add_takes("progress");
  }
  return Note(*context, "Register", *request, &Heard::registers);
}

grpc::Status ScriptedCoordinator::Acquire(grpc::ServerContext* context,
                                          const v1::AcquireRequest* request,
                                          v1::AcquireReply* reply) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    parked_ = request->request_id();
    changed_.notify_all();
    const auto end =
        std::chrono::steady_clock::now() +
        std::chrono::nanoseconds(proto::DurationFromProto(request->wait()));
    const auto ready = [&] {
      return away_ || !offers_.empty() || study_ended_ ||
             (granted_.count(request->request_id()) > 0 &&
              unanswered_ != request->request_id());
    };
    // Short waits, because a cancelled call rings no bell.
    while (!ready() && !context->IsCancelled() &&
           std::chrono::steady_clock::now() < end) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
    const auto before = granted_.find(request->request_id());
    if (before != granted_.end()) {
      *reply->add_leases() = before->second;
    } else if (!offers_.empty() && !away_ && !context->IsCancelled()) {
      *reply->add_leases() = granted_[request->request_id()] = offers_.front();
      offers_.pop_front();
    } else {
      reply->set_none_reason(study_ended_ ? v1::STUDY_ENDED
                                          : v1::BUDGET_REACHED);
    }
  }
  return Note(*context, "Acquire", *request, &Heard::acquires);
}

grpc::Status ScriptedCoordinator::Heartbeat(grpc::ServerContext* context,
                                            const v1::HeartbeatRequest* request,
                                            v1::HeartbeatReply* reply) {
  for (const auto& progress : request->leases()) {
    *reply->add_directives() = DirectiveFor(progress.lease());
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& progress : request->leases()) {
      if (want_logs_) reply->add_want_log(progress.lease().trial());
    }
  }
  return Note(*context, "Heartbeat", *request, &Heard::heartbeats);
}

grpc::Status ScriptedCoordinator::Listen(grpc::ServerContext* context,
                                         const v1::ListenRequest* request,
                                         v1::ListenReply* reply) {
  grpc::Status noted = Note(*context, "Listen", *request, &Heard::listens);
  std::unique_lock<std::mutex> lock(mutex_);
  if (!hears_listeners_) return {grpc::StatusCode::UNIMPLEMENTED, ""};
  // What was seen of another life of the coordinator counts for nothing.
  const std::string life = std::to_string(life_) + ".";
  const std::size_t seen = request->seen().starts_with(life)
                               ? std::stoul(request->seen().substr(life.size()))
                               : 0;
  // Short waits, because a cancelled call rings no bell.
  while (!away_ && !context->IsCancelled() && wishes_.size() <= seen) {
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  for (std::size_t i = seen; i < wishes_.size(); ++i) {
    *reply->add_wishes() = wishes_[i];
  }
  reply->set_seen(life + std::to_string(wishes_.size()));
  return noted;
}

grpc::Status ScriptedCoordinator::Report(grpc::ServerContext* context,
                                         const v1::ReportRequest* request,
                                         v1::ReportReply* reply) {
  *reply->mutable_directive() = DirectiveFor(request->lease());
  return Note(*context, "Report", *request, &Heard::reports);
}

grpc::Status ScriptedCoordinator::Finish(grpc::ServerContext* context,
                                         const v1::FinishRequest* request,
                                         v1::FinishReply* reply) {
  reply->set_verdict(v1::FinishReply::ACCEPTED);
  return Note(*context, "Finish", *request, &Heard::finishes);
}

grpc::Status ScriptedCoordinator::Release(grpc::ServerContext* context,
                                          const v1::ReleaseRequest* request,
                                          v1::ReleaseReply*) {
  return Note(*context, "Release", *request, &Heard::releases);
}

grpc::Status ScriptedCoordinator::Answer(const std::string& request_id,
                                         const std::string& request_pem,
                                         v1::JoinReply* reply) {
  Issuer issuer;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    issuer = issuer_;
  }
  if (!issuer) return {grpc::StatusCode::UNIMPLEMENTED, ""};
  const auto issued = issuer(request_id, request_pem);
  if (!issued.ok()) return WireError(DetailOf(issued.status())->id);
  *reply = *issued;
  return grpc::Status::OK;
}

grpc::Status ScriptedCoordinator::Join(grpc::ServerContext* context,
                                       const v1::JoinRequest* request,
                                       v1::JoinReply* reply) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto token = context->client_metadata().find("authorization");
    heard_.tokens.emplace_back(
        token == context->client_metadata().end()
            ? ""
            : std::string(token->second.data(), token->second.size()));
  }
  const grpc::Status answered =
      Answer(request->request_id(), request->certificate_request(), reply);
  grpc::Status noted = Note(*context, "Join", *request, &Heard::joins);
  return noted.ok() ? answered : noted;
}

grpc::Status ScriptedCoordinator::RenewCertificate(
    grpc::ServerContext* context, const v1::RenewCertificateRequest* request,
    v1::JoinReply* reply) {
  grpc::Status noted =
      Note(*context, "RenewCertificate", *request, &Heard::renewals);
  if (!noted.ok()) return noted;
  return Answer(request->request_id(), request->certificate_request(), reply);
}

}  // namespace frostline::agent

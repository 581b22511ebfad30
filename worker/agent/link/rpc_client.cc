// SPDX-License-Identifier: Apache-2.0
#include "worker/agent/link/rpc_client.h"

#include <chrono>
#include <utility>

#include "proto/wire_error.h"
#include "proto/wire_values.h"

namespace frostline::agent {
namespace {

constexpr Duration kCallDeadline = std::chrono::seconds(10);
// An agent that ends does not wait for long.
constexpr Duration kLastDeadline = std::chrono::seconds(2);
// The coordinator asks for one second; a slow network gets nine more.
constexpr Duration kAcquireExtra = std::chrono::seconds(10);
// A coordinator that is back should be found within seconds.
constexpr int kFirstReconnectMs = 200;
constexpr int kLongestReconnectMs = 5'000;
// A coordinator to which thousands come back at once takes its time.
constexpr int kLongestConnectMs = 20'000;
// Finds a connection that was cut without notice, and keeps a NAT from
// forgetting one on which a worker waits. The coordinator allows it.
constexpr int kKeepaliveMs = 10'000;
constexpr int kKeepaliveTimeoutMs = 15'000;

std::shared_ptr<grpc::Channel> MakeChannel(const std::string& address,
                                           const tls::Access& access) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstReconnectMs);
  // Despite its name this is how long one attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kLongestConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // We retry ourselves: with the same request id, and only until the agent
  // stops.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return grpc::CreateCustomChannel(address, access.credentials(), arguments);
}

}  // namespace

// A call under way, known to the client so that it can be cancelled.
class RpcClient::Call {
 public:
  Call(RpcClient& client, Duration deadline, bool acquires)
      : is_acquire(acquires), client_(client) {
    context.set_deadline(
        std::chrono::system_clock::now() +
        std::chrono::duration_cast<std::chrono::microseconds>(deadline));
    const MutexLock lock(&client_.mutex_);
    client_.calls_.insert(this);
    if (client_.no_calls_ || (is_acquire && client_.no_acquires_)) {
      context.TryCancel();
    }
  }
  ~Call() {
    const MutexLock lock(&client_.mutex_);
    client_.calls_.erase(this);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  grpc::ClientContext context;
  const bool is_acquire;

 private:
  RpcClient& client_;
};

bool WorthRetrying(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return false;
    default:
      return true;
  }
}

bool IsDenied(const absl::Status& status) {
  return absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status);
}

RpcClient::RpcClient(const std::string& address, tls::Access access,
                     DeniedHandler on_denied)
    : address_(address),
      on_denied_(std::move(on_denied)),
      connection_(MakeConnection(std::move(access))) {}

std::shared_ptr<RpcClient::Connection> RpcClient::MakeConnection(
    tls::Access access) const {
  auto stub = v1::WorkerService::NewStub(MakeChannel(address_, access));
  return std::make_shared<Connection>(
      Connection{std::move(access), std::move(stub)});
}

std::shared_ptr<RpcClient::Connection> RpcClient::connection() const {
  const MutexLock lock(&mutex_);
  return connection_;
}

void RpcClient::Reconnect(tls::Access access) {
  std::shared_ptr<Connection> fresh = MakeConnection(std::move(access));
  const MutexLock lock(&mutex_);
  // The old connection is destroyed after the lock, since that may take a
  // while.
  connection_.swap(fresh);
}

tls::Access RpcClient::access() const { return connection()->access; }

template <typename Reply, typename Method, typename Request>
absl::StatusOr<Reply> RpcClient::Try(Method method, const Request& request,
                                     Duration deadline, bool is_acquire) {
  const std::shared_ptr<Connection> way = this->connection();
  Call call(*this, deadline, is_acquire);
  way->access.ShowToken(&call.context);
  if constexpr (requires { request.lease(); }) {
    call.context.AddMetadata(
        kTraceparent,
        FormatTraceparent(proto::TraceOfAttempt(request.lease())));
  }
  Reply reply;
  absl::Status status = proto::FromGrpcStatus(
      ((*way->stub).*method)(&call.context, request, &reply));
  if (IsDenied(status) && on_denied_) on_denied_(status);
  if (!status.ok()) return status;
  return reply;
}

absl::StatusOr<v1::RegisterReply> RpcClient::Register(
    const v1::RegisterRequest& request) {
  return Try<v1::RegisterReply>(&v1::WorkerService::Stub::Register, request,
                                kCallDeadline, false);
}

absl::StatusOr<v1::AcquireReply> RpcClient::Acquire(
    const v1::AcquireRequest& request) {
  return Try<v1::AcquireReply>(
      &v1::WorkerService::Stub::Acquire, request,
      proto::DurationFromProto(request.wait()) + kAcquireExtra, true);
}

absl::StatusOr<v1::AcquireReply> RpcClient::AcquireNow(
    const v1::AcquireRequest& request) {
  return Try<v1::AcquireReply>(&v1::WorkerService::Stub::Acquire, request,
                               kLastDeadline, false);
}

absl::StatusOr<v1::HeartbeatReply> RpcClient::Heartbeat(
    const v1::HeartbeatRequest& request, Duration deadline) {
  return Try<v1::HeartbeatReply>(&v1::WorkerService::Stub::Heartbeat, request,
                                 deadline, false);
}

absl::StatusOr<v1::ListenReply> RpcClient::Listen(
    const v1::ListenRequest& request) {
  return Try<v1::ListenReply>(
      &v1::WorkerService::Stub::Listen, request,
      proto::DurationFromProto(request.wait()) + kAcquireExtra, false);
}

absl::StatusOr<v1::SendPredictionsReply> RpcClient::SendPredictions(
    const v1::SendPredictionsRequest& request) {
  return Try<v1::SendPredictionsReply>(
      &v1::WorkerService::Stub::SendPredictions, request, kCallDeadline, false);
}

absl::StatusOr<v1::ReportReply> RpcClient::Report(
    const v1::ReportRequest& request) {
  return Try<v1::ReportReply>(&v1::WorkerService::Stub::Report, request,
                              kCallDeadline, false);
}

absl::StatusOr<v1::FinishReply> RpcClient::Finish(
    const v1::FinishRequest& request) {
  return Try<v1::FinishReply>(&v1::WorkerService::Stub::Finish, request,
                              kCallDeadline, false);
}

absl::StatusOr<v1::ReleaseReply> RpcClient::Release(
    const v1::ReleaseRequest& request) {
  return Try<v1::ReleaseReply>(&v1::WorkerService::Stub::Release, request,
                               kCallDeadline, false);
}

absl::StatusOr<v1::JoinReply> RpcClient::Join(const v1::JoinRequest& request) {
  return Try<v1::JoinReply>(&v1::WorkerService::Stub::Join, request,
                            kCallDeadline, false);
}

absl::StatusOr<v1::JoinReply> RpcClient::RenewCertificate(
    const v1::RenewCertificateRequest& request) {
  return Try<v1::JoinReply>(&v1::WorkerService::Stub::RenewCertificate, request,
                            kCallDeadline, false);
}

void RpcClient::CancelAcquires() {
  const MutexLock lock(&mutex_);
  no_acquires_ = true;
  for (Call* call : calls_) {
    if (call->is_acquire) call->context.TryCancel();
  }
}

void RpcClient::CancelAll() {
  const MutexLock lock(&mutex_);
  no_calls_ = true;
  for (Call* call : calls_) call->context.TryCancel();
}

}  // namespace frostline::agent

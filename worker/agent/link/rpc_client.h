// SPDX-License-Identifier: Apache-2.0
//
// File: rpc_client.h
//
// The agent's side of WorkerService. All threads share one channel, every call
// has a deadline, and errors are Frostline's. A call is tried once; the caller
// repeats it, with the same request id (Backoff in base/clock.h).
#ifndef FROSTLINE_WORKER_AGENT_LINK_RPC_CLIENT_H_
#define FROSTLINE_WORKER_AGENT_LINK_RPC_CLIENT_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "tls/credentials.h"

namespace frostline::agent {

// Says whether a failed request may succeed when it is repeated. It does not
// for an invalid field, a lost lease, an unknown name or wrong credentials.
bool WorthRetrying(const absl::Status& status);

// Says whether the coordinator refused the caller, not the request: no
// repetition helps, and nothing is decided about the request.
bool IsDenied(const absl::Status& status);

// A client of the coordinator. It is thread-safe.
class RpcClient {
 public:
  using DeniedHandler = std::function<void(const absl::Status&)>;

  // `address` is HOST:PORT. The client connects at the first call, and again by
  // itself. It calls `on_denied` for each denied call, on that call's thread.
  explicit RpcClient(const std::string& address, tls::Access access = {},
                     DeniedHandler on_denied = nullptr);

  absl::StatusOr<v1::RegisterReply> Register(
      const v1::RegisterRequest& request);
  // Answers within `request.wait` and 10 s.
  absl::StatusOr<v1::AcquireReply> Acquire(const v1::AcquireRequest& request);
  // Asks without waiting. CancelAcquires() does not cancel it.
  absl::StatusOr<v1::AcquireReply> AcquireNow(
      const v1::AcquireRequest& request);
  absl::StatusOr<v1::HeartbeatReply> Heartbeat(
      const v1::HeartbeatRequest& request, Duration deadline);
  // Answers within `request.wait` and 10 s.
  absl::StatusOr<v1::ListenReply> Listen(const v1::ListenRequest& request);
  absl::StatusOr<v1::SendPredictionsReply> SendPredictions(
      const v1::SendPredictionsRequest& request);
  absl::StatusOr<v1::ReportReply> Report(const v1::ReportRequest& request);
  absl::StatusOr<v1::FinishReply> Finish(const v1::FinishRequest& request);
  absl::StatusOr<v1::ReleaseReply> Release(const v1::ReleaseRequest& request);
  absl::StatusOr<v1::JoinReply> Join(const v1::JoinRequest& request);
  absl::StatusOr<v1::JoinReply> RenewCertificate(
      const v1::RenewCertificateRequest& request);

  // Sends later calls over a new connection; those under way end on the old
  // one.
  void Reconnect(tls::Access access);
  tls::Access access() const;

  // Make calls under way and later ones fail with CANCELLED, so that nobody
  // waits half a minute when the agent ends. The first cancels Acquire() alone.
  void CancelAcquires();
  void CancelAll();

 private:
  class Call;
  // A connection, and what each call over it carries.
  struct Connection {
    tls::Access access;
    std::unique_ptr<v1::WorkerService::Stub> stub;
  };

  std::shared_ptr<Connection> MakeConnection(tls::Access access) const;
  std::shared_ptr<Connection> connection() const;
  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> Try(Method method, const Request& request,
                            Duration deadline, bool is_acquire);

  const std::string address_;
  const DeniedHandler on_denied_;
  mutable Mutex mutex_;
  std::shared_ptr<Connection> connection_ ABSL_GUARDED_BY(mutex_);
  std::set<Call*> calls_ ABSL_GUARDED_BY(mutex_);
  bool no_acquires_ ABSL_GUARDED_BY(mutex_) = false;
  bool no_calls_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_RPC_CLIENT_H_

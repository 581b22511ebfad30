// SPDX-License-Identifier: Apache-2.0
//
// File: rpc_client.h
//
// The agent's side of WorkerService has one channel for all threads, a deadline
// on every call, and Frostline's errors. A call is tried once; callers repeat
// it with the same request id (base/clock.h). It is thread-safe.
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

// It is false where the same request gets the same answer: an invalid field, a
// lost lease, an unknown name, credentials that do not do.
bool WorthRetrying(const absl::Status& status);

// It is true where the coordinator does not take the caller for who it has to
// be: no repetition helps, and nothing of the request is settled.
bool IsDenied(const absl::Status& status);

class RpcClient {
 public:
  using DeniedHandler = std::function<void(const absl::Status&)>;

  // `address` is HOST:PORT. It connects when first used, and again by itself.
  // `on_denied` hears of each call that was denied, on its thread.
  explicit RpcClient(const std::string& address, tls::Access access = {},
                     DeniedHandler on_denied = nullptr);

  absl::StatusOr<v1::RegisterReply> Register(
      const v1::RegisterRequest& request);
  // Answers within `request.wait` and 10 s.
  absl::StatusOr<v1::AcquireReply> Acquire(const v1::AcquireRequest& request);
  // Asks without waiting; CancelAcquires leaves it alone.
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

  // Later calls go over a new connection; those under way end on the old one.
  void Reconnect(tls::Access access);
  tls::Access access() const;

  // Calls under way and later ones fail with CANCELLED, so that nobody waits
  // half a minute at the end.
  void CancelAcquires();
  void CancelAll();

 private:
  class Call;
  // A connection, and what each call over it carries.
  struct Way {
    tls::Access access;
    std::unique_ptr<v1::WorkerService::Stub> stub;
  };

  std::shared_ptr<Way> MakeWay(tls::Access access) const;
  std::shared_ptr<Way> way() const;
  template <typename Reply, typename Method, typename Request>
  absl::StatusOr<Reply> Try(Method method, const Request& request,
                            Duration deadline, bool is_acquire);

  const std::string address_;
  const DeniedHandler on_denied_;
  mutable Mutex mutex_;
  std::shared_ptr<Way> way_ ABSL_GUARDED_BY(mutex_);
  std::set<Call*> calls_ ABSL_GUARDED_BY(mutex_);
  bool no_acquires_ ABSL_GUARDED_BY(mutex_) = false;
  bool no_calls_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_WORKER_AGENT_LINK_RPC_CLIENT_H_

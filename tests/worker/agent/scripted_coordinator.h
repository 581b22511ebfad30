// SPDX-License-Identifier: Apache-2.0
//
// File: scripted_coordinator.h
//
// A coordinator that does as a test says: a real gRPC server on loopback which
// keeps all it heard. It decides nothing; the rules of leases are tested with
// the real one.
#ifndef FROSTLINE_TESTS_WORKER_AGENT_SCRIPTED_COORDINATOR_H_
#define FROSTLINE_TESTS_WORKER_AGENT_SCRIPTED_COORDINATOR_H_

#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/error.h"
#include "frostline/v1/worker_service.grpc.pb.h"

namespace frostline::agent {

struct Heard {
  std::vector<std::string> order;  // "Register", "Acquire", "Report", …
  std::vector<v1::RegisterRequest> registers;
  std::vector<v1::AcquireRequest> acquires;
  std::vector<v1::HeartbeatRequest> heartbeats;
  std::vector<v1::ListenRequest> listens;
  std::vector<v1::ReportRequest> reports;
  std::vector<v1::FinishRequest> finishes;
  std::vector<v1::ReleaseRequest> releases;
  std::vector<v1::JoinRequest> joins;
  std::vector<v1::RenewCertificateRequest> renewals;
  std::vector<std::string> tokens;     // of each Join
  std::set<std::string> certificates;  // fingerprints that callers showed
};

class ScriptedCoordinator final : public v1::WorkerService::Service {
 public:
  // Answers a Join or a RenewCertificate; with an error it is refused.
  using Issuer = std::function<absl::StatusOr<v1::JoinReply>(
      const std::string& request_id, const std::string& request_pem)>;

  explicit ScriptedCoordinator(
      std::shared_ptr<grpc::ServerCredentials> credentials =
          grpc::InsecureServerCredentials());
  ~ScriptedCoordinator() override;

  std::string address() const;
  void GoAway();
  void ComeBack();

  // A lease of trial `number`, with the objective "score".
  static v1::Lease LeaseOf(int number, std::int64_t attempt = 1);
  // For the next Acquire.
  void Offer(int number) { Offer(LeaseOf(number)); }
  void Offer(const v1::Lease& lease);
  // To the Acquire that waits, as soon as one does; its answer never comes.
  void GrantUnanswered(int number);
  // Acquire says STUDY_ENDED once nothing is on offer.
  void EndStudy();
  // What heartbeats and reports of trial `number` are answered with.
  void Direct(int number, v1::Directive::Action action);
  // From here on registrations are told that heartbeats may carry the load.
  void TakeLoad();
  // The same of how far trials are.
  void TakeProgress();
  // Somebody follows the logs of all trials: every heartbeat's answer asks.
  void WantLogs();
  // From here on it serves Listen, which it does not know at first.
  void HearListeners();
  // Somebody wants the log of trial `number`: as it is, or beyond `after`.
  void Wish(int number, std::optional<std::int64_t> after = {});
  // The next `count` calls of `method` are heard, but their answers are lost.
  void LoseAnswers(const std::string& method, int count);
  // From here on callers need a certificate that holds now, at each call.
  void IssueBy(Issuer issuer);
  // The next call of `method` is refused.
  void Refuse(const std::string& method, ErrorId id);

  Heard heard() const;
  // False when it has not come about in time.
  bool Await(const std::function<bool(const Heard&)>& condition);

 private:
  grpc::Status Register(grpc::ServerContext*, const v1::RegisterRequest*,
                        v1::RegisterReply*) override;
  grpc::Status Acquire(grpc::ServerContext*, const v1::AcquireRequest*,
                       v1::AcquireReply*) override;
  grpc::Status Heartbeat(grpc::ServerContext*, const v1::HeartbeatRequest*,
                         v1::HeartbeatReply*) override;
  grpc::Status Listen(grpc::ServerContext*, const v1::ListenRequest*,
                      v1::ListenReply*) override;
  grpc::Status Report(grpc::ServerContext*, const v1::ReportRequest*,
                      v1::ReportReply*) override;
  grpc::Status Finish(grpc::ServerContext*, const v1::FinishRequest*,
                      v1::FinishReply*) override;
  grpc::Status Release(grpc::ServerContext*, const v1::ReleaseRequest*,
                       v1::ReleaseReply*) override;
  grpc::Status Join(grpc::ServerContext*, const v1::JoinRequest*,
                    v1::JoinReply*) override;
  grpc::Status RenewCertificate(grpc::ServerContext*,
                                const v1::RenewCertificateRequest*,
                                v1::JoinReply*) override;
  template <typename Request>
  grpc::Status Note(const grpc::ServerContext& context,
                    const std::string& method, const Request& request,
                    std::vector<Request> Heard::* list);
  grpc::Status Answer(const std::string& request_id,
                      const std::string& request_pem, v1::JoinReply* reply);
  v1::Directive DirectiveFor(const v1::LeaseRef& lease);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Heard heard_;
  std::deque<v1::Lease> offers_;
  // By request id, as the real one: a repeated Acquire gets the same lease.
  std::map<std::string, v1::Lease> granted_;
  std::string parked_;      // the id of the newest Acquire that waits
  std::string unanswered_;  // the one that does so for ever
  bool want_logs_ = false;
  bool hears_listeners_ = false;
  bool takes_load_ = false;
  bool takes_progress_ = false;
  std::vector<v1::LogWish> wishes_;
  std::map<std::string, v1::Directive::Action> directives_;
  std::map<std::string, int> lost_answers_;
  std::map<std::string, ErrorId> refusals_;
  bool study_ended_ = false;
  bool away_ = false;
  int life_ = 0;  // how often it came
  Issuer issuer_;
  const std::shared_ptr<grpc::ServerCredentials> credentials_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace frostline::agent

#endif  // FROSTLINE_TESTS_WORKER_AGENT_SCRIPTED_COORDINATOR_H_

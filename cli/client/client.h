// SPDX-License-Identifier: Apache-2.0
//
// File: client.h
//
// Every error is one of ours (base/error.h), with an id, a fix and an exit
// code.
#ifndef FROSTLINE_CLI_CLIENT_CLIENT_H_
#define FROSTLINE_CLI_CLIENT_CLIENT_H_

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "frostline/v1/admin_service.grpc.pb.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "tls/credentials.h"

namespace frostline::cli {

// It is thread-safe.
class Client {
 public:
  // Answers REQUEST_INVALID when `address` is neither HOST:PORT nor unix:PATH,
  // and what tls::Access::Open() answers. The first call connects.
  static absl::StatusOr<std::unique_ptr<Client>> Open(
      const std::string& address, const tls::AccessFiles& files = {});
  // The same for credentials that are in no files yet. It is the caller's to
  // keep a token from the wrong coordinator.
  static absl::StatusOr<std::unique_ptr<Client>> Open(
      const std::string& address, tls::Access access);

  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> Call(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                          const Request&,
                                                          Reply*),
                             const Request& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline_);
    access_.ShowToken(&context);
    Reply reply;
    Stub& stub = *std::get<std::unique_ptr<Stub>>(stubs_);
    const grpc::Status status = (stub.*method)(&context, request, &reply);
    if (!status.ok()) return Explain(status);
    return reply;
  }

  // Asks for every page of a list; the answer has them as one. The next page
  // is on its way while the last one is taken.
  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> CallForAll(
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Reply*),
      Request request) {
    request.set_page_size(kMostInPage);
    absl::StatusOr<Reply> all = Call(method, request);
    if (!all.ok()) return all;
    std::string token = all->next_page_token();
    std::future<absl::StatusOr<Reply>> next;
    const auto ask = [&] {
      request.set_page_token(token);
      next = std::async(std::launch::async, [this, method, request] {
        return Call(method, request);
      });
    };
    if (!token.empty()) ask();
    while (next.valid()) {
      const absl::StatusOr<Reply> page = next.get();
      if (!page.ok()) return page.status();
      token = page->next_page_token();
      if (!token.empty()) ask();
      all->MergeFrom(*page);
    }
    all->clear_next_page_token();
    return all;
  }

  // Calls a method of the contract that is known by its descriptor alone. Each
  // reply is handed on, the only one too; what on_reply answers ends the call.
  // A stream has no deadline. REQUIRES: the messages are the method's.
  absl::Status CallByName(const google::protobuf::MethodDescriptor& method,
                          const google::protobuf::Message& request,
                          google::protobuf::Message* reply,
                          const std::function<absl::Status()>& on_reply);

  // A coordinator on this machine that refuses the connection may just be
  // starting: waits for it, and says so on standard error after half a second.
  // Says whether it is there; of other machines it answers true at once.
  bool AwaitStart(Duration longest);

  // Calls wait no longer from now on. It is not for several threads.
  void LimitCalls(std::chrono::milliseconds longest) { deadline_ = longest; }

  v1::StudyService::Stub& studies() { return *std::get<0>(stubs_); }
  const std::string& address() const { return address_; }
  // For calls that are made on a stub itself.
  void ShowToken(grpc::ClientContext* context) const {
    access_.ShowToken(context);
  }

  // Names this coordinator's address where it is away.
  absl::Status Explain(const grpc::Status& status) const;

 private:
  static constexpr int kMostInPage = 1000;
  // Importance of a large study takes longest. The coordinator's own limit is
  // 60 s, and its answer then says more than ours.
  static constexpr std::chrono::seconds kDeadline{65};

  Client(const std::string& address, tls::Access access,
         const std::shared_ptr<grpc::Channel>& channel);

  std::string address_;
  std::chrono::milliseconds deadline_ = kDeadline;
  tls::Access access_;
  std::shared_ptr<grpc::Channel> channel_;
  std::tuple<std::unique_ptr<v1::StudyService::Stub>,
             std::unique_ptr<v1::WorkerService::Stub>,
             std::unique_ptr<v1::ImportanceService::Stub>,
             std::unique_ptr<v1::AdminService::Stub>>
      stubs_;
};

// A coordinator that does not answer at `address`. `said` is what gRPC says of
// it, which is told in plain words where it is known. The fix starts one at
// this very address, where that is on this machine.
absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_CLIENT_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: client.h
//
// The calls of a command to the coordinator. Every error comes from the list in
// base/error.h, with an id, a fix and an exit code.
#ifndef FROSTLINE_CLI_CLIENT_CLIENT_H_
#define FROSTLINE_CLI_CLIENT_CLIENT_H_

#include <google/protobuf/message.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/ids.h"
#include "frostline/v1/admin_service.grpc.pb.h"
#include "frostline/v1/importance_service.grpc.pb.h"
#include "frostline/v1/study_service.grpc.pb.h"
#include "frostline/v1/worker_service.grpc.pb.h"
#include "tls/credentials.h"

namespace frostline::cli {

// Returns the stream for notes beside the answer, such as what is waited for
// and what comes next. This is standard error; after SilenceNotes() the notes
// are dropped. Questions to a person and errors are not notes.
std::ostream& Notes();

// Drops all notes from now on. It is for callers that asked for JSON: standard
// error then holds JSON or nothing.
void SilenceNotes();

// A connection to one coordinator. It is thread-safe.
class Client {
 public:
  // Prepares a client for `address`; the first call connects. Returns
  // REQUEST_INVALID when `address` is neither HOST:PORT nor unix:PATH, and the
  // errors of tls::Access::Open().
  static absl::StatusOr<std::unique_ptr<Client>> Open(
      const std::string& address, const tls::AccessFiles& files = {});
  // Does the same with credentials that are not in files yet. The caller makes
  // sure that a token does not reach the wrong coordinator.
  static absl::StatusOr<std::unique_ptr<Client>> Open(
      const std::string& address, tls::Access access);

  // A request that changes something, and has no id, is given one.
  template <typename Stub, typename Request, typename Reply>
  absl::StatusOr<Reply> Call(grpc::Status (Stub::*method)(grpc::ClientContext*,
                                                          const Request&,
                                                          Reply*),
                             const Request& request) {
    if constexpr (requires(Request r) { r.set_request_id(""); }) {
      if (request.request_id().empty()) {
        Request named = request;
        named.set_request_id(NewRequestId(SystemClock()));
        return Call(method, named);
      }
    }
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline_);
    access_.ShowToken(&context);
    Reply reply;
    Stub& stub = *std::get<std::unique_ptr<Stub>>(stubs_);
    const grpc::Status status = (stub.*method)(&context, request, &reply);
    if (!status.ok()) return Explain(status);
    return reply;
  }

  // Fetches every page of a list and returns them as one answer. It requests
  // the next page before it has taken over the last one.
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

  // Calls a method of the contract that is known only by its descriptor. Passes
  // each reply to `on_reply`, also where there is only one; an error from
  // `on_reply` ends the call. A stream has no deadline. REQUIRES: the messages
  // are the method's.
  absl::Status CallByName(const google::protobuf::MethodDescriptor& method,
                          const google::protobuf::Message& request,
                          google::protobuf::Message* reply,
                          const std::function<absl::Status()>& on_reply);

  // Waits for a coordinator on this machine that refuses the connection,
  // because it may be starting. Says so on standard error after half a second.
  // Returns whether it is there; returns true at once for other machines.
  bool AwaitStart(Duration longest);

  // Shortens the deadline of all later calls. It is not thread-safe.
  void LimitCalls(std::chrono::milliseconds longest) { deadline_ = longest; }

  v1::StudyService::Stub& studies() { return *std::get<0>(stubs_); }
  const std::string& address() const { return address_; }
  // Adds the token to the context of a call that is made on a stub directly.
  void ShowToken(grpc::ClientContext* context) const {
    access_.ShowToken(context);
  }

  // Turns a status of gRPC into an error of ours. If the coordinator does not
  // answer, the error names its address.
  absl::Status Explain(const grpc::Status& status) const;

 private:
  static constexpr int kMostInPage = 1000;
  // The deadline of a call. Importance of a large study takes longest. The
  // coordinator's own limit is 60 s, and its answer then says more than ours.
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

// What many verbs ask.

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name);

absl::StatusOr<v1::Trial> FetchTrial(
    Client& client, const std::string& name,
    v1::TrialView view = v1::TRIAL_VIEW_UNSPECIFIED);

// Fetches all trials that match the filter.
absl::StatusOr<v1::ListTrialsReply> FetchTrials(
    Client& client, const std::string& study, const std::string& filter,
    v1::TrialView view = v1::TRIAL_VIEW_UNSPECIFIED);

// Fetches the best trial. With several objectives it fetches all trials that no
// other trial dominates.
absl::StatusOr<v1::ListBestTrialsReply> FetchBestTrials(
    Client& client, const std::string& study);

// Fetches the best trial in the FULL view. With several objectives it is the
// first of the best trials.
absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study);

absl::StatusOr<v1::ListWorkersReply> FetchWorkers(Client& client);
absl::StatusOr<v1::ListTokensReply> FetchTokens(Client& client);

// Returns the error for a coordinator that does not answer at `address`. `said`
// is the message of gRPC; known messages are put in plain words. If the address
// is on this machine, the fix is the command that starts a coordinator there.
absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said);

}  // namespace frostline::cli

#endif  // FROSTLINE_CLI_CLIENT_CLIENT_H_

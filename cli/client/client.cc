// SPDX-License-Identifier: Apache-2.0
#include "cli/client/client.h"

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/address.h"
#include "proto/wire_error.h"
#include "tls/credentials.h"

namespace frostline::cli {
namespace {

std::atomic<bool> silent{false};

}  // namespace

std::ostream& Notes() {
  // A stream without a buffer takes everything and keeps nothing.
  static auto* const nowhere = new std::ostream(nullptr);
  return silent ? *nowhere : std::cerr;
}

void SilenceNotes() { silent = true; }

namespace {

// The limit for one reply, enough for a page of a thousand trials of a wide
// space.
constexpr int kMaxReplyBytes = 64 << 20;
// The first pause before a refused connection is tried again.
constexpr int kFirstPauseMs = 100;
// The longest pause, so that a coordinator that starts is noticed within a
// second.
constexpr int kLongestPauseMs = 1'000;
// The longest time for a connection: TLS to another continent is slow.
constexpr int kLongestConnectMs = 20'000;
constexpr std::size_t kMaxAddressBytes = 100;
// After this wait a note says what the command waits for.
constexpr Duration kQuietWait = std::chrono::milliseconds(500);

// Returns whether the status comes from another HTTP server. These are gRPC's
// own messages for an HTTP answer that is not gRPC. Errors of a coordinator
// always have an id.
bool IsAnotherServer(const grpc::Status& status) {
  if (!status.error_details().empty()) return false;
  const std::string& said = status.error_message();
  return absl::StrContains(said, "http2 header with status") ||
         absl::StrContains(said, "http1.x server") ||
         absl::StrContains(said, "Failed parsing HTTP/2");
}

absl::Status CheckAddress(const std::string& address) {
  if (IsAddress(address)) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("'", proto::CleanText(address, kMaxAddressBytes),
                   "' is no address of a coordinator"),
      "write --connect HOST:PORT, e.g. 127.0.0.1:7070", "connect");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Client>> Client::Open(
    const std::string& address, const tls::AccessFiles& files) {
  RETURN_IF_ERROR(CheckAddress(address));
  ASSIGN_OR_RETURN(tls::Access access,
                   tls::Access::Open(files, address, SystemClock()));
  return Open(address, std::move(access));
}

absl::StatusOr<std::unique_ptr<Client>> Client::Open(const std::string& address,
                                                     tls::Access access) {
  RETURN_IF_ERROR(CheckAddress(address));
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxReplyBytes);
  // A proxy meant for the web does not lead to a coordinator.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kFirstPauseMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLongestPauseMs);
  // In spite of its name: how long one attempt to connect may take.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kLongestConnectMs);
  const auto channel =
      grpc::CreateCustomChannel(address, access.credentials(), arguments);
  return std::unique_ptr<Client>(
      new Client(address, std::move(access), channel));
}

Client::Client(const std::string& address, tls::Access access,
               const std::shared_ptr<grpc::Channel>& channel)
    : address_(address),
      access_(std::move(access)),
      channel_(channel),
      stubs_(v1::StudyService::NewStub(channel),
             v1::WorkerService::NewStub(channel),
             v1::ImportanceService::NewStub(channel),
             v1::AdminService::NewStub(channel)) {}

bool Client::AwaitStart(Duration longest) {
  if (!tls::IsLocalAddress(address_)) return true;
  const auto begin = std::chrono::system_clock::now();
  if (channel_->WaitForConnected(begin + std::min(longest, kQuietWait))) {
    return true;
  }
  if (longest <= kQuietWait) return false;
  Notes() << "waiting for a coordinator at "
          << proto::CleanText(address_, kMaxAddressBytes) << " …\n"
          << std::flush;
  return channel_->WaitForConnected(begin + longest);
}

absl::Status Client::Explain(const grpc::Status& status) const {
  absl::Status error = proto::FromGrpcStatus(status);
  if (IsAnotherServer(status)) {
    return MakeError(
        ErrorId::kCoordinatorAway,
        absl::StrCat("what answers at ", address_,
                     " is not a Frostline coordinator (",
                     proto::CleanText(status.error_message(), 200), ")"),
        "name the coordinator with --connect HOST:PORT");
  }
  if (HasErrorId(error, ErrorId::kCoordinatorAway)) {
    return CoordinatorAway(address_, status.error_message());
  }
  const bool is_ours = absl::IsDeadlineExceeded(error) &&
                       !HasErrorId(error, ErrorId::kDeadlinePassed);
  if (!is_ours) return error;
  const std::chrono::duration<double> limit = deadline_;
  return MakeError(
      ErrorId::kDeadlinePassed,
      absl::StrCat(address_, " has not answered in ", limit.count(), " s"),
      "it may be busy: see `frostline status`, and ask again");
}

namespace {

// The address where `serve` listens and commands connect by default.
constexpr char kUsual[] = "127.0.0.1:7070";
constexpr std::size_t kMostSaid = 200;

constexpr char kBrokenOff[] = " has broken off the connection";

struct Known {
  const char* words;   // of gRPC or the system
  const char* before;  // the address
  const char* behind;
};

constexpr Known kKnown[] = {
    {"Connection refused", "nothing listens at ", ""},
    {"No such file or directory", "there is no socket at ", ""},
    {"DNS resolution failed", "", ": there is no machine of this name"},
    {"No route to host", "no way leads to ", ""},
    {"Network is unreachable", "no way leads to ", ""},
    {"Connection reset", "", kBrokenOff},
    {"Socket closed", "", kBrokenOff},
    {"timed out", "", " has not answered in time"},
    {"Timeout", "", " has not answered in time"},
    {"Deadline", "", " has not answered in time"},
};

std::string Cause(const std::string& address, const std::string& said) {
  for (const Known& known : kKnown) {
    if (absl::StrContains(said, known.words)) {
      return absl::StrCat(known.before, address, known.behind);
    }
  }
  return absl::StrCat("no coordinator answers at ", address, " (",
                      proto::CleanText(said, kMostSaid), ")");
}

// Returns whether the server may accept only TLS: such a server closes
// plaintext connections.
bool MaySpeakTls(const std::string& address, const std::string& cause) {
  return absl::EndsWith(cause, kBrokenOff) &&
         !absl::StartsWith(address, "unix:");
}

// Returns the fix. A coordinator on another machine cannot be started from
// here.
std::string Fix(const std::string& address, const std::string& cause) {
  const char* const other = "name another with --connect HOST:PORT";
  const char* const by_tls =
      MaySpeakTls(address, cause)
          ? "if it speaks TLS alone, give its CA, --tls-ca FILE; else "
          : "";
  if (!tls::IsLocalAddress(address)) {
    return absl::StrCat(by_tls, "see that it runs there, or ", other);
  }
  const bool is_usual = address == kUsual || address == "localhost:7070";
  return absl::StrCat(by_tls, "start one with `frostline serve --data frost",
                      is_usual ? "" : " --listen ", is_usual ? "" : address,
                      "`, or ", other);
}

}  // namespace

absl::Status CoordinatorAway(const std::string& address,
                             const std::string& said) {
  const std::string cause = Cause(address, said);
  return MakeError(ErrorId::kCoordinatorAway, cause, Fix(address, cause));
}

namespace {

// A call that is made step by step and waits for each step.
class Steps {
 public:
  Steps() = default;
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;
  ~Steps() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  grpc::CompletionQueue* queue() { return &queue_; }
  void* tag() { return this; }

  // Whether the step that was begun last succeeded.
  bool Await() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

 private:
  grpc::CompletionQueue queue_;
};

absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* reply) {
  grpc::Slice slice;
  const bool is_read =
      bytes.DumpToSingleSlice(&slice).ok() &&
      reply->ParseFromArray(slice.begin(), static_cast<int>(slice.size()));
  if (is_read) return absl::OkStatus();
  return MakeError(
      ErrorId::kInternal,
      absl::StrCat("the answer is no ", reply->GetDescriptor()->full_name()),
      "use a client and a coordinator of one version");
}

}  // namespace

absl::Status Client::CallByName(
    const google::protobuf::MethodDescriptor& method,
    const google::protobuf::Message& request, google::protobuf::Message* reply,
    const std::function<absl::Status()>& on_reply) {
  grpc::ClientContext context;
  if (!method.server_streaming()) {
    context.set_deadline(std::chrono::system_clock::now() + kDeadline);
  }
  access_.ShowToken(&context);
  Steps steps;
  // A call with one reply is a stream of one.
  const auto call = grpc::GenericStub(channel_).PrepareCall(
      &context,
      absl::StrCat("/", method.service()->full_name(), "/", method.name()),
      steps.queue());
  call->StartCall(steps.tag());
  const bool is_started = steps.Await();
  if (is_started) {
    const grpc::Slice slice(request.SerializeAsString());
    call->WriteLast(grpc::ByteBuffer(&slice, 1), grpc::WriteOptions(),
                    steps.tag());
    (void)steps.Await();  // where it fails the status says why
  }
  absl::Status said;
  grpc::ByteBuffer bytes;
  while (is_started && said.ok()) {
    call->Read(&bytes, steps.tag());
    if (!steps.Await()) break;
    said = Parse(bytes, reply);
    if (said.ok()) said = on_reply();
  }
  if (!said.ok()) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, steps.tag());
  (void)steps.Await();
  if (!said.ok()) return said;
  return status.ok() ? absl::OkStatus() : Explain(status);
}

absl::StatusOr<v1::Study> FetchStudy(Client& client, const std::string& name) {
  v1::GetStudyRequest request;
  request.set_name(name);
  return client.Call(&v1::StudyService::Stub::GetStudy, request);
}

absl::StatusOr<v1::Trial> FetchTrial(Client& client, const std::string& name,
                                     v1::TrialView view) {
  v1::GetTrialRequest request;
  request.set_name(name);
  request.set_view(view);
  return client.Call(&v1::StudyService::Stub::GetTrial, request);
}

absl::StatusOr<v1::ListTrialsReply> FetchTrials(Client& client,
                                                const std::string& study,
                                                const std::string& filter,
                                                v1::TrialView view) {
  v1::ListTrialsRequest request;
  request.set_parent(study);
  request.set_filter(filter);
  request.set_view(view);
  return client.CallForAll(&v1::StudyService::Stub::ListTrials,
                           std::move(request));
}

absl::StatusOr<v1::ListWorkersReply> FetchWorkers(Client& client) {
  return client.CallForAll(&v1::WorkerService::Stub::ListWorkers,
                           v1::ListWorkersRequest());
}

absl::StatusOr<v1::ListTokensReply> FetchTokens(Client& client) {
  return client.CallForAll(&v1::AdminService::Stub::ListTokens,
                           v1::ListTokensRequest());
}

absl::StatusOr<v1::ListBestTrialsReply> FetchBestTrials(
    Client& client, const std::string& study) {
  v1::ListBestTrialsRequest request;
  request.set_name(study);
  return client.Call(&v1::StudyService::Stub::ListBestTrials, request);
}

absl::StatusOr<std::optional<v1::Trial>> FetchBest(Client& client,
                                                   const v1::Study& study) {
  if (study.best_trials().empty()) return std::optional<v1::Trial>();
  ASSIGN_OR_RETURN(v1::Trial best, FetchTrial(client, study.best_trials(0),
                                              v1::TRIAL_VIEW_FULL));
  return std::optional<v1::Trial>(std::move(best));
}

}  // namespace frostline::cli

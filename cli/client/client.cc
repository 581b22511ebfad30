// SPDX-License-Identifier: Apache-2.0
#include "cli/client/client.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/address.h"
#include "cli/client/away.h"
#include "cli/client/notes.h"
#include "proto/wire_error.h"

namespace frostline::cli {
namespace {

// A page of a thousand trials of a wide space.
constexpr int kMaxReplyBytes = 64 << 20;
// A connection that was refused is tried again so soon.
constexpr int kFirstPauseMs = 100;
// Who waits for a coordinator that starts sees it within a second.
constexpr int kLongestPauseMs = 1'000;
// Another continent's, over TLS, takes its time.
constexpr int kLongestConnectMs = 20'000;
constexpr std::size_t kMaxAddressBytes = 100;
// Who waits for longer is told what for.
constexpr Duration kQuietWait = std::chrono::milliseconds(500);

// gRPC's own words for an answer of HTTP that is none of gRPC; a coordinator
// gives each of its errors an id.
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

}  // namespace frostline::cli

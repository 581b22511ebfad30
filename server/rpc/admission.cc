// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/admission.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline {
namespace {

absl::Status DeadlineInvalid(const std::string& cause) {
  return MakeError(ErrorId::kDeadlineInvalid, cause,
                   "set a deadline of at most 60 s on the call");
}

}  // namespace

absl::StatusOr<Duration> TimeLeft(
    std::chrono::system_clock::time_point deadline) {
  if (deadline == std::chrono::system_clock::time_point::max()) {
    return DeadlineInvalid("the call has no deadline");
  }
  const Duration left = deadline - std::chrono::system_clock::now();
  if (left <= kLongestDeadline) return left;
  return DeadlineInvalid(absl::StrCat(
      "the call's deadline is ",
      std::chrono::duration_cast<std::chrono::seconds>(left).count(),
      " s away"));
}

absl::Status CheckSize(const grpc::ByteBuffer& bytes) {
  if (bytes.Length() <= kMaxRequestBytes) return absl::OkStatus();
  return MakeError(ErrorId::kFieldTooLarge,
                   absl::StrCat("the request has ", bytes.Length(),
                                " bytes, more than ", kMaxRequestBytes),
                   "split it into several requests, or shorten its longest "
                   "fields");
}

absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message) {
  grpc::ByteBuffer shared = bytes;  // counts a reference; Deserialize clears it
  const grpc::Status parsed =
      grpc::GenericDeserialize<grpc::ProtoBufferReader,
                               google::protobuf::Message>(&shared, message);
  if (parsed.ok()) return absl::OkStatus();
  return MakeError(
      ErrorId::kRequestInvalid,
      absl::StrCat("the request is no ", message->GetDescriptor()->full_name()),
      "build it from the contract frostline.v1, with all text in UTF-8");
}

absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes) {
  bytes->Clear();  // the writer takes nothing but an empty buffer
  bool owned = false;
  const grpc::Status written =
      grpc::GenericSerialize<grpc::ProtoBufferWriter,
                             google::protobuf::Message>(message, bytes, &owned);
  if (written.ok()) return absl::OkStatus();
  return MakeError(
      ErrorId::kInternal,
      absl::StrCat("a reply of type ", message.GetDescriptor()->full_name(),
                   " cannot be written"),
      "ask for a smaller page");
}

absl::Status ReplyDropped() {
  return MakeError(ErrorId::kInternal, "the call was given up unanswered",
                   "report it with the lines of the coordinator's log");
}

}  // namespace frostline

// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/admission.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"

namespace frostline::server {

TimeLimit LimitOf(std::chrono::system_clock::time_point asked,
                  Duration longest) {
  const Duration left = asked - std::chrono::system_clock::now();
  if (left <= longest) return {.left = left};
  return {.left = longest, .is_ours = true};
}

absl::Status DeadlinePassed(Duration limit) {
  return MakeError(
      ErrorId::kDeadlinePassed,
      absl::StrCat("no answer within ",
                   std::chrono::duration<double>(limit).count(),
                   " s, the coordinator's own deadline"),
      "send it again with the same request_id, or ask for less at a time");
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

}  // namespace frostline::server

// SPDX-License-Identifier: Apache-2.0
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "cli/client/client.h"

namespace frostline::cli {
namespace {

// One step of a call at a time: it waits for each.
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

}  // namespace frostline::cli

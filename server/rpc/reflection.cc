// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/reflection.h"

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "grpc/reflection/v1alpha/reflection.pb.h"
#include "server/rpc/admission.h"
#include "server/rpc/reflection_answer.h"
#include "server/rpc/shown_by.h"
#include "server/rpc/status.h"

namespace frostline::server {
namespace {

using google::protobuf::FileDescriptor;
using grpc::ByteBuffer;
using grpc::reflection::v1::ServerReflectionRequest;
using Services = std::vector<std::string>;

// Named by a message of each, without which the linker would leave it out.
std::vector<const FileDescriptor*> OwnFiles() {
  return {
      ServerReflectionRequest::descriptor()->file(),
      grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()};
}

const FileDescriptor& HealthFile() {
  return *grpc::health::v1::HealthCheckRequest::descriptor()->file();
}

// One read or one write is under way at a time. The call owns itself until gRPC
// is done with it.
class ReflectionCall final
    : public grpc::ServerBidiReactor<ByteBuffer, ByteBuffer> {
 public:
  ReflectionCall(const Services& services, const absl::Status& admitted)
      : services_(services) {
    if (admitted.ok()) {
      StartRead(&in_);
    } else {
      Finish(ToGrpcStatus(admitted));
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);  // the reader asks no more
    ServerReflectionRequest request;
    absl::Status status = CheckSize(in_);
    if (status.ok()) status = Parse(in_, &request);
    if (status.ok())
      status = Serialize(AnswerReflection(request, services_), &out_);
    if (!status.ok()) return Finish(ToGrpcStatus(status));
    StartWrite(&out_);
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::CANCELLED);  // the reader is gone
    in_.Clear();
    StartRead(&in_);
  }

  void OnDone() override { delete this; }

 private:
  const Services& services_;  // the service's own, which outlives its calls
  ByteBuffer in_;
  ByteBuffer out_;  // must stay while a write is under way
};

absl::Status Admitted(const grpc::CallbackServerContext& context,
                      const Gate& gate) {
  const Shown shown = ShownBy(context);
  // Tools on the coordinator's own machine need nothing but the address.
  if (shown.is_local) return absl::OkStatus();
  return gate.Identify(shown).status();
}

}  // namespace

ReflectionService::ReflectionService(Services services, const Gate& gate)
    : services_(std::move(services)), gate_(gate) {
  services_.push_back(HealthFile().service(0)->full_name());
  for (const FileDescriptor* file : OwnFiles()) {
    Add(services_.emplace_back(file->service(0)->full_name()));
  }
}

void ReflectionService::Add(const std::string& service) {
  const std::string& path =
      paths_.emplace_back(absl::StrCat("/", service, "/ServerReflectionInfo"));
  AddMethod(new grpc::internal::RpcServiceMethod(
      path.c_str(), grpc::internal::RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(
      static_cast<int>(paths_.size()) - 1,
      new grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>(
          [this](grpc::CallbackServerContext* context) {
            return new ReflectionCall(services_, Admitted(*context, gate_));
          }));
}

}  // namespace frostline::server

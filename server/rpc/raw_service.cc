// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/raw_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/impl/rpc_service_method.h>

#include "absl/strings/str_cat.h"
#include "proto/served.h"
#include "server/rpc/call.h"

namespace frostline::server {
namespace {

using google::protobuf::MethodDescriptor;
using grpc::ByteBuffer;
using grpc::internal::RpcMethod;

class RefusedUnary final : public grpc::ServerUnaryReactor {
 public:
  explicit RefusedUnary(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

class RefusedStream final : public grpc::ServerWriteReactor<ByteBuffer> {
 public:
  explicit RefusedStream(const grpc::Status& status) { Finish(status); }
  void OnDone() override { delete this; }
};

// A caller that is nobody is not even told which methods there are.
grpc::Status RefusalOf(const grpc::CallbackServerContext& context,
                       const Gate& gate, const MethodDescriptor& method) {
  const auto caller = gate.Identify(ShownBy(context));
  return ToGrpcStatus(caller.ok() ? proto::MethodNotServed(method)
                                  : caller.status());
}

VerbCounts* CountsOf(CallCounts* counts, const MethodDescriptor& method) {
  if (counts == nullptr) return nullptr;
  return counts->Of(method.full_name(), method.server_streaming());
}

UnaryMethod FindUnary(const MethodDescriptor& method, const VerbTable& served,
                      const Gate& gate, AuditLog* audit, Duration longest,
                      CallCounts* counts) {
  const auto found = served.unary.find(method.full_name());
  if (found != served.unary.end()) {
    return ServeUnary(
        found->second,
        {method.full_name(), gate, audit, CountsOf(counts, method)}, longest);
  }
  return [&gate, &method](grpc::CallbackServerContext* context, auto*, auto*) {
    return new RefusedUnary(RefusalOf(*context, gate, method));
  };
}

StreamMethod FindStream(const MethodDescriptor& method, const VerbTable& served,
                        const Gate& gate, CallCounts* counts) {
  const auto found = served.streams.find(method.full_name());
  if (found != served.streams.end()) {
    return ServeStream(found->second, {method.full_name(), gate, nullptr,
                                       CountsOf(counts, method)});
  }
  return [&gate, &method](grpc::CallbackServerContext* context, auto*) {
    return new RefusedStream(RefusalOf(*context, gate, method));
  };
}

}  // namespace

RawService::RawService(const google::protobuf::ServiceDescriptor& service,
                       const VerbTable& served, const Gate& gate,
                       AuditLog* audit, Duration longest, CallCounts* counts)
    : gate_(gate), audit_(audit), longest_(longest), counts_(counts) {
  for (int i = 0; i < service.method_count(); ++i) {
    Add(*service.method(i), served);
  }
}

void RawService::Add(const MethodDescriptor& method, const VerbTable& served) {
  const std::string& path = paths_.emplace_back(
      absl::StrCat("/", method.service()->full_name(), "/", method.name()));
  const bool streams = method.server_streaming();
  AddMethod(new grpc::internal::RpcServiceMethod(
      path.c_str(),
      streams ? RpcMethod::SERVER_STREAMING : RpcMethod::NORMAL_RPC, nullptr));
  grpc::internal::MethodHandler* handler = nullptr;  // the service owns it
  if (streams) {
    handler = new grpc::internal::CallbackServerStreamingHandler<ByteBuffer,
                                                                 ByteBuffer>(
        FindStream(method, served, gate_, counts_));
  } else {
    handler = new grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>(
        FindUnary(method, served, gate_, audit_, longest_, counts_));
  }
  MarkMethodRawCallback(method.index(), handler);
}

}  // namespace frostline::server

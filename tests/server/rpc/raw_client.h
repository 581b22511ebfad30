// SPDX-License-Identifier: Apache-2.0
//
// File: raw_client.h
//
// A client that knows methods by path and requests as bytes, so that it can
// send what no stub would.
#ifndef FROSTLINE_TESTS_SERVER_RPC_RAW_CLIENT_H_
#define FROSTLINE_TESTS_SERVER_RPC_RAW_CLIENT_H_

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/wire_error.h"

namespace frostline::server {

inline grpc::ByteBuffer BytesOf(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

class RawClient {
 public:
  explicit RawClient(const std::string& address,
                     const std::shared_ptr<grpc::ChannelCredentials>&
                         credentials = grpc::InsecureChannelCredentials())
      : channel_(grpc::CreateChannel(address, credentials)), stub_(channel_) {}
  RawClient(const std::string& address, const grpc::ChannelArguments& arguments)
      : channel_(grpc::CreateCustomChannel(
            address, grpc::InsecureChannelCredentials(), arguments)),
        stub_(channel_) {}

  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

  // The reply's bytes. `path` is "/frostline.v1.StudyService/GetStudy".
  absl::StatusOr<std::string> Call(const std::string& path,
                                   const std::string& request,
                                   std::optional<std::chrono::milliseconds>
                                       timeout = std::chrono::seconds(10)) {
    grpc::ClientContext context;
    if (timeout.has_value()) {
      context.set_deadline(std::chrono::system_clock::now() + *timeout);
    }
    return Call(path, request, &context);
  }

  absl::StatusOr<std::string> Call(const std::string& path,
                                   const std::string& request,
                                   grpc::ClientContext* context) {
    const grpc::ByteBuffer out = BytesOf(request);
    grpc::ByteBuffer in;
    std::promise<grpc::Status> done;
    stub_.UnaryCall(
        context, path, grpc::StubOptions(), &out, &in,
        [&done](grpc::Status status) { done.set_value(std::move(status)); });
    absl::Status status = proto::FromGrpcStatus(done.get_future().get());
    if (!status.ok()) return status;
    std::vector<grpc::Slice> slices;
    if (!in.Dump(&slices).ok()) return absl::DataLossError("no reply bytes");
    std::string reply;
    for (const auto& slice : slices) {
      reply.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    }
    return reply;
  }

 private:
  std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_TESTS_SERVER_RPC_RAW_CLIENT_H_

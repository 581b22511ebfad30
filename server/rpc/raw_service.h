// SPDX-License-Identifier: Apache-2.0
//
// File: raw_service.h
//
// One service of the contract, made from its descriptor and a table of the
// methods that are served. What the table lacks answers METHOD_NOT_BUILT, so a
// method is served on purpose or not at all.
//
// Handlers get the request as bytes. The generated stubs parse it themselves
// and answer a bare UNIMPLEMENTED to a request that cannot be parsed; here it
// becomes an error with a cause.
#ifndef FROSTLINE_SERVER_RPC_RAW_SERVICE_H_
#define FROSTLINE_SERVER_RPC_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <list>
#include <map>
#include <string>

namespace frostline {

using UnaryMethod = std::function<grpc::ServerUnaryReactor*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply)>;
using StreamMethod = std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

// By full name: "frostline.v1.StudyService.GetStudy".
struct MethodTable {
  std::map<std::string, UnaryMethod> unary;
  std::map<std::string, StreamMethod> streams;
};

class RawService final : public grpc::Service {
 public:
  // Copies of the table's functions are kept; what they point to must outlive
  // the server.
  RawService(const google::protobuf::ServiceDescriptor& service,
             const MethodTable& served);

 private:
  void Add(const google::protobuf::MethodDescriptor& method,
           const MethodTable& served);

  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_RAW_SERVICE_H_

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

#include <list>
#include <string>

#include "server/rpc/admission.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

class RawService final : public grpc::Service {
 public:
  // Copies of the table's rows are kept; what they point to must outlive the
  // server.
  RawService(const google::protobuf::ServiceDescriptor& service,
             const VerbTable& served, Duration longest = kLongestDeadline);

 private:
  void Add(const google::protobuf::MethodDescriptor& method,
           const VerbTable& served);

  const Duration longest_;        // for calls without a nearer deadline
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_RAW_SERVICE_H_

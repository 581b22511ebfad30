// SPDX-License-Identifier: Apache-2.0
//
// File: raw_service.h
//
// A gRPC service made of the table of verbs. Its handlers get bytes, because
// generated stubs answer a request that cannot be parsed with a bare
// UNIMPLEMENTED; here the caller gets an error with a cause.
#ifndef FROSTLINE_SERVER_RPC_RAW_SERVICE_H_
#define FROSTLINE_SERVER_RPC_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>

#include <list>
#include <string>

#include "server/audit/audit_log.h"
#include "server/auth/gate.h"
#include "server/rpc/call.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

class RawService final : public grpc::Service {
 public:
  // Copies the rows. What they point to, `gate`, `audit` and `counts` must
  // outlive the server. `audit` and `counts` may be null.
  RawService(const google::protobuf::ServiceDescriptor& service,
             const VerbTable& served, const Gate& gate,
             AuditLog* audit = nullptr, Duration longest = kLongestDeadline,
             CallCounts* counts = nullptr);

 private:
  void Add(const google::protobuf::MethodDescriptor& method,
           const VerbTable& served);

  const Gate& gate_;
  AuditLog* const audit_;
  const Duration longest_;
  CallCounts* const counts_;
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_RAW_SERVICE_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: reflection.h
//
// Tells grpcurl, Postman and their like what is served, as protocols v1 and
// v1alpha of server reflection, which differ in nothing but their names. gRPC's
// own plugin speaks v1alpha alone.
#ifndef FROSTLINE_SERVER_RPC_REFLECTION_H_
#define FROSTLINE_SERVER_RPC_REFLECTION_H_

#include <grpcpp/impl/service_type.h>

#include <list>
#include <string>
#include <vector>

#include "server/auth/gate.h"

namespace frostline::server {

// gRPC's own threads call it; it holds no lock and waits for nothing.
class ReflectionService final : public grpc::Service {
 public:
  // Lists `services` beside its own and health, for whomever `gate` knows,
  // whatever the role.
  ReflectionService(std::vector<std::string> services, const Gate& gate);

 private:
  void Add(const std::string& service);

  std::vector<std::string> services_;
  const Gate& gate_;
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_REFLECTION_H_

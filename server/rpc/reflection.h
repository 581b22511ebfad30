// SPDX-License-Identifier: Apache-2.0
//
// File: reflection.h
//
// Tells grpcurl, Postman and similar tools what is served. It speaks v1 and
// v1alpha of server reflection, which differ only in their names; gRPC's own
// plugin speaks v1alpha alone.
#ifndef FROSTLINE_SERVER_RPC_REFLECTION_H_
#define FROSTLINE_SERVER_RPC_REFLECTION_H_

#include <grpcpp/impl/service_type.h>

#include <list>
#include <string>
#include <vector>

#include "grpc/reflection/v1/reflection.pb.h"
#include "server/auth/access.h"

namespace frostline::server {

// Answers one question from the descriptors in this program. A file comes after
// all files that it imports, as readers need it. `services` is the list to
// give. When something does not exist, the response holds an error. Any thread
// may call.
grpc::reflection::v1::ServerReflectionResponse AnswerReflection(
    const grpc::reflection::v1::ServerReflectionRequest& request,
    const std::vector<std::string>& services);

// The reflection service. gRPC's threads call it; it holds no lock and does not
// wait.
class ReflectionService final : public grpc::Service {
 public:
  // Lists `services` beside its own and health, for every caller whom `gate`
  // knows, whatever the role.
  ReflectionService(std::vector<std::string> services, const Gate& gate);

 private:
  void Add(const std::string& service);

  std::vector<std::string> services_;
  const Gate& gate_;
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_REFLECTION_H_

// SPDX-License-Identifier: Apache-2.0
#include "server/rpc/library_versions.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

namespace frostline::server {

LibraryVersions RpcLibraries() {
  return {{"gRPC", grpc::Version()},
          {"Protobuf",
           google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)}};
}

}  // namespace frostline::server

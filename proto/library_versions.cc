// SPDX-License-Identifier: Apache-2.0
#include "proto/library_versions.h"

#include <google/protobuf/stubs/common.h>
#include <grpcpp/grpcpp.h>

namespace frostline::proto {

LibraryVersions RpcLibraries() {
  return {{"gRPC", grpc::Version()},
          {"Protobuf",
           google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION)}};
}

}  // namespace frostline::proto

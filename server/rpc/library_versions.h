// SPDX-License-Identifier: Apache-2.0
//
// File: library_versions.h
#ifndef FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_
#define FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_

#include "base/known_holes.h"

namespace frostline::server {

// Of gRPC as it was found at the start, and of Protobuf as it was built with.
LibraryVersions RpcLibraries();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: library_versions.h
#ifndef FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_
#define FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_

#include "base/known_holes.h"

namespace frostline::server {

// Of gRPC and Protobuf, as they were found when the program was started.
LibraryVersions RpcLibraries();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LIBRARY_VERSIONS_H_

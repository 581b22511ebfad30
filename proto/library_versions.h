// SPDX-License-Identifier: Apache-2.0
//
// File: library_versions.h
#ifndef FROSTLINE_PROTO_LIBRARY_VERSIONS_H_
#define FROSTLINE_PROTO_LIBRARY_VERSIONS_H_

#include "base/known_holes.h"

namespace frostline::proto {

// Returns the versions of gRPC, as found at the start, and of Protobuf, as
// built with.
LibraryVersions RpcLibraries();

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_LIBRARY_VERSIONS_H_

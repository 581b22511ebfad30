// SPDX-License-Identifier: Apache-2.0
//
// File: quiet_grpc.h
//
// gRPC writes to standard error in a form of its own. Its lines go through
// base/log.h instead: errors as warnings (gRPC's idea of an error is often a
// client that left), the rest at debug.
#ifndef FROSTLINE_SERVER_RPC_QUIET_GRPC_H_
#define FROSTLINE_SERVER_RPC_QUIET_GRPC_H_

namespace frostline {

// Once, before the first server is made.
void SendGrpcLogToOurs();

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_QUIET_GRPC_H_

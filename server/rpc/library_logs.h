// SPDX-License-Identifier: Apache-2.0
//
// File: library_logs.h
//
// gRPC and Protobuf write to standard error in forms of their own. Their lines
// go through base/log.h instead. What gRPC calls an error is often a client
// that left, and what Protobuf does a client that sent nonsense, so neither is
// above a warning.
#ifndef FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_
#define FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_

namespace frostline::server {

// Once, before the first server is made.
void SendLibraryLogsToOurs();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_

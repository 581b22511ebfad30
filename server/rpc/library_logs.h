// SPDX-License-Identifier: Apache-2.0
//
// File: library_logs.h
//
// Lines of gRPC and Protobuf go through base/log.h. Their errors are often a
// client that left or sent nonsense, so none is above a warning.
#ifndef FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_
#define FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_

namespace frostline::server {

// Call it once, before the first server is made.
void SendLibraryLogsToOurs();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_LIBRARY_LOGS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: front_door.h
//
// What gRPC itself refuses before a call is ours: too many streams, long
// metadata, large messages, a peer that pings too often or is gone.
#ifndef FROSTLINE_SERVER_RPC_FRONT_DOOR_H_
#define FROSTLINE_SERVER_RPC_FRONT_DOOR_H_

#include <grpcpp/server_builder.h>

namespace frostline::server {

void SetLimits(grpc::ServerBuilder* builder);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_FRONT_DOOR_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: front_door.h
//
// What gRPC itself refuses before a call is ours: a slow handshake, too many
// streams, long metadata, large messages, a peer that pings too often, does
// nothing or is gone. Who may connect at all is said by door_policy.h.
#ifndef FROSTLINE_SERVER_RPC_FRONT_DOOR_H_
#define FROSTLINE_SERVER_RPC_FRONT_DOOR_H_

#include <grpcpp/server_builder.h>

namespace frostline::server {

void SetLimits(grpc::ServerBuilder* builder);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_FRONT_DOOR_H_

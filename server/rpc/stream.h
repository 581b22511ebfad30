// SPDX-License-Identifier: Apache-2.0
//
// File: stream.h
//
// The verb is asked for more messages when the last one has been taken, so a
// slow reader holds up nobody else.
#ifndef FROSTLINE_SERVER_RPC_STREAM_H_
#define FROSTLINE_SERVER_RPC_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>

#include "server/rpc/shown_by.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

using StreamMethod = std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

// Who calls is asked again before each message: a token that was revoked reads
// nothing more.
StreamMethod ServeStream(StreamVerb verb, Guarded guarded);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_STREAM_H_

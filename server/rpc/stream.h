// SPDX-License-Identifier: Apache-2.0
//
// File: stream.h
//
// A call that is answered with a stream: ask the verb for some messages, write
// them one at a time, ask again. A slow reader holds up its own stream and
// nobody else; the next messages are asked for when the last one has been
// taken.
#ifndef FROSTLINE_SERVER_RPC_STREAM_H_
#define FROSTLINE_SERVER_RPC_STREAM_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>

#include "server/verbs/verb_table.h"

namespace frostline::server {

using StreamMethod = std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

StreamMethod ServeStream(StreamVerb verb);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_STREAM_H_

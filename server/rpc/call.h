// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// One unary call from the wire to its verb and back: admit (size, parse, what
// is served, form), run, answer. A call owns itself until gRPC is done with it,
// which is not before it was answered. It is answered exactly once: by its
// reply, by the loss of its reply, or by the server's own deadline, whichever
// comes first.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/rpc/admission.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

using UnaryMethod = std::function<grpc::ServerUnaryReactor*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply)>;

// The request of a call that may be served. `in` holds its bytes. Streams have
// no deadline: their time is Duration::max().
absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left);

// Who calls, as far as gRPC knows.
CallContext ContextOf(const grpc::CallbackServerContext& context,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled);

// A call takes `longest` where its caller has set no nearer deadline.
UnaryMethod ServeUnary(UnaryVerb verb, Duration longest = kLongestDeadline);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CALL_H_

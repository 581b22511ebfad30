// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// A unary call owns itself until gRPC is done with it. It is answered exactly
// once: by its reply, by the loss of its reply, or by the server's own
// deadline.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/rpc/admission.h"
#include "server/rpc/shown_by.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

using UnaryMethod = std::function<grpc::ServerUnaryReactor*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply)>;

// Checks size, parse, what is served, and form. Streams have no deadline:
// Duration::max().
absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left);

// Without its deadline and trace.
CallContext ContextOf(const grpc::CallbackServerContext& context,
                      CallerIdentity identity, const std::string& method,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled);

// Answers why the caller may not call it, before anything of the request is
// looked at.
absl::StatusOr<CallerIdentity> Identify(const Guarded& guarded, CallerRole role,
                                        const Shown& shown);

// `longest` holds where the caller has set no nearer deadline.
UnaryMethod ServeUnary(UnaryVerb verb, Guarded guarded,
                       Duration longest = kLongestDeadline);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CALL_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// Runs a verb as a gRPC call. A unary call owns itself until gRPC is done with
// it. It is answered exactly once: by its reply, by the loss of its reply, or
// by the server's own deadline.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <functional>
#include <list>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/audit/audit_log.h"
#include "server/auth/access.h"
#include "server/guard/guard.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

// Checks that each call has to pass before anybody reads it.

// The size of messages that gRPC lets pass. Smaller requests are held to
// kMaxRequestBytes, with an error that says what is wrong; above this size gRPC
// answers itself, with a bare status.
inline constexpr int kMaxTransportBytes = 2 * 1024 * 1024;

// When a call ends, and whether that is the server's own limit. gRPC does not
// end a call at such a limit, so we do.
struct TimeLimit {
  Duration left{};
  bool is_ours = false;
};

// `asked` is on the system's clock, as gRPC's times are; its greatest value
// means none.
TimeLimit LimitOf(std::chrono::system_clock::time_point asked,
                  Duration longest = kLongestDeadline);

// The error is FIELD_TOO_LARGE.
absl::Status CheckSize(const grpc::ByteBuffer& bytes);

// Reads a message. The error is REQUEST_INVALID when `bytes` are no such
// message, or when a text in it is not UTF-8.
absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message);

// The error is INTERNAL when the message is too large to be sent.
absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes);

// Turns an error into a wire error: always with ErrorInfo, with BadRequest if a
// field is wrong, and with RetryInfo if the call may work later. Texts are made
// printable and cut. An error that MakeError did not make is a bug and becomes
// INTERNAL.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Returns what a call shows of its caller: its token, the certificate that gRPC
// has verified, and whether the call came in plaintext.
Shown ShownBy(const grpc::ServerContextBase& context);

// Returns the trace to which the call belongs; a new one if it names none.
TraceContext TraceOf(const grpc::ServerContextBase& context);

using UnaryMethod = std::function<grpc::ServerUnaryReactor*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply)>;

// Checks size, parses, and checks that the request is served and has its form.
// For a stream, which has no deadline, the time left is Duration::max().
absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left);

// `longest` is the limit unless the caller has set an earlier deadline.
UnaryMethod ServeUnary(UnaryVerb verb, Guarded guarded,
                       Duration longest = kLongestDeadline);

// Makes a gRPC stream of a verb. The verb is asked for more messages only when
// the last one has been taken, so a slow reader holds up nobody else.
using StreamMethod = std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

// Checks the caller again before each message: with a revoked token nothing
// more is read.
StreamMethod ServeStream(StreamVerb verb, Guarded guarded);

// A gRPC service made of the table of verbs. Its handlers get bytes, because
// generated stubs answer a request that cannot be parsed with a bare
// UNIMPLEMENTED; here the caller gets an error with a cause.
class RawService final : public grpc::Service {
 public:
  // Copies the rows. What they point to, `gate`, `audit` and `counts` must
  // outlive the server. `audit` and `counts` may be null.
  RawService(const google::protobuf::ServiceDescriptor& service,
             const VerbTable& served, const Gate& gate,
             AuditLog* audit = nullptr, Duration longest = kLongestDeadline,
             CallCounts* counts = nullptr);

 private:
  void Add(const google::protobuf::MethodDescriptor& method,
           const VerbTable& served);

  const Gate& gate_;
  AuditLog* const audit_;
  const Duration longest_;
  CallCounts* const counts_;
  std::list<std::string> paths_;  // gRPC keeps pointers to them
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CALL_H_

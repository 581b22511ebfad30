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
#include <grpcpp/support/status_code_enum.h>

#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "server/audit/audit_log.h"
#include "server/auth/access.h"
#include "server/metrics/page.h"
#include "server/verbs/verb_table.h"
#include "server/wire/limits.h"

namespace frostline::server {

// Checks that each call has to pass before anybody reads it.

// The size of messages that gRPC lets pass. Smaller requests are held to
// kMaxRequestBytes, with an error that says what is wrong; above this size gRPC
// answers itself, with a bare status.
inline constexpr int kMaxTransportBytes = 2 * 1024 * 1024;

// The deadline of calls that have none, or a later one.
inline constexpr Duration kLongestDeadline =
    std::chrono::seconds(kLongestDeadlineSeconds);

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

// Returns the error for a call that reached the server's own limit.
absl::Status DeadlinePassed(Duration limit);

// The error is FIELD_TOO_LARGE.
absl::Status CheckSize(const grpc::ByteBuffer& bytes);

// Reads a message. The error is REQUEST_INVALID when `bytes` are no such
// message, or when a text in it is not UTF-8.
absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message);

// The error is INTERNAL when the message is too large to be sent.
absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes);

// Returns the error for a call whose reply the coordinator has lost.
absl::Status ReplyDropped();

// Turns an error into a wire error: always with ErrorInfo, with BadRequest if a
// field is wrong, and with RetryInfo if the call may work later. Texts are made
// printable and cut. An error that MakeError did not make is a bug and becomes
// INTERNAL.
grpc::Status ToGrpcStatus(const absl::Status& status);

// The counts of one verb. Any thread may count and read.
struct VerbCounts {
  static constexpr std::size_t kCodes = 17;
  static constexpr std::size_t kUnknown = 2;

  void NoteAnswered(grpc::StatusCode code, Duration took) {
    const auto at = static_cast<std::size_t>(code);
    seconds[at < kCodes ? at : kUnknown].Observe(took);
    ended.Add();
  }

  bool streams = false;
  Counter begun;
  Counter ended;
  std::array<Histogram, kCodes> seconds;  // for unary calls, by code
};

// Returns the code's name: "NOT_FOUND".
const char* CodeName(grpc::StatusCode code);

// The counts of calls, by verb and code. The counts of a verb are made when it
// is bound to gRPC; a call reaches them by a pointer, so it costs two
// additions. The server owns it.
class CallCounts {
 public:
  // Returns the counts of a method, the same at each call:
  // "frostline.v1.StudyService.GetStudy". To be called before anybody counts.
  VerbCounts* Of(const std::string& method, bool streams);
  void Write(MetricsPage& page) const;

 private:
  std::map<std::string, VerbCounts> verbs_;
};

// Returns what a call shows of its caller: its token, the certificate that gRPC
// has verified, and whether the call came in plaintext.
Shown ShownBy(const grpc::ServerContextBase& context);

// Returns the trace to which the call belongs; a new one if it names none.
TraceContext TraceOf(const grpc::ServerContextBase& context);

// A method, and the gate that says whether a caller may call it.
struct Guarded {
  std::string method;  // "frostline.v1.StudyService.StopStudy"
  const Gate& gate;
  AuditLog* audit = nullptr;     // told of refusals; may be null
  VerbCounts* counts = nullptr;  // null: calls are not counted
};

using UnaryMethod = std::function<grpc::ServerUnaryReactor*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
    grpc::ByteBuffer* reply)>;

// Checks size, parses, and checks that the request is served and has its form.
// For a stream, which has no deadline, the time left is Duration::max().
absl::StatusOr<MessagePtr> Admit(const VerbRow& verb,
                                 const grpc::ByteBuffer& in,
                                 Duration time_left);

// Makes the context of a call, without its deadline and trace.
CallContext ContextOf(const grpc::CallbackServerContext& context,
                      CallerIdentity identity, const std::string& method,
                      const google::protobuf::Message& request,
                      CancelFlag cancelled);

// Returns who calls, or why they may not call this. Nothing of the request is
// looked at before.
absl::StatusOr<CallerIdentity> Identify(const Guarded& guarded, CallerRole role,
                                        const Shown& shown);

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

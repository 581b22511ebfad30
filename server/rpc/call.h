// SPDX-License-Identifier: Apache-2.0
//
// File: call.h
//
// A unary call owns itself until gRPC is done with it. It is answered exactly
// once: by its reply, by the loss of its reply, or by the server's own
// deadline.
#ifndef FROSTLINE_SERVER_RPC_CALL_H_
#define FROSTLINE_SERVER_RPC_CALL_H_

#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>
#include <grpcpp/support/status.h>
#include <grpcpp/support/status_code_enum.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "server/audit/audit_log.h"
#include "server/auth/gate.h"
#include "server/metrics/page.h"
#include "server/verbs/verb_table.h"
#include "server/wire/limits.h"

namespace frostline::server {

// Checks every call before anybody reads it.

// Requests are held to kMaxRequestBytes with an error that says what is wrong;
// from here on gRPC itself answers, with a bare status.
inline constexpr int kMaxTransportBytes = 2 * 1024 * 1024;

// It limits calls with no deadline, or one farther away.
inline constexpr Duration kLongestDeadline =
    std::chrono::seconds(kLongestDeadlineSeconds);

// gRPC does not end a call at the server's own limit, so we do.
struct TimeLimit {
  Duration left{};
  bool is_ours = false;
};

// `asked` is on the system's clock, as gRPC's are; its last moment means none.
TimeLimit LimitOf(std::chrono::system_clock::time_point asked,
                  Duration longest = kLongestDeadline);

// Makes the answer when the server's own limit is over.
absl::Status DeadlinePassed(Duration limit);

// Answers FIELD_TOO_LARGE.
absl::Status CheckSize(const grpc::ByteBuffer& bytes);

// Answers REQUEST_INVALID when `bytes` are no such message, or its text is no
// UTF-8.
absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message);

// Answers INTERNAL when it is too large to be sent.
absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes);

// Makes the answer when the coordinator forgot to give one.
absl::Status ReplyDropped();

// Adds ErrorInfo always, BadRequest where a field is at fault, RetryInfo where
// the call may work later. Texts are made printable and cut. An error that
// MakeError did not make is a bug and goes out as INTERNAL.
grpc::Status ToGrpcStatus(const absl::Status& status);

// Calls by verb and code. A verb's counts are made when it is bound to gRPC;
// a call finds them by a pointer, so that it costs two additions.

// Any thread may count and read.
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
  std::array<Histogram, kCodes> seconds;  // of unary calls, by code
};

// "NOT_FOUND"
const char* CodeName(grpc::StatusCode code);

class CallCounts {
 public:
  // The same for the same method, "frostline.v1.StudyService.GetStudy". Before
  // anybody writes.
  VerbCounts* Of(const std::string& method, bool streams);
  void Write(MetricsPage& page) const;

 private:
  std::map<std::string, VerbCounts> verbs_;
};

// What a call shows of its caller: its token, the certificate that gRPC has
// verified, and whether it came in plaintext.
Shown ShownBy(const grpc::ServerContextBase& context);

// The trace that the call belongs to; a new one where it names none.
TraceContext TraceOf(const grpc::ServerContextBase& context);

// A method, and who says whether a caller may call it.
struct Guarded {
  std::string method;  // "frostline.v1.StudyService.StopStudy"
  const Gate& gate;
  AuditLog* audit = nullptr;     // hears of refusals; null: nobody does
  VerbCounts* counts = nullptr;  // null: calls are not counted
};

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

// The verb is asked for more messages when the last one has been taken, so a
// slow reader holds up nobody else.
using StreamMethod = std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
    grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

// Who calls is asked again before each message: a token that was revoked reads
// nothing more.
StreamMethod ServeStream(StreamVerb verb, Guarded guarded);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_CALL_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: admission.h
//
// What holds for every call before anybody reads it: how long it may take, how
// large it may be, and that its bytes are the message they should be.
#ifndef FROSTLINE_SERVER_RPC_ADMISSION_H_
#define FROSTLINE_SERVER_RPC_ADMISSION_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/wire/limits.h"

namespace frostline::server {

// Requests are held to kMaxRequestBytes (server/limits.h). gRPC itself cuts a
// request off at kMaxTransportBytes, with a bare status; between the two limits
// the answer says what is wrong.
inline constexpr int kMaxTransportBytes = 2 * 1024 * 1024;

// A call that has no deadline gets this one, and so does one whose deadline is
// farther away.
inline constexpr Duration kLongestDeadline =
    std::chrono::seconds(kLongestDeadlineSeconds);

// How long a call has. Where that is the server's own limit gRPC does not end
// the call in time, so we have to.
struct TimeLimit {
  Duration left{};
  bool is_ours = false;
};

// `asked` is the caller's deadline, on the system's clock as gRPC's are; the
// clock's last moment where there is none.
TimeLimit LimitOf(std::chrono::system_clock::time_point asked,
                  Duration longest = kLongestDeadline);

// What a call is answered when the server's own limit is over.
absl::Status DeadlinePassed(Duration limit);

// FIELD_TOO_LARGE.
absl::Status CheckSize(const grpc::ByteBuffer& bytes);

// REQUEST_INVALID when `bytes` are no such message (text that is no UTF-8
// counts as that too).
absl::Status Parse(const grpc::ByteBuffer& bytes,
                   google::protobuf::Message* message);

// INTERNAL when the message is too large to be sent at all.
absl::Status Serialize(const google::protobuf::Message& message,
                       grpc::ByteBuffer* bytes);

// What a call is answered when the coordinator forgot to.
absl::Status ReplyDropped();

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_ADMISSION_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: admission.h
//
// What is asked of every call before anybody reads it: a deadline, a size, and
// bytes that are the message they should be.
#ifndef FROSTLINE_SERVER_RPC_ADMISSION_H_
#define FROSTLINE_SERVER_RPC_ADMISSION_H_

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/wire/limits.h"

namespace frostline {

// Requests are held to kMaxRequestBytes (server/limits.h). gRPC itself cuts a
// request off at kMaxTransportBytes, with a bare status; between the two limits
// the answer says what is wrong.
inline constexpr int kMaxTransportBytes = 2 * 1024 * 1024;

// One minute is the rule; the slack forgives a client's rounding.
inline constexpr Duration kLongestDeadline =
    std::chrono::seconds(kLongestDeadlineSeconds + 5);

// Until `deadline`, which counts on the system's clock as gRPC's do.
// DEADLINE_INVALID when there is none or it is too far.
absl::StatusOr<Duration> TimeLeft(
    std::chrono::system_clock::time_point deadline);

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

}  // namespace frostline

#endif  // FROSTLINE_SERVER_RPC_ADMISSION_H_

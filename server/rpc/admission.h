// SPDX-License-Identifier: Apache-2.0
//
// File: admission.h
//
// Checks every call before anybody reads it.
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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_ADMISSION_H_

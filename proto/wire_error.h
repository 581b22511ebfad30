// SPDX-License-Identifier: Apache-2.0
//
// File: wire_error.h
//
// Turns a wire error back into an error of ours. The grpc-status-details-bin
// trailer (errors.proto) has the error's id, cause, fix and field.
//
//   return FromGrpcStatus(stub->GetStudy(&context, request, &study));
#ifndef FROSTLINE_PROTO_WIRE_ERROR_H_
#define FROSTLINE_PROTO_WIRE_ERROR_H_

#include <grpcpp/support/status.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"

namespace frostline::proto {

inline constexpr char kErrorDomain[] = "frostline";
inline constexpr char kErrorInfoUrl[] =
    "type.googleapis.com/google.rpc.ErrorInfo";
inline constexpr char kBadRequestUrl[] =
    "type.googleapis.com/google.rpc.BadRequest";
inline constexpr char kRetryInfoUrl[] =
    "type.googleapis.com/google.rpc.RetryInfo";

// The longest cause. A peer accepts 8 KiB of trailers by default, and with this
// limit every error fits: the cause is sent three times, and base64 adds a
// third.
inline constexpr std::size_t kMaxCauseBytes = 1000;
inline constexpr std::size_t kMaxFixBytes = 500;
inline constexpr std::size_t kMaxFieldBytes = 200;

// Returns one line of valid UTF-8 of at most `max_bytes`: control characters
// become blanks, broken bytes '?', and "..." marks a cut.
std::string CleanText(const std::string& text, std::size_t max_bytes);

// Returns the error that the other side made with MakeError(), if it sent our
// details. Without these, UNAVAILABLE becomes COORDINATOR_AWAY, or TLS_REFUSED
// after a failed handshake, and UNIMPLEMENTED becomes METHOD_NOT_BUILT.
// Anything else, and an id that only a newer peer knows, keeps its code and
// text.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_ERROR_H_

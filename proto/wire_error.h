// SPDX-License-Identifier: Apache-2.0
//
// File: wire_error.h
//
// The grpc-status-details-bin trailer (errors.proto) keeps an error's id,
// cause, fix and field.
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

// A peer takes 8 KiB of trailers by default, into which every error fits with
// these: the cause travels three times, and base64 adds a third.
inline constexpr std::size_t kMaxCauseBytes = 1000;
inline constexpr std::size_t kMaxFixBytes = 500;
inline constexpr std::size_t kMaxFieldBytes = 200;

// Returns one line of valid UTF-8 of at most `max_bytes`: control characters
// become blanks, broken bytes '?', and "..." marks a cut.
std::string CleanText(const std::string& text, std::size_t max_bytes);

// An error with our details becomes what MakeError() made at the other end.
// Without them UNAVAILABLE is COORDINATOR_AWAY, or TLS_REFUSED after a failed
// handshake, and UNIMPLEMENTED METHOD_NOT_BUILT. Anything else, and an id that
// a newer peer sent, keeps its code and text.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_ERROR_H_

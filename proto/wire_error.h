// SPDX-License-Identifier: Apache-2.0
//
// File: wire_error.h
//
// An error on its way back from the wire: what a client makes of a
// grpc::Status. The other direction is server/rpc/status.h. Between the two
// lies the grpc-status-details-bin trailer of errors.proto, and an error that
// passes both keeps its id, cause, fix and field.
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

// A peer takes 8 KiB of trailers by default; the cause travels three times and
// base64 adds a third, so these keep every error below that.
inline constexpr std::size_t kMaxCauseBytes = 1000;
inline constexpr std::size_t kMaxFixBytes = 500;
inline constexpr std::size_t kMaxFieldBytes = 200;

// `text` as one line of valid UTF-8 of at most `max_bytes`: control characters
// become blanks, broken sequences '?', and a cut is marked by "...".
std::string CleanText(const std::string& text, std::size_t max_bytes);

// OK stays OK. An error with our details becomes the error that MakeError made
// at the other end. Without them: UNAVAILABLE is COORDINATOR_AWAY,
// UNIMPLEMENTED is METHOD_NOT_BUILT, anything else keeps its code and text.
absl::Status FromGrpcStatus(const grpc::Status& status);

}  // namespace frostline::proto

#endif  // FROSTLINE_PROTO_WIRE_ERROR_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: status.h
//
// The one place where an error of ours becomes an error on the wire. The way
// back is proto/wire_error.h.
#ifndef FROSTLINE_SERVER_RPC_STATUS_H_
#define FROSTLINE_SERVER_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace frostline::server {

// Code and cause as they are; ErrorInfo always, BadRequest where a field of the
// request is at fault, RetryInfo where the same call may work later. Texts are
// made printable and cut. An error that MakeError did not make is a bug and
// goes out as INTERNAL.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_STATUS_H_

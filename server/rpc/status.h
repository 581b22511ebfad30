// SPDX-License-Identifier: Apache-2.0
//
// File: status.h
#ifndef FROSTLINE_SERVER_RPC_STATUS_H_
#define FROSTLINE_SERVER_RPC_STATUS_H_

#include <grpcpp/support/status.h>

#include "absl/status/status.h"

namespace frostline::server {

// Adds ErrorInfo always, BadRequest where a field is at fault, RetryInfo where
// the call may work later. Texts are made printable and cut. An error that
// MakeError did not make is a bug and goes out as INTERNAL.
grpc::Status ToGrpcStatus(const absl::Status& status);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_STATUS_H_

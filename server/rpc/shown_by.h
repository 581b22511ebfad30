// SPDX-License-Identifier: Apache-2.0
//
// File: shown_by.h
#ifndef FROSTLINE_SERVER_RPC_SHOWN_BY_H_
#define FROSTLINE_SERVER_RPC_SHOWN_BY_H_

#include <grpcpp/server_context.h>

#include <string>

#include "server/audit/audit_log.h"
#include "server/auth/gate.h"
#include "server/rpc/call_counts.h"

namespace frostline::server {

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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_RPC_SHOWN_BY_H_

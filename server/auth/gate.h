// SPDX-License-Identifier: Apache-2.0
//
// File: gate.h
//
// The edge asks at every call:
//
//   ASSIGN_OR_RETURN(CallerIdentity who, gate.Identify(ShownBy(context)));
//   RETURN_IF_ERROR(CheckRole(who, verb.role, method));
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_AUTH_GATE_H_
#define FROSTLINE_SERVER_AUTH_GATE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "server/auth/token_book.h"
#include "server/loop/call_context.h"

namespace frostline::server {

// What a call shows of its caller.
struct Shown {
  // It came in plaintext, which only loopback and Unix sockets are served in.
  bool is_local = false;
  SecretString authorization;     // "Bearer frost_…"; or empty
  std::vector<std::string> uris;  // of a certificate that was verified
  std::string certificate_sha256;
};

class Gate {
 public:
  // Where tokens are required, a local caller without credentials is nobody.
  Gate(TokenBook& tokens, const Clock& clock, bool require_tokens)
      : tokens_(tokens), clock_(clock), require_tokens_(require_tokens) {}

  // A token goes before a certificate, and either before being local. It
  // answers CREDENTIALS_MISSING, TOKEN_INVALID or TOKEN_EXPIRED.
  absl::StatusOr<CallerIdentity> Identify(const Shown& shown) const;

 private:
  TokenBook& tokens_;
  const Clock& clock_;
  const bool require_tokens_;
};

// Answers PERMISSION_DENIED, naming both roles; `method` is
// "frostline.v1.StudyService.StopStudy".
absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method);

// Answers WORKER_DENIED when a worker calls as another than its credentials
// name. Those that name none may be any worker that no token names.
absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id, const TokenBook& tokens,
                         WallMicros now);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_GATE_H_

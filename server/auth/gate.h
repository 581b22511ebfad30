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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "server/auth/call_rates.h"
#include "server/auth/certificate_facts.h"
#include "server/auth/credentials.h"
#include "server/loop/call_context.h"

namespace frostline::server {

// What a call shows of its caller.
struct Shown {
  // It came in plaintext, which only loopback and Unix sockets are served in.
  bool is_local = false;
  SecretString authorization;   // "Bearer frost_…"; or empty
  std::string certificate_pem;  // one that gRPC has verified; or empty
};

class Gate {
 public:
  // Where tokens are required, a local caller without credentials is nobody.
  Gate(Credentials& credentials, const Clock& clock, bool require_tokens,
       RateLimit limit = {})
      : credentials_(credentials),
        clock_(clock),
        require_tokens_(require_tokens),
        rates_(limit) {}

  // A token goes before a certificate, and either before being local. It
  // answers CREDENTIALS_MISSING, TOKEN_INVALID, TOKEN_EXPIRED,
  // CERTIFICATE_REVOKED or CERTIFICATE_EXPIRED. A spent invitation is nobody's,
  // but where `row` is for the invited: a node may have lost the answer.
  absl::StatusOr<CallerIdentity> Identify(
      const Shown& shown, CallerRole row = CallerRole::kAnyone) const;
  // Answers CALLER_TOO_FAST when its share is used up. Callers without
  // credentials, who are on this machine, have no bound.
  absl::Status TakeCall(const CallerIdentity& caller) const;
  // Counts calls that it refused.
  const Counter& too_fast() const { return too_fast_; }

 private:
  absl::StatusOr<CallerIdentity> OwnerOf(const std::string& pem) const;

  Credentials& credentials_;
  const Clock& clock_;
  const bool require_tokens_;
  mutable CertificateFactsCache facts_;
  mutable CallRates rates_;
  mutable Counter too_fast_;
};

// Answers TOKEN_INVALID or CERTIFICATE_REVOKED to whom what let it in was
// taken away since.
absl::Status CheckHolds(const CallerIdentity& caller);

// Answers PERMISSION_DENIED, naming both roles; `method` is
// "frostline.v1.StudyService.StopStudy".
absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method);

// Answers WORKER_DENIED when a worker calls as another than its credentials
// name. Those that name none may be any worker that no others name.
absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id,
                         const Credentials& credentials, WallMicros now);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_GATE_H_

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

#include <memory>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "server/auth/credentials.h"
#include "server/loop/call_context.h"
#include "tls/certificate.h"

namespace frostline::server {

// A bucket of calls for each identity, so that one cannot take the others'
// share. With c calls left t seconds ago, a call now finds
//
//   min(burst, c + t * rate)     rate 2, burst 4: 4 at once, then 1 every .5 s

struct RateLimit {
  double calls_per_s = 5'000.0;
  double burst = 20'000.0;
};

// Any thread may call.
class CallRates {
 public:
  explicit CallRates(RateLimit limit = {}) : limit_(limit) {}

  // Says whether one more call of this identity is within its share, and counts
  // it.
  bool Take(const std::string& who, SteadyTime now);
  // Counts identities that are remembered: those that called lately.
  std::size_t size() const;

 private:
  struct Bucket {
    double calls;
    SteadyTime filled;
  };
  void ForgetFull(SteadyTime now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  double Fill(const Bucket& bucket, SteadyTime now) const;

  const RateLimit limit_;
  mutable Mutex mutex_;
  std::unordered_map<std::string, Bucket> buckets_ ABSL_GUARDED_BY(mutex_);
};

// A client shows its certificate with every call; it is read once, not at each.

inline constexpr std::size_t kMostKnownCertificates = 16'384;  // 2 KiB each

// Any thread may call. When it is full it begins anew.
class CertificateFactsCache {
 public:
  // The error is TLS_FILE: gRPC took it for a certificate, OpenSSL does not.
  absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>> Read(
      const std::string& pem);
  // Counts how often one was read, to guard what a call costs.
  std::int64_t reads() const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const tls::CertificateFacts>>
      known_ ABSL_GUARDED_BY(mutex_);
  std::int64_t reads_ ABSL_GUARDED_BY(mutex_) = 0;
};

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

// SPDX-License-Identifier: Apache-2.0
//
// File: access.h
//
// Who calls, which verbs they may call, and which studies they see and change.
#ifndef FROSTLINE_SERVER_AUTH_ACCESS_H_
#define FROSTLINE_SERVER_AUTH_ACCESS_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "frostline/v1/admin_service.pb.h"
#include "google/protobuf/map.h"
#include "google/protobuf/message.h"
#include "server/auth/credentials.h"
#include "server/loop/call_context.h"
#include "tls/certificate.h"

namespace frostline::server {

// Who may call which verb, and who may see and change which study.

//   caller \ row   anyone  viewer  worker  certified  researcher  invited admin
//   invited          x                                               x
//   viewer           x       x
//   worker           x               x       if it is
//   researcher       x       x                          x
//   admin            x       x       x                  x                    x
//
// A worker is certified when it shows a certificate. A row that names no role
// is for admins, so a new verb is denied to everybody else until it names a
// role.

bool Allows(const CallerIdentity& caller, CallerRole row);

// Returns the role's name: "admin"; for the role of a row also "anyone" and
// "certified".
const char* NameOfRole(CallerRole role);
// Returns the role of this name; nothing for any other word, including
// "anyone".
std::optional<CallerRole> RoleNamed(const std::string& name);

v1::Role RoleToProto(CallerRole role);
// Returns nothing when the number is no role of a caller.
std::optional<CallerRole> RoleFromProto(int role);

//   caller                      sees a study      changes it
//   admin                       x                 x
//   researcher                  x                 its owner
//   researcher with labels      owner or labels   owner or labels
//   viewer                      x
//   viewer with labels          labels
//
// A worker sees what it leases. A caller's labels are those of its token; a
// study has to carry all of them.

// The owner of a study, and its labels.
struct StudyBelongs {
  const std::string& name;
  const std::string& owner;
  const google::protobuf::Map<std::string, std::string>& labels;
};

// Says whether this caller cannot see all studies.
bool IsLimited(const CallerIdentity& caller);
bool MaySee(const CallerIdentity& caller, const StudyBelongs& study);
// Both return STUDY_DENIED. The second one checks what the caller creates or
// leaves behind: it has to carry the caller's own labels.
absl::Status CheckStudyAccess(const CallerIdentity& caller,
                              const StudyBelongs& study, bool changes);
absl::Status CheckOwnLabels(
    const CallerIdentity& caller,
    const google::protobuf::Map<std::string, std::string>& labels);

// Returns every "studies/…" that a request names, each once and without
// "/trials/7". It looks at fields that hold names, not at notes or labels.
std::vector<std::string> StudiesNamedIn(
    const google::protobuf::Message& request);
// Says whether requests of this method may change anything: they have a request
// id, or they end an attempt, whose lease then serves as one.
bool MayChange(const google::protobuf::Descriptor& request,
               const std::string& method);
// Fills in what the request says of itself: its id, its resource ("" is the
// coordinator), the studies it names, and whether it changes anything. `method`
// is "frostline.v1.StudyService.StopStudy".
void NoteRequest(const google::protobuf::Message& request,
                 const std::string& method, CallContext* caller);

// Finds out who calls and whether they may. The edge asks at every call:
//
//   ASSIGN_OR_RETURN(CallerIdentity who, gate.Identify(ShownBy(context)));
//   RETURN_IF_ERROR(CheckRole(who, verb.role, method));
//
// Any thread may call.

// Limits calls by identity, with a bucket for each, so that one caller cannot
// take the others' share. With c calls left t seconds ago, a call now finds
//
//   min(burst, c + t * rate)     rate 2, burst 4: 4 at once, then 1 every .5 s

// How many calls an identity may make.
struct RateLimit {
  double calls_per_s = 5'000.0;
  double burst = 20'000.0;
};

// The calls that each identity has left, by a bucket of tokens for each. Any
// thread may call.
class CallRates {
 public:
  explicit CallRates(RateLimit limit = {}) : limit_(limit) {}

  // Counts a call of this identity, and says whether it is within its share.
  bool Take(const std::string& who, SteadyTime now);
  // Returns how many identities are remembered: those that called lately.
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

// A client shows its certificate with every call; it is parsed only once.

inline constexpr std::size_t kMostKnownCertificates = 16'384;  // 2 KiB each

// Certificates that were read before, by their text. When it is full it begins
// again with none. Any thread may call.
class CertificateFactsCache {
 public:
  // The error is TLS_FILE: gRPC accepted it as a certificate, OpenSSL does not.
  absl::StatusOr<std::shared_ptr<const tls::CertificateFacts>> Read(
      const std::string& pem);
  // Returns how many certificates were parsed; a test guards by it what a call
  // costs.
  std::int64_t reads() const;

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const tls::CertificateFacts>>
      known_ ABSL_GUARDED_BY(mutex_);
  std::int64_t reads_ ABSL_GUARDED_BY(mutex_) = 0;
};

// What a call shows of its caller.
struct Shown {
  // True when the call came in plaintext, which is served only on loopback and
  // Unix sockets.
  bool is_local = false;
  SecretString authorization;   // "Bearer frost_…"; or empty
  std::string certificate_pem;  // one that gRPC has verified; or empty
};

// Finds out who calls. Any thread may call.
class Gate {
 public:
  // With `require_tokens`, a local caller without credentials is nobody.
  Gate(Credentials& credentials, const Clock& clock, bool require_tokens,
       RateLimit limit = {})
      : credentials_(credentials),
        clock_(clock),
        require_tokens_(require_tokens),
        rates_(limit) {}

  // Returns who calls. A token goes before a certificate, and both before being
  // local. The errors are CREDENTIALS_MISSING, TOKEN_INVALID, TOKEN_EXPIRED,
  // CERTIFICATE_REVOKED and CERTIFICATE_EXPIRED. An invitation that was traded
  // proves nothing, except to a row for the invited: a node may have lost the
  // answer.
  absl::StatusOr<CallerIdentity> Identify(
      const Shown& shown, CallerRole row = CallerRole::kAnyone) const;
  // The error is CALLER_TOO_FAST when the caller's share is used up. Callers
  // without credentials, which are on this machine, have no limit.
  absl::Status TakeCall(const CallerIdentity& caller) const;
  // Returns how many calls were refused because the caller was too fast.
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

// The error is TOKEN_INVALID or CERTIFICATE_REVOKED when the caller's
// credential was revoked since it was let in.
absl::Status CheckHolds(const CallerIdentity& caller);

// The error is PERMISSION_DENIED, and names both roles. `method` is
// "frostline.v1.StudyService.StopStudy".
absl::Status CheckRole(const CallerIdentity& caller, CallerRole row,
                       const std::string& method);

// The error is WORKER_DENIED when a worker calls under a name that is not the
// one in its credentials. Credentials that name no worker may be used for any
// worker that no other credentials name.
absl::Status CheckWorker(const CallerIdentity& caller,
                         const std::string& worker_id,
                         const Credentials& credentials, WallMicros now);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_AUTH_ACCESS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: call_context.h
//
// Who calls, and how a call is answered. The edge fills it in; every verb gets
// it.
#ifndef FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_
#define FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/log.h"

namespace frostline::server {

// The thread of the commit loop, as a lock for clang's -Wthread-safety (`./dev
// check`). A function marked FROSTLINE_ON_LOOP may be called only where the
// caller is known to run on that thread. A function object that is posted to
// the loop proves it with its batch, which only the loop has, or carries the
// mark itself.
//
//   std::set<storage::StudyKey> changed_ ABSL_GUARDED_BY(kLoopThread);
//   StudyBook* Find(storage::StudyKey study) FROSTLINE_ON_LOOP;
//   loop.Post([this](Batch& batch) { batch.AssertOnLoop(); Find(1); });
//
// All coordinators of one process share this role.

class ABSL_LOCKABLE LoopThread{};
inline constexpr LoopThread kLoopThread;

#define FROSTLINE_ON_LOOP \
  ABSL_EXCLUSIVE_LOCKS_REQUIRED(::frostline::server::kLoopThread)

// A scope in which the current thread counts as the loop's: the loop's own
// thread, or the one that fills memory before the loop runs.
class ABSL_SCOPED_LOCKABLE AsLoopThread {
 public:
  AsLoopThread() ABSL_EXCLUSIVE_LOCK_FUNCTION(kLoopThread) {}
  ~AsLoopThread() ABSL_UNLOCK_FUNCTION() {}
  AsLoopThread(const AsLoopThread&) = delete;
  AsLoopThread& operator=(const AsLoopThread&) = delete;
};

// A function that takes the answer of a call. It is called exactly once, from
// any thread, and must not block.
template <typename T>
using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// A flag that the edge sets when the caller has hung up or the call's time is
// over.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

enum class CallerRole {
  kAnyone,      // for a row: every role
  kInvited,     // trades a single-use token for a certificate
  kViewer,      // reads
  kWorker,      // takes trials and reports on them
  kCertified,   // for a row: a worker that shows a certificate
  kResearcher,  // creates and changes studies and trials
  kAdmin,       // operates the coordinator and the fleet
};

// What is served first when more calls come than can be served. A trial is lost
// without its heartbeat; a reader can ask again.
enum class Urgency { kLease, kChange, kRead };

enum class CallerProof { kLoopback, kToken, kCertificate };

// The caller as the edge has identified it. One that nobody has filled in is
// nobody, and may do nothing.
struct CallerIdentity {
  std::string subject;  // "ana", "workers/gpu03"
  CallerRole role = CallerRole::kAnyone;
  CallerProof proof = CallerProof::kLoopback;
  std::string token_id;
  std::string certificate_sha256;  // in hexadecimal digits
  WallMicros expires = 0;          // 0: never
  // Only studies that carry all of these labels are in sight. Empty: all
  // studies.
  std::map<std::string, std::string> study_labels = {};
  bool is_spent = false;  // an invitation that was already traded
  // Becomes true when the credential that proved this identity is revoked.
  // Null: it cannot be revoked.
  std::shared_ptr<const std::atomic<bool>> revoked = nullptr;

  bool is_revoked() const { return revoked != nullptr && *revoked; }
};

// Returns the identity of an admin. This process has it, and so has whoever
// calls over loopback without credentials.
inline CallerIdentity LocalAdmin() {
  CallerIdentity local;
  local.subject = "local";
  local.role = CallerRole::kAdmin;
  return local;
}

// What the coordinator knows of one call. It is made from an identity or copied
// whole: a part of a call that is answered later acts for the same caller.
struct CallContext {
  explicit CallContext(CallerIdentity who) : identity(std::move(who)) {}

  CallerIdentity identity;
  std::string peer;  // empty: this process
  std::string request_id;
  TraceContext trace = {};  // the caller's, or a new one made for the call
  std::string method;       // "StudyService.StopStudy"
  // "studies/imdb", "studies/imdb/trials/7", "workers/gpu03", …
  std::string resource;
  // The studies that the request names, and whether it would change them. They
  // are checked before the body runs when the caller may not see all studies.
  std::vector<std::string> studies = {};
  bool changes = false;
  SteadyTime deadline = SteadyTime::max();
  CancelFlag cancelled;  // may be null
  Urgency urgency = Urgency::kChange;

  // Says that nobody waits for the answer any more, or that the caller's
  // credential was revoked.
  bool hung_up() const {
    return (cancelled != nullptr && *cancelled) || identity.is_revoked();
  }
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_

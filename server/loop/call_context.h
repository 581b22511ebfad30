// SPDX-License-Identifier: Apache-2.0
//
// File: call_context.h
//
// The edge fills this in; every verb gets it.
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

// Clang's -Wthread-safety follows the commit loop's thread like a lock (`./dev
// check`): what says FROSTLINE_ON_LOOP is called where the caller is known to
// be that thread. A function object on its way there shows its batch, which
// only the loop has, or carries the mark itself.
//
//   std::set<storage::StudyKey> changed_ ABSL_GUARDED_BY(kLoopThread);
//   StudyBook* Find(storage::StudyKey study) FROSTLINE_ON_LOOP;
//   loop.Post([this](Batch& batch) { batch.AssertOnLoop(); Find(1); });
//
// It is a role: coordinators of one process share it.

class ABSL_LOCKABLE LoopThread{};
inline constexpr LoopThread kLoopThread;

#define FROSTLINE_ON_LOOP \
  ABSL_EXCLUSIVE_LOCKS_REQUIRED(::frostline::server::kLoopThread)

// While it lives, its thread plays the role: the loop's own, or the one that
// fills memory before the loop runs.
class ABSL_SCOPED_LOCKABLE AsLoopThread {
 public:
  AsLoopThread() ABSL_EXCLUSIVE_LOCK_FUNCTION(kLoopThread) {}
  ~AsLoopThread() ABSL_UNLOCK_FUNCTION() {}
  AsLoopThread(const AsLoopThread&) = delete;
  AsLoopThread& operator=(const AsLoopThread&) = delete;
};

// It is called exactly once, from any thread, and must not block.
template <typename T>
using Reply = absl::AnyInvocable<void(absl::StatusOr<T>)>;

// The edge sets it when the caller has hung up or its time is over.
using CancelFlag = std::shared_ptr<std::atomic<bool>>;

enum class CallerRole {
  kAnyone,      // of a row: every role
  kInvited,     // trades a single-use token for a certificate
  kViewer,      // reads
  kWorker,      // takes trials and reports on them
  kCertified,   // of a row: a worker that shows a certificate
  kResearcher,  // creates and changes studies and trials
  kAdmin,       // operates the coordinator and the fleet
};

// What goes first where more calls come than are served. Without a heartbeat a
// trial is lost; who reads can ask again.
enum class Urgency { kLease, kChange, kRead };

enum class CallerProof { kLoopback, kToken, kCertificate };

// It says whom the edge takes a caller for. One that nobody has filled in is
// nobody, who may do nothing.
struct CallerIdentity {
  std::string subject;  // "ana", "workers/gpu03"
  CallerRole role = CallerRole::kAnyone;
  CallerProof proof = CallerProof::kLoopback;
  std::string token_id;
  std::string certificate_sha256;  // in hexadecimal digits
  WallMicros expires = 0;          // 0: never
  // Only studies that carry these. Empty: all.
  std::map<std::string, std::string> study_labels = {};
  bool is_spent = false;  // an invitation that was traded already
  // Set when what proved it is revoked. Null: it cannot be.
  std::shared_ptr<const std::atomic<bool>> revoked = nullptr;

  bool is_revoked() const { return revoked != nullptr && *revoked; }
};

// This process, and whoever calls over loopback without credentials, is an
// admin.
inline CallerIdentity LocalAdmin() {
  CallerIdentity local;
  local.subject = "local";
  local.role = CallerRole::kAdmin;
  return local;
}

// A context is made of an identity, or copied whole: a part of a call that is
// answered later acts for the same caller.
struct CallContext {
  explicit CallContext(CallerIdentity who) : identity(std::move(who)) {}

  CallerIdentity identity;
  std::string peer;  // empty: this process
  std::string request_id;
  TraceContext trace = {};  // the caller's, or one that was made for the call
  std::string method;       // "StudyService.StopStudy"
  // "studies/imdb", "studies/imdb/trials/7", "workers/gpu03", …
  std::string resource;
  // Studies that the request names, and whether it would change them: looked at
  // before a body runs, where the caller may not see all.
  std::vector<std::string> studies = {};
  bool changes = false;
  SteadyTime deadline = SteadyTime::max();
  CancelFlag cancelled;  // may be null
  Urgency urgency = Urgency::kChange;

  // Nobody waits for the answer, or nobody may have it any more.
  bool hung_up() const {
    return (cancelled != nullptr && *cancelled) || identity.is_revoked();
  }
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LOOP_CALL_CONTEXT_H_

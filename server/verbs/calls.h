// SPDX-License-Identifier: Apache-2.0
//
// File: calls.h
//
// Calls get to their bodies in four ways, told apart by what the body takes:
//
//   Add      StatusOr<A> (Change&, const R&)     on the loop; answered on disk
//   AddOnce  the same                            and once for each request id
//   Add      StatusOr<A> (const StudyHandle&, const R&) const
//                                                on a reader, of one study
//   Add      void (CallContext, R, Reply<A>)     it answers itself
//
// Any thread may call. A body on the loop that lacks rows (stored_rows.h) runs
// again with them, so it looks up before it changes.
#ifndef FROSTLINE_SERVER_VERBS_CALLS_H_
#define FROSTLINE_SERVER_VERBS_CALLS_H_

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "server/audit/audit_log.h"
#include "server/ledger/ledger.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"
#include "server/verbs/verb_table.h"
#include "server/verbs/waiting_calls.h"

namespace frostline::server {

// A change is one run of a call's body on the loop.
struct Change {
  const CallContext& caller;
  Batch& batch;
  StoredRows& rows;

  void AssertOnLoop() const ABSL_ASSERT_EXCLUSIVE_LOCK(kLoopThread) {
    batch.AssertOnLoop();
  }
};

// The store had this row of a request id. While it is held, memory keeps what
// the store could not show.
struct LookedUpReply {
  std::optional<storage::ReplyRow> row;
  Lookup looking;
};

class Calls {
 public:
  // `lookups` reads single rows, `readers` whole lists.
  Calls(CommitLoop& loop, TaskPool& lookups, TaskPool& readers, Ledger& ledger,
        AuditLog& audit, const storage::TrialStore& store, const Clock& clock);

  // When the work cannot be posted, `refuse` is told why. The more urgent one
  // is refused the later.
  void Post(CommitLoop::Work work, Urgency urgency,
            absl::FunctionRef<void(const absl::Status&)> refuse);
  void PostTo(TaskPool& pool, absl::AnyInvocable<void()> task, Urgency urgency,
              absl::FunctionRef<void(const absl::Status&)> refuse);
  TaskPool& readers() { return readers_; }

  // Runs `body(change)` on the loop, unless the caller has hung up by then; it
  // is answered once on disk. A body that wrote nothing, in a group that was
  // undone, runs again.
  enum class Again { kIfUndone, kNever };
  template <typename T, typename Body>
  void Act(CallContext caller, Reply<T> reply, Body body,
           Again again = Again::kIfUndone);
  // `body(change, reply)` takes the reply, leaving null, and answers it later;
  // or it returns an error, which is answered.
  // What the caller proved itself with may be revoked meanwhile: then it is
  // told so at once, and what the body answers later is dropped.
  template <typename T, typename Body>
  void Wait(CallContext caller, Reply<T> reply, Body body);
  // Some credentials were revoked.
  void EndRevoked() { waiting_.EndRevoked(); }
  // Asks the store on a lookup thread what a request id was answered, then
  // calls `then(stored, reply)`.
  template <typename T, typename Then>
  void LookUpReply(const std::string& request_id, Urgency urgency,
                   Reply<T> reply, Then then);
  // Runs `body(change, request)` once for each request id; later the stored
  // answer is given. `may_begin(request)` is asked first, outside of any write.
  template <typename T, typename Request, typename Body, typename MayBegin>
  void ActOnce(CallContext caller, const std::string& method, Request request,
               Reply<T> reply, Body body, MayBegin may_begin);
  // `see(change)` makes a snapshot on the loop, `render(snapshot)` runs on a
  // reader.
  template <typename Snapshot, typename T, typename See, typename Render>
  void Look(CallContext caller, Reply<T> reply, See see, Render render);
  // Looks up studies on the loop; `body(handles, reply)` runs on a reader.
  template <typename T, typename Body>
  void Read(CallContext caller, std::vector<std::string> study_names,
            Reply<T> reply, Body body);

  // Makes a row of the table; `name` is "StudyService.GetStudy".
  template <typename V, typename Request, typename Answer>
  void AddOnce(VerbTable& table, const std::string& name, CallerRole role,
               V* object,
               absl::StatusOr<Answer> (V::*body)(Change&, const Request&));
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           V* object,
           absl::StatusOr<Answer> (V::*body)(Change&, const Request&));
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           const V* object,
           absl::StatusOr<Answer> (V::*body)(const StudyHandle&, const Request&)
               const);
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           V* object, void (V::*body)(CallContext, Request, Reply<Answer>));

 private:
  // `task(reply)` runs on a reader, unless the caller has hung up by then.
  template <typename T, typename Task>
  void ToReader(const CallContext& caller, Reply<T> reply, Task task);
  template <typename T, typename Body>
  struct Acting;
  template <typename T, typename Body>
  void Run(std::shared_ptr<Acting<T, Body>> acting);
  // Says why no body may run: nobody waits for it, or a study that the request
  // names is not the caller's to see, or to change.
  absl::Status CheckMayRun(const CallContext& caller) FROSTLINE_ON_LOOP;
  // Notes in the audit what a change came to: it wrote, or was refused.
  void NoteOutcome(const CallContext& caller, const absl::Status& outcome,
                   bool wrote) FROSTLINE_ON_LOOP;

  WaitingCalls waiting_;
  CommitLoop& loop_;
  TaskPool& lookups_;
  TaskPool& readers_;
  Ledger& ledger_;
  AuditLog& audit_;
  const storage::TrialStore& store_;
  const Clock& clock_;
};

absl::Status DrainingError();

// Answers CANCELLED when nobody waits for the answer any more. Scans ask
// between two pages.
absl::Status CheckWaiting(const CallContext& caller);

}  // namespace frostline::server

#include "server/verbs/calls_inline.h"  // IWYU pragma: export
#include "server/verbs/rows_inline.h"   // IWYU pragma: export

#endif  // FROSTLINE_SERVER_VERBS_CALLS_H_

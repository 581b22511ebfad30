// SPDX-License-Identifier: Apache-2.0
//
// File: calls.h
//
// How a call comes to its body, and the answer back, in one of four ways:
//
//   Add      StatusOr<A> (Change&, const R&)     on the loop; answered on disk
//   AddOnce  the same                            and once for each request id
//   AddRead  StatusOr<A> (const CallContext&, const StudyHandle&, const R&)
//                                                on a reading thread, one study
//   Add      void (CallContext, R, Reply<A>)     it answers itself
//
// Any thread may call. When a body on the loop lacks rows (stored_rows.h), it
// runs again with them; so it has to look everything up before it changes
// anything.
#ifndef FROSTLINE_SERVER_VERBS_CALLS_H_
#define FROSTLINE_SERVER_VERBS_CALLS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/mutex.h"
#include "google/protobuf/message.h"
#include "server/audit/audit_log.h"
#include "server/ledger/ledger.h"
#include "server/loop/call_context.h"
#include "server/loop/commit_loop.h"
#include "server/loop/task_pool.h"
#include "server/verbs/verb_table.h"

namespace frostline::server {

// The calls that wait for something to happen, and who waits. When a caller's
// credential is revoked, its calls are answered at once with that reason,
// wherever they are parked: the caller learns nothing more.
//
// Any thread may call. It outlives the replies that it guards.
class WaitingCalls {
 public:
  // Returns a reply that takes the first of two answers: its own, or
  // EndRevoked()'s.
  template <typename T>
  Reply<T> Guard(const CallerIdentity& who, Reply<T> reply) {
    if (who.revoked == nullptr) return reply;  // it cannot be revoked
    struct Once {
      std::atomic<bool> is_answered = false;
      Reply<T> reply;
    };
    auto once = std::make_shared<Once>();
    once->reply = std::move(reply);
    const std::uint64_t number = Add(who, [once](const absl::Status& why) {
      if (!once->is_answered.exchange(true)) once->reply(why);
    });
    return [this, number, once](absl::StatusOr<T> answer) {
      Remove(number);
      if (!once->is_answered.exchange(true)) once->reply(std::move(answer));
    };
  }

  // Answers the calls whose caller's credentials were revoked.
  void EndRevoked();

 private:
  struct Waiting {
    CallerIdentity who;
    absl::AnyInvocable<void(const absl::Status&)> end;
  };

  std::uint64_t Add(const CallerIdentity& who,
                    absl::AnyInvocable<void(const absl::Status&)> end);
  void Remove(std::uint64_t number);

  Mutex mutex_;
  std::uint64_t last_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

// One run of a call's body on the loop.
struct Change {
  const CallContext& caller;
  Batch& batch;
  StoredRows& rows;

  void AssertOnLoop() const ABSL_ASSERT_EXCLUSIVE_LOCK(kLoopThread) {
    batch.AssertOnLoop();
  }
};

// What the store has for a request id. While this is held, memory keeps what
// the store could not show yet.
struct LookedUpReply {
  std::optional<storage::ReplyRow> row;
  Lookup looking;
};

// Returns why a caller may not see a study, or not change it, whether or not
// its request named it.
absl::Status CheckAccess(const CallerIdentity& caller, const StudyBook& book,
                         bool changes = false) FROSTLINE_ON_LOOP;

// The threads that read the store beside the loop. A lane has threads of its
// own, so that nothing in another lane is before its work.
struct Lanes {
  TaskPool lookups;  // single rows
  TaskPool points;   // what is about one study or one trial
  TaskPool readers;  // lists, exports and other scans
};

// The runner of calls: it brings each call to its body and the answer back. All
// verbs of a coordinator share one.
class Calls {
 public:
  Calls(CommitLoop& loop, Lanes& lanes, Ledger& ledger, AuditLog& audit,
        const storage::TrialStore& store, const Clock& clock);

  TaskPool& points() { return lanes_.points; }
  TaskPool& readers() { return lanes_.readers; }

  // Posts work to the loop. When that is impossible, `refuse` is told why.
  // Urgent work is refused later than other work.
  void Post(CommitLoop::Work work, Urgency urgency,
            absl::FunctionRef<void(const absl::Status&)> refuse);
  // Runs `task(reply)` on a thread of the lane. When that is impossible, the
  // reply is told why.
  template <typename T, typename Task>
  void PostTo(TaskPool& lane, Urgency urgency, Reply<T> reply, Task task);

  // Runs `body(change)` on the loop, unless the caller has hung up by then, and
  // answers when the group is on disk. A body that wrote nothing runs again
  // when its group was undone.
  enum class Again { kIfUndone, kNever };
  template <typename T, typename Body>
  void Act(CallContext caller, Reply<T> reply, Body body,
           Again again = Again::kIfUndone);
  // Runs `body(change, reply)`, which either takes the reply (and leaves null)
  // to answer it later, or returns an error to be answered. If the caller's
  // credential is revoked meanwhile, the caller is told so at once, and what
  // the body answers later is dropped.
  template <typename T, typename Body>
  void Wait(CallContext caller, Reply<T> reply, Body body);
  // Answers the waiting calls whose credentials were revoked.
  void EndRevoked() { waiting_.EndRevoked(); }
  // Looks up on a lookup thread what the store has for a request id, then calls
  // `then(stored, reply)`.
  template <typename T, typename Then>
  void LookUpReply(const std::string& request_id, Urgency urgency,
                   Reply<T> reply, Then then);
  // Runs `body(change, request)` once for each request id; a repetition gets
  // the stored answer. `may_begin(request)` is asked first, outside of any
  // write.
  template <typename T, typename Request, typename Body>
  void ActOnce(CallContext caller, const std::string& method, Request request,
               Reply<T> reply, Body body,
               std::function<absl::Status(const Request&)> may_begin = nullptr);
  // Makes a snapshot with `see(change)` on the loop, then calls
  // `then(snapshot, reply)` on a thread of the lane, unless the caller has hung
  // up by then.
  template <typename Snapshot, typename T, typename See, typename Then>
  void Look(TaskPool& lane, CallContext caller, Reply<T> reply, See see,
            Then then);
  // Looks up studies on the loop, and calls `body(handles, reply)`.
  template <typename T, typename Body>
  void Read(TaskPool& lane, CallContext caller,
            std::vector<std::string> study_names, Reply<T> reply, Body body);

  // Adds a row to the table; `name` is "StudyService.GetStudy".
  template <typename V, typename Request, typename Answer>
  void AddOnce(VerbTable& table, const std::string& name, CallerRole role,
               V* object,
               absl::StatusOr<Answer> (V::*body)(Change&, const Request&));
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           V* object,
           absl::StatusOr<Answer> (V::*body)(Change&, const Request&));
  template <typename V, typename Request, typename Answer>
  void AddRead(VerbTable& table, const std::string& name, TaskPool& lane,
               const V* object,
               absl::StatusOr<Answer> (V::*body)(const CallContext&,
                                                 const StudyHandle&,
                                                 const Request&) const);
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           V* object, void (V::*body)(CallContext, Request, Reply<Answer>));

 private:
  // A call on its way through the loop.
  struct Acting {
    Acting(CallContext who, Again when) : caller(std::move(who)), again(when) {}
    virtual ~Acting() = default;
    // Runs the body, keeps its answer, and returns the answer's status.
    virtual absl::Status Run(Change& change) = 0;
    // Answers what is kept, or why that does not hold.
    virtual void Answer(const absl::Status& committed) = 0;

    CallContext caller;
    Again again;
    StoredRows rows;
    Lookup reading;  // held while rows are used
  };
  template <typename T, typename Body>
  struct ActingWith;

  void Run(const std::shared_ptr<Acting>& acting);
  void RunIn(Batch& batch,
             const std::shared_ptr<Acting>& acting) FROSTLINE_ON_LOOP;
  // Gives the stored answer, or has `body` make one and stores that.
  absl::Status Once(Change& change, const RequestMark& mark,
                    const LookedUpReply& stored,
                    absl::FunctionRef<absl::Status()> may_begin,
                    absl::FunctionRef<absl::Status()> body,
                    google::protobuf::Message& answer) FROSTLINE_ON_LOOP;
  // Returns the studies, all of which the caller may see.
  absl::StatusOr<std::vector<StudyHandle>> HandlesOf(
      const CallerIdentity& caller,
      const std::vector<std::string>& names) FROSTLINE_ON_LOOP;
  static void PostOrRefuse(TaskPool& lane, Urgency urgency,
                           absl::AnyInvocable<void()> task,
                           absl::FunctionRef<void(const absl::Status&)> refuse);
  // Returns why no body may run: nobody waits for it, or the caller may not see
  // or change a study that the request names.
  absl::Status CheckMayRun(const CallContext& caller) FROSTLINE_ON_LOOP;
  // Notes the outcome of a change in the audit: it wrote, or was refused.
  void NoteOutcome(const CallContext& caller, const absl::Status& outcome,
                   bool wrote) FROSTLINE_ON_LOOP;

  WaitingCalls waiting_;
  CommitLoop& loop_;
  Lanes& lanes_;
  Ledger& ledger_;
  AuditLog& audit_;
  const storage::TrialStore& store_;
  const Clock& clock_;
};

absl::Status DrainingError();

// The error is CANCELLED when nobody waits for the answer any more. Scans ask
// this between two pages.
absl::Status CheckWaiting(const CallContext& caller);

template <typename T, typename Task>
void Calls::PostTo(TaskPool& lane, Urgency urgency, Reply<T> reply, Task task) {
  auto shared = std::make_shared<Reply<T>>(std::move(reply));
  PostOrRefuse(
      lane, urgency,
      [shared, task = std::move(task)]() mutable { task(std::move(*shared)); },
      [&shared](const absl::Status& why) { (*shared)(why); });
}

template <typename T, typename Body>
struct Calls::ActingWith final : Acting {
  ActingWith(CallContext who, Again when, Reply<T> to, Body what)
      : Acting(std::move(who), when),
        reply(std::move(to)),
        body(std::move(what)) {}

  absl::Status Run(Change& change) override {
    answer = body(change);
    return answer.status();
  }
  void Answer(const absl::Status& committed) override {
    reply(committed.ok() ? std::move(answer) : absl::StatusOr<T>(committed));
  }

  Reply<T> reply;
  Body body;
  absl::StatusOr<T> answer;
};

template <typename T, typename Body>
void Calls::Act(CallContext caller, Reply<T> reply, Body body, Again again) {
  Run(std::make_shared<ActingWith<T, Body>>(std::move(caller), again,
                                            std::move(reply), std::move(body)));
}

template <typename T, typename Body>
void Calls::Wait(CallContext caller, Reply<T> reply, Body body) {
  auto shared = std::make_shared<Reply<T>>(
      waiting_.Guard(caller.identity, std::move(reply)));
  // Says that the body keeps the reply, or why not.
  Act<bool>(
      std::move(caller),
      [shared](const absl::StatusOr<bool>& kept) {
        if (!kept.ok() && *shared) (*shared)(kept.status());
      },
      [shared,
       body = std::move(body)](Change& change) mutable -> absl::StatusOr<bool> {
        RETURN_IF_ERROR(body(change, *shared));
        return true;
      },
      Again::kNever);  // it may have taken the reply
}

template <typename T, typename Then>
void Calls::LookUpReply(const std::string& request_id, Urgency urgency,
                        Reply<T> reply, Then then) {
  PostTo<T>(lanes_.lookups, urgency, std::move(reply),
            [this, request_id, then = std::move(then),
             looking = ledger_.reply_lookups().Begin()](Reply<T> to) mutable {
              auto stored = store_.FindReply(request_id);
              if (!stored.ok()) return to(stored.status());
              then(LookedUpReply{*std::move(stored), std::move(looking)},
                   std::move(to));
            });
}

template <typename T, typename Request, typename Body>
void Calls::ActOnce(CallContext caller, const std::string& method,
                    Request request, Reply<T> reply, Body body,
                    std::function<absl::Status(const Request&)> may_begin) {
  const RequestMark mark{request.request_id(), method, HashRequest(request)};
  const Urgency urgency = caller.urgency;
  auto once = [this, mark, request = std::move(request), body = std::move(body),
               may_begin = std::move(may_begin)](
                  Change& change,
                  const LookedUpReply& stored) mutable -> absl::StatusOr<T> {
    change.AssertOnLoop();
    T answer;
    const auto begin = [&] {
      return may_begin ? may_begin(request) : absl::OkStatus();
    };
    const auto run = [&]() -> absl::Status {
      ASSIGN_OR_RETURN(answer, body(change, request));
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(Once(change, mark, stored, begin, run, answer));
    return answer;
  };
  LookUpReply<T>(
      mark.request_id, urgency, std::move(reply),
      [this, caller = std::move(caller), once = std::move(once)](
          LookedUpReply stored, Reply<T> answer) mutable {
        Act<T>(std::move(caller), std::move(answer),
               [once = std::move(once), stored = std::move(stored)](
                   Change& change) mutable { return once(change, stored); });
      });
}

template <typename Snapshot, typename T, typename See, typename Then>
void Calls::Look(TaskPool& lane, CallContext caller, Reply<T> reply, See see,
                 Then then) {
  const CallContext asked = caller;
  Act<Snapshot>(
      std::move(caller),
      [this, &lane, asked, reply = std::move(reply),
       then = std::move(then)](absl::StatusOr<Snapshot> seen) mutable {
        if (!seen.ok()) return reply(seen.status());
        PostTo<T>(lane, asked.urgency, std::move(reply),
                  [asked, seen = *std::move(seen),
                   then = std::move(then)](Reply<T> to) mutable {
                    const absl::Status waiting = CheckWaiting(asked);
                    if (!waiting.ok()) return to(waiting);
                    then(std::move(seen), std::move(to));
                  });
      },
      std::move(see));
}

template <typename T, typename Body>
void Calls::Read(TaskPool& lane, CallContext caller,
                 std::vector<std::string> study_names, Reply<T> reply,
                 Body body) {
  Look<std::vector<StudyHandle>>(
      lane, std::move(caller), std::move(reply),
      [this, names = std::move(study_names)](Change& change) {
        change.AssertOnLoop();
        return HandlesOf(change.caller.identity, names);
      },
      std::move(body));
}

// Returns the study a request is about: its parent, the study that it names, or
// the one in its name.
template <typename Request>
std::string StudyNamedBy(const Request& request) {
  if constexpr (requires { request.parent(); }) {
    return request.parent();
  } else if constexpr (requires { request.study(); }) {
    return request.study();
  } else {
    return request.name().substr(0, request.name().find("/trials/"));
  }
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                V* object,
                absl::StatusOr<Answer> (V::*body)(Change&, const Request&)) {
  AddUnary<Request, Answer>(
      table, name, role,
      [this, object, body](CallContext caller, Request request,
                           Reply<Answer> reply) {
        Act<Answer>(
            std::move(caller), std::move(reply),
            [object, body, request = std::move(request)](Change& change) {
              return (object->*body)(change, request);
            });
      });
}

template <typename V, typename Request, typename Answer>
void Calls::AddOnce(VerbTable& table, const std::string& name, CallerRole role,
                    V* object,
                    absl::StatusOr<Answer> (V::*body)(Change&,
                                                      const Request&)) {
  AddUnary<Request, Answer>(
      table, name, role,
      [this, method = name.substr(name.find('.') + 1), object, body](
          CallContext caller, Request request, Reply<Answer> reply) {
        ActOnce<Answer>(std::move(caller), method, std::move(request),
                        std::move(reply),
                        [object, body](Change& change, const Request& named) {
                          return (object->*body)(change, named);
                        });
      });
}

template <typename V, typename Request, typename Answer>
void Calls::AddRead(VerbTable& table, const std::string& name, TaskPool& lane,
                    const V* object,
                    absl::StatusOr<Answer> (V::*body)(const CallContext&,
                                                      const StudyHandle&,
                                                      const Request&) const) {
  AddUnary<Request, Answer>(
      table, name, CallerRole::kViewer,
      [this, &lane, object, body](const CallContext& caller, Request request,
                                  Reply<Answer> reply) {
        std::vector<std::string> study = {StudyNamedBy(request)};
        Read(lane, caller, std::move(study), std::move(reply),
             [caller, object, body, request = std::move(request)](
                 const std::vector<StudyHandle>& studies, Reply<Answer> to) {
               to((object->*body)(caller, studies[0], request));
             });
      });
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                V* object,
                void (V::*body)(CallContext, Request, Reply<Answer>)) {
  AddUnary<Request, Answer>(
      table, name, role,
      [object, body](CallContext caller, Request request, Reply<Answer> reply) {
        (object->*body)(std::move(caller), std::move(request),
                        std::move(reply));
      });
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_CALLS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: calls.h
//
// Brings a call to its body and the answer back. There are four ways, told
// apart by what the body takes:
//
//   Add      StatusOr<A> (Change&, const R&)     on the loop; answered on disk
//   AddOnce  the same                            and once for each request id
//   Add      StatusOr<A> (const StudyHandle&, const R&) const
//                                                on a reader, of one study
//   Add      void (CallContext, R, Reply<A>)     it answers itself
//
// Any thread may call. When a body on the loop lacks rows (stored_rows.h), it
// runs again with them; so it has to look everything up before it changes
// anything.
#ifndef FROSTLINE_SERVER_VERBS_CALLS_H_
#define FROSTLINE_SERVER_VERBS_CALLS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/error.h"
#include "base/mutex.h"
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

// Returns why a caller may not see a study, whether or not its request named
// it.
absl::Status CheckMaySee(const CallerIdentity& caller,
                         const StudyBook& book) FROSTLINE_ON_LOOP;

class Calls {
 public:
  // `lookups` reads single rows, `readers` whole lists.
  Calls(CommitLoop& loop, TaskPool& lookups, TaskPool& readers, Ledger& ledger,
        AuditLog& audit, const storage::TrialStore& store, const Clock& clock);

  // Posts work to the loop. When that is impossible, `refuse` is told why.
  // Urgent work is refused later than other work.
  void Post(CommitLoop::Work work, Urgency urgency,
            absl::FunctionRef<void(const absl::Status&)> refuse);
  void PostTo(TaskPool& pool, absl::AnyInvocable<void()> task, Urgency urgency,
              absl::FunctionRef<void(const absl::Status&)> refuse);
  TaskPool& readers() { return readers_; }

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
  template <typename T, typename Request, typename Body, typename MayBegin>
  void ActOnce(CallContext caller, const std::string& method, Request request,
               Reply<T> reply, Body body, MayBegin may_begin);
  // Makes a snapshot with `see(change)` on the loop, and the answer with
  // `render(snapshot)` on a reader.
  template <typename Snapshot, typename T, typename See, typename Render>
  void Look(CallContext caller, Reply<T> reply, See see, Render render);
  // Looks up studies on the loop, and runs `body(handles, reply)` on a reader.
  template <typename T, typename Body>
  void Read(CallContext caller, std::vector<std::string> study_names,
            Reply<T> reply, Body body);

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
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           const V* object,
           absl::StatusOr<Answer> (V::*body)(const StudyHandle&, const Request&)
               const);
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, CallerRole role,
           V* object, void (V::*body)(CallContext, Request, Reply<Answer>));

 private:
  // Runs `task(reply)` on a reader, unless the caller has hung up by then.
  template <typename T, typename Task>
  void ToReader(const CallContext& caller, Reply<T> reply, Task task);
  template <typename T, typename Body>
  struct Acting;
  template <typename T, typename Body>
  void Run(std::shared_ptr<Acting<T, Body>> acting);
  // Returns why no body may run: nobody waits for it, or the caller may not see
  // or change a study that the request names.
  absl::Status CheckMayRun(const CallContext& caller) FROSTLINE_ON_LOOP;
  // Notes the outcome of a change in the audit: it wrote, or was refused.
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

// The error is CANCELLED when nobody waits for the answer any more. Scans ask
// this between two pages.
absl::Status CheckWaiting(const CallContext& caller);

template <typename T, typename Body>
struct Calls::Acting {
  CallContext caller;
  Reply<T> reply;
  Body body;
  Again again;
  StoredRows rows;
  Lookup reading;  // held while rows are used
};

template <typename T, typename Body>
void Calls::Act(CallContext caller, Reply<T> reply, Body body, Again again) {
  Run(std::make_shared<Acting<T, Body>>(Acting<T, Body>{std::move(caller),
                                                        std::move(reply),
                                                        std::move(body),
                                                        again,
                                                        {},
                                                        nullptr}));
}

template <typename T, typename Body>
void Calls::Run(std::shared_ptr<Acting<T, Body>> acting) {
  const auto refuse = [&acting](const absl::Status& why) {
    acting->reply(why);
  };
  Post(
      [this, acting](Batch& batch) mutable {
        batch.AssertOnLoop();
        const absl::Status may = CheckMayRun(acting->caller);
        if (!may.ok()) {
          if (!absl::IsCancelled(may)) NoteOutcome(acting->caller, may, false);
          return acting->reply(may);
        }
        Change change{acting->caller, batch, acting->rows};
        const std::int64_t writes = batch.writes();
        absl::StatusOr<T> answer = acting->body(change);
        if (acting->rows.lacks()) {
          // Keeps the lookup that covers the rows which were read first.
          if (acting->reading == nullptr) {
            acting->reading = ledger_.row_lookups().Begin();
          }
          return PostTo(
              lookups_,
              [this, acting] {
                acting->rows.Read(store_);
                Run(acting);
              },
              acting->caller.urgency,
              [&acting](const absl::Status& why) { acting->reply(why); });
        }
        acting->reading = nullptr;
        const bool wrote = batch.writes() != writes;
        NoteOutcome(acting->caller, answer.status(), wrote);
        const bool may_run_again = acting->again == Again::kIfUndone && !wrote;
        batch.Then([this, acting, may_run_again, answer = std::move(answer)](
                       const absl::Status& committed) mutable {
          // The group was undone for another call's reasons, so this one may
          // run again.
          if (may_run_again && IsUndone(committed)) return Run(acting);
          acting->reply(committed.ok() ? std::move(answer)
                                       : absl::StatusOr<T>(committed));
        });
      },
      acting->caller.urgency, refuse);
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
  auto shared = std::make_shared<Reply<T>>(std::move(reply));
  PostTo(
      lookups_,
      [this, request_id, shared, then = std::move(then),
       looking = ledger_.reply_lookups().Begin()]() mutable {
        auto stored = store_.FindReply(request_id);
        if (!stored.ok()) return (*shared)(stored.status());
        then(LookedUpReply{*std::move(stored), std::move(looking)},
             std::move(*shared));
      },
      urgency, [&shared](const absl::Status& why) { (*shared)(why); });
}

template <typename T, typename Request, typename Body, typename MayBegin>
void Calls::ActOnce(CallContext caller, const std::string& method,
                    Request request, Reply<T> reply, Body body,
                    MayBegin may_begin) {
  const RequestMark mark{request.request_id(), method, HashRequest(request)};
  auto once = [this, mark, request = std::move(request), body = std::move(body),
               may_begin = std::move(may_begin)](
                  Change& change,
                  const LookedUpReply& stored) mutable -> absl::StatusOr<T> {
    change.AssertOnLoop();
    ASSIGN_OR_RETURN(const std::optional<std::string> before,
                     ledger_.replies().Find(mark, stored.row));
    if (before.has_value()) {
      T again;
      again.ParseFromString(*before);
      return again;
    }
    RETURN_IF_ERROR(may_begin(request));
    absl::StatusOr<T> answer = absl::UnknownError("not run");
    RETURN_IF_ERROR(change.batch.Write([&](storage::Transaction& transaction) {
      change.AssertOnLoop();
      answer = body(change, request);
      RETURN_IF_ERROR(answer.status());
      return ledger_.replies().Remember(
          transaction, mark, answer->SerializeAsString(), clock_.Wall());
    }));
    return answer;
  };
  const Urgency urgency = caller.urgency;
  LookUpReply<T>(
      mark.request_id, urgency, std::move(reply),
      [this, caller = std::move(caller), once = std::move(once)](
          LookedUpReply stored, Reply<T> answer) mutable {
        Act<T>(std::move(caller), std::move(answer),
               [once = std::move(once), stored = std::move(stored)](
                   Change& change) mutable { return once(change, stored); });
      });
}

template <typename Snapshot, typename T, typename See, typename Render>
void Calls::Look(CallContext caller, Reply<T> reply, See see, Render render) {
  const CallContext asked = caller;
  Act<Snapshot>(
      std::move(caller),
      [this, asked, reply = std::move(reply),
       render = std::move(render)](absl::StatusOr<Snapshot> seen) mutable {
        if (!seen.ok()) return reply(seen.status());
        ToReader<T>(asked, std::move(reply),
                    [seen = *std::move(seen), render = std::move(render)](
                        Reply<T> answer) mutable { answer(render(seen)); });
      },
      [see = std::move(see)](Change& change) -> absl::StatusOr<Snapshot> {
        return see(change);
      });
}

template <typename T, typename Body>
void Calls::Read(CallContext caller, std::vector<std::string> study_names,
                 Reply<T> reply, Body body) {
  using Handles = std::vector<StudyHandle>;
  const CallContext asked = caller;
  Act<Handles>(
      std::move(caller),
      [this, asked, reply = std::move(reply),
       body = std::move(body)](absl::StatusOr<Handles> handles) mutable {
        if (!handles.ok()) return reply(handles.status());
        ToReader<T>(
            asked, std::move(reply),
            [handles = *std::move(handles), body = std::move(body)](
                Reply<T> answer) mutable { body(handles, std::move(answer)); });
      },
      [this, names = std::move(study_names)](
          Change& change) -> absl::StatusOr<Handles> {
        change.AssertOnLoop();
        Handles handles;
        handles.reserve(names.size());
        for (const std::string& name : names) {
          ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(name));
          RETURN_IF_ERROR(CheckMaySee(change.caller.identity, *book));
          handles.push_back(HandleOf(*book));
        }
        return handles;
      });
}

template <typename T, typename Task>
void Calls::ToReader(const CallContext& caller, Reply<T> reply, Task task) {
  auto shared = std::make_shared<Reply<T>>(std::move(reply));
  PostTo(
      readers_,
      [caller, shared, task = std::move(task)]() mutable {
        const absl::Status waiting = CheckWaiting(caller);
        if (!waiting.ok()) return (*shared)(waiting);
        task(std::move(*shared));
      },
      caller.urgency, [&shared](const absl::Status& why) { (*shared)(why); });
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
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [this, object, body](CallContext caller, Request request,
                                     Reply<Answer> reply) {
            Act<Answer>(
                std::move(caller), std::move(reply),
                [object, body, request = std::move(request)](Change& change) {
                  return (object->*body)(change, request);
                });
          }));
}

template <typename V, typename Request, typename Answer>
void Calls::AddOnce(VerbTable& table, const std::string& name, CallerRole role,
                    V* object,
                    absl::StatusOr<Answer> (V::*body)(Change&,
                                                      const Request&)) {
  const std::string method = name.substr(name.find('.') + 1);
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [this, method, object, body](
                    CallContext caller, Request request, Reply<Answer> reply) {
            ActOnce<Answer>(
                std::move(caller), method, std::move(request), std::move(reply),
                [object, body](Change& change, const Request& asked) {
                  return (object->*body)(change, asked);
                },
                [](const Request&) { return absl::OkStatus(); });
          }));
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                const V* object,
                absl::StatusOr<Answer> (V::*body)(const StudyHandle&,
                                                  const Request&) const) {
  const auto run = [this, object, body](CallContext caller, Request request,
                                        Reply<Answer> reply) {
    std::vector<std::string> study = {StudyNamedBy(request)};
    Read(std::move(caller), std::move(study), std::move(reply),
         [object, body, request = std::move(request)](
             const std::vector<StudyHandle>& handles, Reply<Answer> answer) {
           answer((object->*body)(handles[0], request));
         });
  };
  table.unary.emplace(absl::StrCat("frostline.v1.", name),
                      MakeUnaryVerb<Request, Answer>(role, run));
}

template <typename V, typename Request, typename Answer>
void Calls::Add(VerbTable& table, const std::string& name, CallerRole role,
                V* object,
                void (V::*body)(CallContext, Request, Reply<Answer>)) {
  table.unary.emplace(
      absl::StrCat("frostline.v1.", name),
      MakeUnaryVerb<Request, Answer>(
          role, [object, body](CallContext caller, Request request,
                               Reply<Answer> reply) {
            (object->*body)(std::move(caller), std::move(request),
                            std::move(reply));
          }));
}

// A lane for questions about one study or one trial, with threads of its own,
// so that no list and no other scan of the readers is ever before them. The
// loop only takes a snapshot, which shares what does not change.
//
// Any thread may call.

class PointReads {
 public:
  // Borrows all of its arguments.
  PointReads(Calls& calls, TaskPool& threads, Ledger& ledger)
      : calls_(calls), threads_(threads), ledger_(ledger) {}

  // Makes a snapshot with `see(change)` on the loop, and answers with
  // `render(snapshot)` on a thread of this lane, unless the caller has hung up
  // by then.
  template <typename Snapshot, typename T, typename See, typename Render>
  void Look(CallContext caller, Reply<T> reply, See see, Render render);

  // Adds a row to the table for a body that reads one study.
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, const V* object,
           absl::StatusOr<Answer> (V::*body)(const CallContext&,
                                             const StudyHandle&, const Request&)
               const);

  // Runs the task on a thread of this lane.
  void Post(absl::AnyInvocable<void()> task) { threads_.Post(std::move(task)); }

 private:
  Calls& calls_;
  TaskPool& threads_;
  Ledger& ledger_;
};

template <typename Snapshot, typename T, typename See, typename Render>
void PointReads::Look(CallContext caller, Reply<T> reply, See see,
                      Render render) {
  const CallContext asked = caller;
  calls_.Act<Snapshot>(
      std::move(caller),
      [this, asked, reply = std::move(reply),
       render = std::move(render)](absl::StatusOr<Snapshot> seen) mutable {
        if (!seen.ok()) return reply(seen.status());
        auto shared = std::make_shared<Reply<T>>(std::move(reply));
        calls_.PostTo(
            threads_,
            [asked, shared, seen = *std::move(seen),
             render = std::move(render)]() mutable {
              const absl::Status waiting = CheckWaiting(asked);
              (*shared)(waiting.ok() ? absl::StatusOr<T>(render(seen))
                                     : absl::StatusOr<T>(waiting));
            },
            asked.urgency,
            [&shared](const absl::Status& why) { (*shared)(why); });
      },
      std::move(see));
}

template <typename V, typename Request, typename Answer>
void PointReads::Add(VerbTable& table, const std::string& name, const V* object,
                     absl::StatusOr<Answer> (V::*body)(const CallContext&,
                                                       const StudyHandle&,
                                                       const Request&) const) {
  const auto run = [this, object, body](CallContext caller, Request request,
                                        Reply<Answer> reply) {
    const CallContext asked = caller;
    const std::string study = StudyNamedBy(request);
    Look<StudyHandle>(
        std::move(caller), std::move(reply),
        [this, study](Change& change) -> absl::StatusOr<StudyHandle> {
          change.AssertOnLoop();
          ASSIGN_OR_RETURN(const StudyBook* book, ledger_.FindStudy(study));
          RETURN_IF_ERROR(CheckMaySee(change.caller.identity, *book));
          return HandleOf(*book);
        },
        [asked, object, body,
         request = std::move(request)](const StudyHandle& handle) {
          return (object->*body)(asked, handle, request);
        });
  };
  table.unary.emplace(absl::StrCat("frostline.v1.", name),
                      MakeUnaryVerb<Request, Answer>(CallerRole::kViewer, run));
}

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_CALLS_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: calls_inline.h
#ifndef FROSTLINE_SERVER_VERBS_CALLS_INLINE_H_
#define FROSTLINE_SERVER_VERBS_CALLS_INLINE_H_

#include <optional>

#include "server/verbs/calls.h"

namespace frostline::server {

template <typename T, typename Body>
struct Calls::Acting {
  CallContext caller;
  Reply<T> reply;
  Body body;
  Again again;
  StoredRows rows;
  Lookup reading;  // while rows are used
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
          // Rows that were read before stay as old as they are.
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
          // What it saw may be undone; it has no part in why.
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
  // Answers that the body keeps the reply, or why not.
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

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_CALLS_INLINE_H_

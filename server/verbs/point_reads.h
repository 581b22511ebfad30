// SPDX-License-Identifier: Apache-2.0
//
// File: point_reads.h
//
// What is asked of one study or one trial is read on threads of its own: no
// list and no other scan, which readers have, is ever before it. The loop only
// takes a snapshot, which shares what does not change.
//
// Any thread may call.
#ifndef FROSTLINE_SERVER_VERBS_POINT_READS_H_
#define FROSTLINE_SERVER_VERBS_POINT_READS_H_

#include <memory>
#include <string>
#include <utility>

#include "server/verbs/calls.h"

namespace frostline::server {

class PointReads {
 public:
  // Borrows all of them.
  PointReads(Calls& calls, TaskPool& threads, Ledger& ledger)
      : calls_(calls), threads_(threads), ledger_(ledger) {}

  // `see(change)` makes a snapshot on the loop, `render(snapshot)` answers on a
  // thread of this lane, unless the caller has hung up by then.
  template <typename Snapshot, typename T, typename See, typename Render>
  void Look(CallContext caller, Reply<T> reply, See see, Render render);

  // Makes a row of the table of a body that reads of one study.
  template <typename V, typename Request, typename Answer>
  void Add(VerbTable& table, const std::string& name, const V* object,
           absl::StatusOr<Answer> (V::*body)(const CallContext&,
                                             const StudyHandle&, const Request&)
               const);

  // The task runs on a thread of this lane.
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

#endif  // FROSTLINE_SERVER_VERBS_POINT_READS_H_

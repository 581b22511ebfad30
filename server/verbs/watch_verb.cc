// SPDX-License-Identifier: Apache-2.0
#include "server/verbs/watch_verb.h"

#include <memory>
#include <utility>

#include "base/error.h"
#include "proto/wire_time.h"
#include "server/verbs/describe.h"
#include "server/verbs/reading_verbs.h"
#include "server/wire/page_token.h"

namespace frostline::server {
namespace {

constexpr int kMostEvents = 256;

v1::StudyEvent Alive(std::int64_t revision) {
  v1::StudyEvent event;
  event.set_revision(revision);
  *event.mutable_alive() = proto::TimestampToProto(SystemClock().Wall());
  return event;
}

}  // namespace

WatchVerb::WatchVerb(Calls& calls, Ledger& ledger,
                     const storage::TrialStore& store, const Clock& clock,
                     Duration alive_every)
    : calls_(calls),
      ledger_(ledger),
      store_(store),
      clock_(clock),
      alive_every_(alive_every) {}

StreamVerb MakeWatchVerb(EventSource source) {
  using Request = v1::WatchStudyRequest;
  const auto begin = [source = std::move(source)](CallContext caller,
                                                  Request first) {
    auto request = std::make_shared<Request>(std::move(first));
    return [source, caller = std::move(caller),
            request](Reply<StudyEvents> reply) {
      source(caller, *request,
             [request, reply = std::move(reply)](
                 absl::StatusOr<StudyEvents> events) mutable {
               if (!events.ok()) return reply(std::move(events));
               if (events->empty()) {
                 events->push_back(Alive(request->after_revision()));
               }
               request->set_after_revision(events->back().revision());
               reply(std::move(events));
             });
    };
  };
  return MakeStreamVerb<Request, v1::StudyEvent>(CallerRole::kViewer, begin);
}

void WatchVerb::AddTo(VerbTable& table) {
  table.streams.emplace(
      "frostline.v1.StudyService.WatchStudy",
      MakeWatchVerb([this](CallContext caller, v1::WatchStudyRequest request,
                           Reply<StudyEvents> reply) {
        NextEvents(std::move(caller), std::move(request), alive_every_,
                   std::move(reply));
      }));
}

void WatchVerb::NextEvents(CallContext caller, v1::WatchStudyRequest request,
                           Duration wait, Reply<Events> reply) {
  calls_.Wait(std::move(caller), std::move(reply),
              [this, wait, request = std::move(request)](
                  Change& change, Reply<Events>& to) -> absl::Status {
                change.AssertOnLoop();
                ASSIGN_OR_RETURN(const StudyBook* book,
                                 ledger_.FindStudy(request.name()));
                if (request.after_revision() > book->revision()) {
                  return MakeError(
                      ErrorId::kHistoryGone,
                      "the revision is ahead of the study, which may have "
                      "been restored from a backup",
                      "list the trials again, then watch from there",
                      "after_revision");
                }
                // If it has fallen behind it is woken at the end of this group.
                ledger_.MarkChanged(book->row().key);
                watching_.Enter({.study = book->row().key,
                                 .after_revision = request.after_revision(),
                                 .view = request.view(),
                                 .deadline = clock_.Steady() + wait,
                                 .reply = std::exchange(to, nullptr)});
                return absl::OkStatus();
              });
}

absl::StatusOr<WatchVerb::Events> WatchVerb::EventsAfter(
    const StudyHandle& study, v1::Study now, std::int64_t after_revision,
    v1::TrialView view) const {
  storage::TrialQuery query;
  query.study = study.key;
  query.order = storage::TrialQuery::Order::kRevision;
  query.after = after_revision;
  query.limit = kMostEvents;
  ASSIGN_OR_RETURN(const std::vector<storage::TrialRow> rows,
                   store_.ListTrials(query));
  Events events;
  events.reserve(rows.size() + 1);
  std::size_t bytes = 0;
  for (const storage::TrialRow& row : rows) {
    // Newer than `now`: it belongs to the next events, with a newer study.
    if (row.revision > now.revision()) break;
    v1::StudyEvent event;
    event.set_revision(row.revision);
    ASSIGN_OR_RETURN(*event.mutable_trial(),
                     RenderTrial(row, study, view, store_, ledger_.progress()));
    bytes += event.ByteSizeLong();
    events.push_back(std::move(event));
    // The rest come next.
    if (bytes > kMostPageBytes && &row != &rows.back()) return events;
  }
  // The study itself goes last, with its counts, when nothing newer is left
  // out: its revision is that of all that was sent.
  if (rows.size() < kMostEvents) {
    v1::StudyEvent event;
    event.set_revision(now.revision());
    *event.mutable_study() = std::move(now);
    events.push_back(std::move(event));
  }
  return events;
}

void WatchVerb::Committed() {
  for (const storage::StudyKey key : ledger_.changed()) {
    const StudyBook* const book = ledger_.Find(key);
    if (book == nullptr) continue;
    for (Parked& watch : watching_.Take(key, [book](const Parked& parked) {
           return book->revision() > parked.after_revision;
         })) {
      auto shared = std::make_shared<Parked>(std::move(watch));
      calls_.readers().Post(
          [this, shared, handle = HandleOf(*book), now = SnapshotOf(*book)] {
            shared->reply(EventsAfter(handle, DescribeStudy(now),
                                      shared->after_revision, shared->view));
          });
    }
  }
}

void WatchVerb::Turn(Batch& batch) {
  for (Parked& watch : watching_.TakeDue(clock_.Steady())) {
    batch.Then([reply = std::move(watch.reply)](
                   const absl::Status& committed) mutable {
      committed.ok() ? reply(Events()) : reply(committed);
    });
  }
}

void WatchVerb::Drain(Batch& batch) {
  for (Parked& watch : watching_.TakeAll()) {
    batch.Then([reply = std::move(watch.reply)](const absl::Status&) mutable {
      reply(DrainingError());
    });
  }
}

}  // namespace frostline::server

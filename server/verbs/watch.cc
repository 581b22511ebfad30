// SPDX-License-Identifier: Apache-2.0
//
// Who watches a study, and what they are told of it.
#include <utility>

#include "server/coordinator_impl.h"

namespace frostline {
namespace {

constexpr int kMostEvents = 256;

}  // namespace

absl::StatusOr<std::vector<v1::StudyEvent>> Coordinator::Impl::EventsAfter(
    const StudyHandle& study, v1::Study now, std::int64_t after_revision,
    v1::TrialView view) {
  TrialQuery query;
  query.study = study.key;
  query.order = TrialQuery::Order::kRevision;
  query.after = after_revision;
  query.limit = kMostEvents;
  ASSIGN_OR_RETURN(const std::vector<TrialRow> rows, store_.ListTrials(query));
  std::vector<v1::StudyEvent> events;
  for (const TrialRow& row : rows) {
    // Newer than `now`: it belongs to the next events, with a newer study.
    if (row.revision > now.revision()) break;
    v1::StudyEvent event;
    event.set_revision(row.revision);
    ASSIGN_OR_RETURN(*event.mutable_trial(), Render(row, study, view));
    events.push_back(std::move(event));
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

void Coordinator::Impl::StartWatch(v1::WatchStudyRequest request, Duration wait,
                                   CancelFlag cancelled,
                                   Reply<std::vector<v1::StudyEvent>> reply) {
  auto shared =
      std::make_shared<Reply<std::vector<v1::StudyEvent>>>(std::move(reply));
  PostCall(
      [this, shared, request = std::move(request), wait,
       cancelled = std::move(cancelled)](Batch& batch) mutable {
        const absl::StatusOr<StudyBook*> book = FindStudy(request.name());
        absl::Status refused = book.status();
        if (book.ok() && request.after_revision() > (*book)->revision()) {
          refused = MakeError(
              ErrorId::kHistoryGone,
              "the revision is ahead of the study, which may have "
              "been restored from a backup",
              "list the trials again, then watch from there", "after_revision");
        }
        if (!refused.ok()) {
          return batch.Then(
              [shared, refused](const absl::Status&) { (*shared)(refused); });
        }
        // If it has fallen behind it is woken at the end of this group.
        changed_.insert((*book)->row().key);
        watching_.Enter({.study = (*book)->row().key,
                         .after_revision = request.after_revision(),
                         .view = request.view(),
                         .deadline = clock_.Steady() + wait,
                         .cancelled = std::move(cancelled),
                         .reply = std::move(*shared)});
      },
      [&shared](const absl::Status& refused) { (*shared)(refused); });
}

// On the loop, when a group is on disk.
void Coordinator::Impl::WakeWatchers() {
  for (const StudyKey key : changed_) {
    const auto found = studies_.find(key);
    if (found == studies_.end()) continue;
    const StudyBook& book = found->second;
    for (ParkedWatch& watch : watching_.Take(key, [&book](const auto& parked) {
           return book.revision() > parked.after_revision;
         })) {
      auto shared = std::make_shared<ParkedWatch>(std::move(watch));
      readers_.Post([this, shared, handle = HandleOf(book),
                     now = Describe(book)]() mutable {
        shared->reply(EventsAfter(handle, std::move(now),
                                  shared->after_revision, shared->view));
      });
    }
  }
}

}  // namespace frostline

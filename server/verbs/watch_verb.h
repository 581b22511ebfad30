// SPDX-License-Identifier: Apache-2.0
//
// File: watch_verb.h
//
// WatchStudy: who watches a study, and what they are told of it. A watch is
// answered from snapshots, a page of changes at a time; while nothing changes
// it says now and then that it is alive.
#ifndef FROSTLINE_SERVER_VERBS_WATCH_VERB_H_
#define FROSTLINE_SERVER_VERBS_WATCH_VERB_H_

#include <functional>
#include <optional>
#include <vector>

#include "frostline/v1/study_service.pb.h"
#include "server/dispatch/waiting_room.h"
#include "server/verbs/calls.h"

namespace frostline::server {

using StudyEvents = std::vector<v1::StudyEvent>;
// The next changes after the request's revision; none: nothing has changed for
// a while.
using EventSource =
    std::function<void(CallContext, v1::WatchStudyRequest, Reply<StudyEvents>)>;

// A stream of what `source` answers: each time after the last event that it
// handed out, with an `alive` event for none. Ends with the source's error.
StreamVerb MakeWatchVerb(EventSource source);

// Watchers belong to the loop's thread.
class WatchVerb {
 public:
  using Events = StudyEvents;

  // Borrows all but `alive_every`.
  WatchVerb(Calls& calls, Ledger& ledger, const storage::TrialStore& store,
            const Clock& clock, Duration alive_every);

  void AddTo(VerbTable& table);

  // The next changes after a revision, by rising revision, at most 256; waits
  // up to `wait` for one. An empty list: nothing changed in that time.
  void NextEvents(CallContext caller, v1::WatchStudyRequest request,
                  Duration wait, Reply<Events> reply);

  // --- on the loop ---
  // A group is on disk: those are answered that it brings news.
  void Committed() FROSTLINE_ON_LOOP;
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  void Drain(Batch& batch) FROSTLINE_ON_LOOP;
  std::optional<SteadyTime> NextDue() const FROSTLINE_ON_LOOP {
    return watching_.NextDue();
  }

 private:
  struct Parked {
    storage::StudyKey study = 0;
    std::int64_t after_revision = 0;
    v1::TrialView view = v1::TRIAL_VIEW_BASIC;
    SteadyTime deadline{};
    Reply<Events> reply;

    storage::StudyKey Key() const { return study; }
  };

  // On a reader.
  absl::StatusOr<Events> EventsAfter(const StudyHandle& study, v1::Study now,
                                     std::int64_t after_revision,
                                     v1::TrialView view) const;

  Calls& calls_;
  Ledger& ledger_;
  const storage::TrialStore& store_;
  const Clock& clock_;
  const Duration alive_every_;
  WaitingRoom<Parked> watching_ ABSL_GUARDED_BY(kLoopThread);
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_VERBS_WATCH_VERB_H_

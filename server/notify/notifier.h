// SPDX-License-Identifier: Apache-2.0
//
// File: notifier.h
//
// What is to be told of a study's end is written in the group in which it ends,
// and forgotten once it was told, or for too long could not be. So each end is
// told at least once, whatever ends the coordinator in between.
//
// Threads: the loop notes and writes, and waits for nobody. Threads of this
// room tell, a destination at a time each, so that one that hangs holds up
// itself.
#ifndef FROSTLINE_SERVER_NOTIFY_NOTIFIER_H_
#define FROSTLINE_SERVER_NOTIFY_NOTIFIER_H_

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/rng.h"
#include "server/ledger/ledger.h"
#include "server/ledger/study_book.h"
#include "server/notify/deliver.h"

namespace frostline::server {

// What is told of a study that has ended, on one line:
//
//   {"event":"study_ended","delivery":"5f…","notification":"mail",
//    "study":"imdb","state":"COMPLETED","reason":"budget of 60 trials reached",
//    "end_time":"2026-11-21T06:07:34.123456Z","trials":{"succeeded":58,…},
//    "best":{"trial":"studies/imdb/trials/12","number":12,
//            "values":{"accuracy":0.93}}}
//
// docs/how-to/notifications.md promises it: members are added, never changed.

// What all deliveries of one end have in common: the members behind
// "notification". Of several objectives "best" is the best by the first.
std::string DescribeEnd(const StudyBook& book, WallMicros end);

std::string EndedStudy(const std::string& delivery,
                       const std::string& notification,
                       const std::string& described);

// When a notification that did not arrive is tried again. It knows no clock and
// no thread.

struct TryRules {
  Duration first = std::chrono::seconds(2);
  Duration longest = std::chrono::hours(1);
  // Counted from the end of the study, also through a restart.
  Duration give_up = std::chrono::hours(24);
};

// The pause after so many failed tries, 1 or more: twice as long each time,
// give or take a half, so that receivers that come back are not met by all at
// once. It is nothing when the next try would come too late.
std::optional<Duration> PauseAfter(int tries, WallMicros ended, WallMicros now,
                                   const TryRules& rules, Rng& rng);

struct NotifyOptions {
  Destinations destinations = {};
  std::size_t threads = 4;
  // Beyond so many that wait, an end is told to nobody, and the log says so.
  std::size_t most_waiting = 10'000;
  Duration limit = kDeliveryLimit;
  TryRules tries = {};
};

// Any thread may read.
struct NotifyCounts {
  Counter delivered;
  Counter retried;  // tries that failed, with another to come
  Counter given_up;
  Counter dropped;  // too many wait, or their destination is gone
};

class Notifier {
 public:
  // It borrows all of them.
  Notifier(const NotifyOptions& options, CommitLoop& loop, Ledger& ledger,
           const Clock& clock);
  ~Notifier() { Stop(); }

  // Takes up what an earlier coordinator left; before Start().
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  void Start();
  // Ends the threads, before the loop ends. What is being told has a moment to
  // be told; the rest is told by the next coordinator. It is idempotent.
  void Stop();

  void NoteEnded(const StudyBook& book) FROSTLINE_ON_LOOP;
  void Turn(Batch& batch) FROSTLINE_ON_LOOP;
  void Committed() FROSTLINE_ON_LOOP;
  void Undo() FROSTLINE_ON_LOOP;

  const NotifyCounts& counts() const { return counts_; }

 private:
  struct Ended {
    std::set<std::string> ids;
    storage::StudyKey key = 0;
    std::string study;
    std::string described;
    WallMicros time = 0;
  };
  struct Waiting {
    storage::NotificationRow row;
    int failures = 0;
  };
  // All that one destination is to be told, by when it is due.
  struct Line {
    std::multimap<SteadyTime, Waiting> waiting;
    bool busy = false;
  };

  void WriteEnded(Batch& batch, const Ended& ended) FROSTLINE_ON_LOOP;
  void WriteOver(Batch& batch) FROSTLINE_ON_LOOP;
  void Queue(storage::NotificationRow row);
  void Run();
  std::optional<Waiting> TakeDue();
  Line* EarliestLine() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Settle(Waiting told, const absl::Status& status);
  // Nothing of it is left to do but to forget its row.
  void NoteOver(const std::string& id);
  bool IsStopped();

  const NotifyOptions& options_;
  CommitLoop& loop_;
  Ledger& ledger_;
  const Clock& clock_;
  NotifyCounts counts_;
  std::vector<Ended> ended_ ABSL_GUARDED_BY(kLoopThread);  // in this group
  std::vector<storage::NotificationRow> written_ ABSL_GUARDED_BY(kLoopThread);
  std::set<std::string> over_ ABSL_GUARDED_BY(kLoopThread);
  std::set<std::string> forgotten_ ABSL_GUARDED_BY(kLoopThread);
  Mutex mutex_;
  CondVar wake_;
  std::map<std::string, Line> lines_ ABSL_GUARDED_BY(mutex_);
  std::size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // and being told
  std::optional<std::chrono::steady_clock::time_point> stop_by_
      ABSL_GUARDED_BY(mutex_);
  Rng rng_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_NOTIFIER_H_

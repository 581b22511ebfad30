// SPDX-License-Identifier: Apache-2.0
//
// File: notifier.h
//
// How named receivers learn that a study has ended. What is to be told is
// written in the group in which the study ends. It is forgotten when it was
// told, or when that failed for too long. So each end is told at least once,
// even when the coordinator dies in between.
//
// Threads: the loop notes and writes, and waits for nobody. The notifier's
// threads do the telling, each for one destination at a time, so that a
// destination that hangs holds up only itself.
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

// The text that tells of a study's end, on one line:
//
//   {"event":"study_ended","delivery":"5f…","notification":"mail",
//    "study":"imdb","state":"COMPLETED","reason":"budget of 60 trials reached",
//    "end_time":"2026-11-21T06:07:34.123456Z","trials":{"succeeded":58,…},
//    "best":{"trial":"studies/imdb/trials/12","number":12,
//            "values":{"accuracy":0.93}}}
//
// docs/how-to/notifications.md promises this form: members may be added, never
// changed.

// Returns what all deliveries of one end have in common: the members after
// "notification". With several objectives "best" is the best by the first one.
std::string DescribeEnd(const StudyBook& book, WallMicros end);

std::string EndedStudy(const std::string& delivery,
                       const std::string& notification,
                       const std::string& described);

// When a notification that did not arrive is tried again. Uses no clock and no
// thread.

struct TryRules {
  Duration first = std::chrono::seconds(2);
  Duration longest = std::chrono::hours(1);
  // Counted from the end of the study, also across restarts.
  Duration give_up = std::chrono::hours(24);
};

// Returns the pause after `tries` failed tries (1 or more). It doubles each
// time, plus or minus a half, so that a receiver that comes back does not get
// everything at once. Returns nothing when the next try would come too late.
std::optional<Duration> PauseAfter(int tries, WallMicros ended, WallMicros now,
                                   const TryRules& rules, Rng& rng);

struct NotifyOptions {
  Destinations destinations = {};
  std::size_t threads = 4;
  // When more than this many wait, a new end is told to nobody, and the log
  // says so.
  std::size_t most_waiting = 10'000;
  Duration limit = kDeliveryLimit;
  TryRules tries = {};
};

// What became of notifications. Any thread may read.
struct NotifyCounts {
  Counter delivered;
  Counter retried;  // failed tries that are followed by another
  Counter given_up;
  Counter dropped;  // too many waited, or the destination is gone
};

// The part of the coordinator that tells named receivers that a study has
// ended. It has threads of its own.
class Notifier {
 public:
  // Borrows all of its arguments.
  Notifier(const NotifyOptions& options, CommitLoop& loop, Ledger& ledger,
           const Clock& clock);
  ~Notifier() { Stop(); }

  // Takes over what an earlier coordinator left. Called before Start().
  absl::Status Load(const storage::TrialStore& store) FROSTLINE_ON_LOOP;
  void Start();
  // Ends the threads; called before the loop ends. A delivery under way gets a
  // moment to finish; the next coordinator makes the others. Idempotent.
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
  // All that one destination has to be told, by the time it is due.
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
  // Notes that nothing is left to do except to forget its row.
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
  // including those being told
  std::size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<std::chrono::steady_clock::time_point> stop_by_
      ABSL_GUARDED_BY(mutex_);
  Rng rng_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_NOTIFY_NOTIFIER_H_

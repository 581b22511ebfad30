// SPDX-License-Identifier: Apache-2.0
//
// File: desk.h
//
// The desk where answers about importance are asked for. It keeps what was
// computed, and has computed what is not there on threads of its own. Any
// thread may call; a call returns at once and is answered by a callback, so
// nobody waits on a thread.
//
// A computation whose callers have all hung up is not begun. One that has begun
// is told to stop within 50 ms, and nothing of it is kept. The same holds when
// the coordinator ends.
#ifndef FROSTLINE_SERVER_IMPORTANCE_DESK_H_
#define FROSTLINE_SERVER_IMPORTANCE_DESK_H_

#include <google/protobuf/message.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "importance/ranking.h"
#include "importance/report.h"
#include "server/importance/question.h"
#include "server/loop/call_context.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

// An answer as it is kept.
struct KeptAnswer {
  std::unique_ptr<google::protobuf::Message> message;
  std::optional<importance::Report> report;  // what the message was made from
};

using AnswerPtr = std::shared_ptr<const KeptAnswer>;

struct WaitingCaller {
  CancelFlag cancelled;  // may be null
  absl::AnyInvocable<void(absl::StatusOr<AnswerPtr>)> reply;
};

enum class Freshness {
  kNewest,    // of the trials that have ended by now
  kAnew,      // computed once more, in any case
  kWatching,  // or one of `series` that is little behind
};

// Which answer is asked for, and how new it has to be.
struct AnswerRequest {
  std::string key;  // names all that the answer is a function of
  Freshness freshness = Freshness::kNewest;
  // Answers of one series differ in the trials that had ended. None: empty.
  std::string series = {};
  std::int64_t ended = 0;  // trials by now
  SteadyTime now = {};
  bool is_kept = true;  // false: for this caller alone
};

// A caller who watches takes an answer that is less than this far behind.
inline constexpr std::int64_t kWatchedTrials = 10;
inline constexpr Duration kWatchedTime = std::chrono::seconds(30);

// How many requests there were, by what came of them. Any thread may read.
struct AnswerCounts {
  Counter kept;      // the answer was there
  Counter joined;    // another caller had it computed
  Counter computed;  // for this caller
  Counter refused;   // too many others were
};

// Returns how many answers may be computed or wait for their turn, where one
// takes `seconds_each` on one of `threads`: as many as are computed within
// kMaxAnswerWait (server/wire/limits.h), so that whoever is let in does not
// wait for longer than that.
std::size_t PlacesFor(double seconds_each, int threads);

// The answers that are kept, and the callers who wait for others. Thread-safe;
// no lock is held while callers are replied to.
class AnswerCache {
 public:
  // Keeps the last ones asked for that fit into `max_bytes`, and at least one.
  explicit AnswerCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Replies at once with what is kept and fresh enough; else the caller waits
  // for such a one that is being computed, or hears OVERLOADED where `places`
  // answers are awaited already. True means that nobody computes one yet:
  // somebody has to call Begin and Resolve.
  bool Ask(const AnswerRequest& asked, std::size_t places,
           WaitingCaller caller);
  const AnswerCounts& counts() const { return counts_; }
  // Returns what tells the computation to stop; nullopt when all who wait have
  // hung up or have waited longer than kMaxAnswerWait, or all is over: they are
  // told so.
  std::optional<std::stop_token> Begin(const std::string& key, SteadyTime now);
  // Replies to all who wait, and keeps an answer. False means that it was told
  // to stop, or all have hung up: nobody is told and nothing kept, and Begin
  // says whether somebody came since then.
  bool Resolve(const std::string& key, const absl::StatusOr<AnswerPtr>& answer);

  // Tells computations to stop for which nobody waits any more.
  void StopAbandoned();
  // Tells all computations to stop, and lets no other begin: whoever waits for
  // them, or asks for what is not kept, hears `why`.
  void StopAll(absl::Status why);

  // Both serve parts of other answers. Null means that none is kept.
  AnswerPtr Find(const std::string& key);
  void Keep(const std::string& key, AnswerPtr answer);

 private:
  // Says which trials an answer is about, and since when, for those who watch.
  struct Vintage {
    std::string series;
    std::int64_t ended = 0;
    SteadyTime asked = {};
  };
  struct Entry {
    std::string key;
    AnswerPtr answer;
    Vintage vintage;
    std::size_t bytes = 0;
  };
  struct Awaited {
    Vintage vintage;
    std::vector<WaitingCaller> callers;
    std::optional<std::stop_source> stop;  // while it is computed
    bool has_begun = false;
    bool is_kept = true;
  };

  static bool IsFreshEnough(const Vintage& vintage, const AnswerRequest& asked);
  AnswerPtr FindWatched(const AnswerRequest& asked)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Awaited* FindAwaited(const AnswerRequest& asked)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  AnswerPtr FindLocked(const std::string& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void KeepLocked(Entry entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_bytes_;
  AnswerCounts counts_;
  Mutex mutex_;
  std::list<Entry> kept_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Awaited> waiting_ ABSL_GUARDED_BY(mutex_);
  absl::Status over_ ABSL_GUARDED_BY(mutex_);  // why all is stopped
};

// The desk itself: an AnswerCache, the trials that are known, and the threads.
class ImportanceDesk {
 public:
  // Borrows both.
  ImportanceDesk(const storage::TrialStore& store, const Clock& clock);
  ~ImportanceDesk() { Stop(); }

  void Start(int threads);
  // Tells what is being computed to stop and refuses the rest. It returns at
  // once.
  void BeginStop();
  // The same, and waits until nothing is computed any more. It is idempotent.
  void Stop();

  // It looks at `stop`: once that is requested, its answer counts for nothing.
  using Computation =
      std::function<absl::StatusOr<AnswerPtr>(const std::stop_token& stop)>;

  // Replies with `render` of the answer, which is computed unless one is kept
  // that is fresh enough.
  template <typename Message, typename Render>
  void Serve(AnswerRequest asked, CancelFlag cancelled, Reply<Message> reply,
             Render render, Computation computation);
  // Returns null when none is kept under `key`.
  AnswerPtr Find(const std::string& key) { return answers_.Find(key); }

  struct Loaded {
    History history;
    std::int64_t revision = 0;
  };
  // Loads the trials that a question is about; CANCELLED after a stop.
  absl::StatusOr<Loaded> Load(const StudyHandle& study,
                              const ImportanceQuestion& question,
                              const std::stop_token& stop);
  KnownStudies& studies() { return studies_; }
  // Any thread may read both.
  const AnswerCounts& counts() const { return answers_.counts(); }
  const Histogram& seconds() const { return seconds_; }
  const storage::TrialStore& store() const { return store_; }
  const Clock& clock() const { return clock_; }

 private:
  void Compute(const std::string& key, Computation computation);
  // Learns what a computation takes, for Places.
  void Learn(double seconds);
  std::size_t Places();
  // Looks now and then whether callers have hung up, on a thread of its own.
  void LookOut();

  const storage::TrialStore& store_;
  const Clock& clock_;
  KnownStudies studies_;
  AnswerCache answers_;
  Histogram seconds_;  // of computations
  Mutex mutex_;
  CondVar changed_;
  int computing_ ABSL_GUARDED_BY(mutex_) = 0;
  double seconds_each_ ABSL_GUARDED_BY(mutex_) = 1.0;  // of late computations
  int thread_count_ = 1;  // written before any call
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread lookout_;
  TaskPool threads_;
};

// Returns what to ask evaluators with.
importance::EvaluateOptions OptionsOf(const ImportanceQuestion& question,
                                      const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_DESK_H_

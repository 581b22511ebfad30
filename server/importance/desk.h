// SPDX-License-Identifier: Apache-2.0
//
// File: desk.h
//
// Any thread may call; a call returns at once. A computation whose callers have
// all hung up is not begun; one that has begun is told to stop within 50 ms,
// and nothing of it is kept. So it is when the coordinator ends.
#ifndef FROSTLINE_SERVER_IMPORTANCE_DESK_H_
#define FROSTLINE_SERVER_IMPORTANCE_DESK_H_

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "importance/ranking/stability.h"
#include "server/importance/answer_cache.h"
#include "server/importance/known_trials.h"
#include "server/importance/question.h"
#include "server/loop/task_pool.h"

namespace frostline::server {

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
  void Serve(AskedAnswer asked, CancelFlag cancelled, Reply<Message> reply,
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
  bool has_computed_ ABSL_GUARDED_BY(mutex_) = false;  // since it was trimmed
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread lookout_;
  TaskPool threads_;
};

// Says whether the ranking has settled, without the intervals that would
// multiply its cost.
absl::StatusOr<importance::StabilityVerdict> VerdictOf(
    const StudyHandle& study, const ImportanceQuestion& question,
    const History& history, const std::stop_token& stop);

// What evaluators are asked with.
importance::EvaluateOptions OptionsOf(const ImportanceQuestion& question,
                                      const std::stop_token& stop);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_IMPORTANCE_DESK_H_

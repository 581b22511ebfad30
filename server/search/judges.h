// SPDX-License-Identifier: Apache-2.0
//
// File: judges.h
//
// Runs pruners on a thread of its own, each study on a strand, so that a report
// never waits for a sampler. A study that prunes has its own copy of what the
// sampler knows (proposer.h), told in the same order; others have none.
#ifndef FROSTLINE_SERVER_SEARCH_JUDGES_H_
#define FROSTLINE_SERVER_SEARCH_JUDGES_H_

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "base/mutex.h"
#include "sampler/pruner/pruner.h"
#include "server/loop/strand.h"
#include "server/wire/spec_check.h"
#include "storage/rows.h"
#include "study/history.h"

namespace frostline::server {

// Something that has happened to a trial. Applied twice it changes nothing.
using HistoryChange = std::function<void(History&)>;

// Any thread may call.
class Judges {
 public:
  Judges() = default;
  ~Judges() { Stop(); }

  void Start() { thread_.Start(1); }
  // Gives every judgement that is owed.
  void Stop() { thread_.Stop(); }
  void Reset();

  // Takes the pruner of a new or changed study; "none" closes it. The answer
  // says whether Fill() has to follow: judgements of a study that does not
  // know its history let every trial go on, unless it `waits` to be filled.
  bool Open(storage::StudyKey study, const CheckedStudy& checked,
            bool waits = false);
  // `history` may be older than what was told since Open().
  void Fill(storage::StudyKey study, History history);
  void Close(storage::StudyKey study);

  void Tell(storage::StudyKey study, const HistoryChange& change);
  // Asks whether to stop early. A point that runs again is not stopped, since
  // how far results differ is asked there. `answer` is always called.
  void Judge(storage::StudyKey study, std::int64_t number,
             absl::AnyInvocable<void(sampler::PruneDecision)> answer);

 private:
  using Answer = absl::AnyInvocable<void(sampler::PruneDecision)>;
  // Something told, or asked about a trial, before the history was there.
  struct Early {
    HistoryChange change;
    std::int64_t number = 0;
    Answer answer;
  };
  // Only its strand touches it.
  struct Desk : Strand {
    using Strand::Strand;
    ~Desk() override;  // lets go on what it was asked and never learnt
    void Judge(std::int64_t number, Answer answer);

    History history;
    bool is_filled = false;
    bool waits = false;
    std::vector<Early> early;
    std::unique_ptr<sampler::Pruner> pruner;
  };
  std::shared_ptr<Desk> Find(storage::StudyKey study);

  Mutex mutex_;
  std::map<storage::StudyKey, std::shared_ptr<Desk>> desks_
      ABSL_GUARDED_BY(mutex_);
  TaskPool thread_;  // ends first: its tasks use the rest
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_JUDGES_H_

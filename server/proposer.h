// SPDX-License-Identifier: Apache-2.0
//
// File: proposer.h
//
// Runs samplers and pruners on a thread of its own, off the request path. It
// owns each study's History; the commit loop tells it, in order, what happened,
// and asks. Because the order of telling and asking is the order of the study's
// revisions, a proposal for number n has seen exactly: every trial numbered
// below n, and every end up to the revision noted with it. That is the log from
// which a study replays.
#ifndef FROSTLINE_SERVER_PROPOSER_H_
#define FROSTLINE_SERVER_PROPOSER_H_

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "sampler/sampler.h"
#include "server/spec_check.h"
#include "server/task_pool.h"
#include "study/history.h"

namespace frostline {

struct Proposal {
  std::int64_t number = 0;
  Point point;
};

// What came of one request; `status` tells why there are fewer than asked.
struct Proposals {
  StudyKey study = 0;
  std::int64_t epoch = 0;
  std::int64_t first_number = 0;
  std::int64_t asked = 0;
  std::int64_t seen_revision = 0;
  std::vector<Proposal> made;
  absl::Status status;
};

// Any thread may call; everything is done in order on the proposer's thread.
class Proposer {
 public:
  // `ready` is called on the proposer's thread and must not block.
  explicit Proposer(std::function<void(Proposals)> ready);
  ~Proposer() { Stop(); }

  void Start() { thread_.Start(1); }
  void Stop() { thread_.Stop(); }  // after what was asked before is done
  // Forgets every study; `epoch` marks what comes after.
  void Reset(std::int64_t epoch);

  void Open(StudyKey study, std::shared_ptr<const CheckedStudy> checked,
            History history, std::vector<PriorStudy> prior_studies);
  // The study's settings changed: its pruner is made anew.
  void Refresh(StudyKey study, std::shared_ptr<const CheckedStudy> checked);
  void Close(StudyKey study);

  // A new trial, or a new attempt of one: pending, nothing measured.
  void Began(StudyKey study, std::int64_t number, Point point);
  void Measured(StudyKey study, std::int64_t number,
                std::vector<IntermediateValue> values);
  void Ended(StudyKey study, std::int64_t number, TrialState state,
             std::vector<double> values, double cost_s);

  void Propose(StudyKey study, std::int64_t first_number, std::int64_t count,
               std::int64_t seen_revision);
  // Whether the trial should stop early. `answer` is always called.
  void Judge(StudyKey study, std::int64_t number,
             absl::AnyInvocable<void(PruneDecision)> answer);

 private:
  struct Search {
    std::shared_ptr<const CheckedStudy> checked;
    History history;
    std::unique_ptr<Sampler> sampler;
    std::unique_ptr<Pruner> pruner;
  };

  Search* Find(StudyKey study);
  Proposals Make(Search& search, Proposals request);

  const std::function<void(Proposals)> ready_;
  std::map<StudyKey, Search> searches_;  // of thread_
  std::int64_t epoch_ = 0;               // of thread_
  TaskPool thread_;                      // ends first: its tasks use the rest
};

}  // namespace frostline

#endif  // FROSTLINE_SERVER_PROPOSER_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: blame.h
//
// Decides whose fault it is when trials fail one after the other. It only looks
// and answers; the ledger acts. Nothing of it is stored: after a restart
// everybody gets another chance.
//
//   study:  nothing has succeeded since 8 failures of 3 trials on 2 workers
//           (24 of 8 where something ever has): it fails wherever it runs
//           or two trials since the last success ended with one id that says
//           that the study or its trainer is wrong (FL-5002, FL-5012, FL-5015)
//           or nothing has succeeded ever, and the trainer crashed (FL-5003) in
//           the same words at two points, on more than half of the workers that
//           could serve it: one of one, two of two or three. A lack of memory
//           is the point's, and does not count here
//   pair:   8 failures in a row of one worker in one study: it gets no more of
//           them for 5 minutes, then one trial at a time; each failure doubles
//           the pause, up to an hour
//   worker: kept from 2 studies in which others succeed: the node is broken,
//   and
//           out of service for such pauses
//
//   six workers, a study that always fails: the third trial pauses it, and
//   nobody else loses anything
#ifndef FROSTLINE_SERVER_LEDGER_BLAME_H_
#define FROSTLINE_SERVER_LEDGER_BLAME_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/ledger/worker_book.h"

namespace frostline::server {

enum class Blamed { kNobody, kPair, kWorker, kStudy };

// Whose fault it is, and why.
struct BlameVerdict {
  Blamed blamed = Blamed::kNobody;
  std::string why = {};  // for people, with the last cause
};

// How a trial failed on a worker.
struct FailedRun {
  std::string worker;
  TrialKey trial;
  std::string cause;
  // Where its trainer crashed by itself: at which point (HashPoint), and how
  // many workers in service could run the study.
  std::optional<std::uint64_t> crashed_at = {};
  std::size_t serving = 0;
};

// Counts failures by study, by worker and by pair of both. Not thread-safe.
class Blame {
 public:
  BlameVerdict NoteFailure(const FailedRun& run, SteadyTime now);
  void NoteSuccess(const std::string& worker, storage::StudyKey study);

  // Says whether the worker may have a trial of the study now.
  bool MayTry(const std::string& worker, storage::StudyKey study,
              SteadyTime now) const;
  // Notes that the worker got a trial. After a pause it gets no other trial of
  // the study until that one has stopped, or until the pause has passed once
  // more.
  void NoteTry(const std::string& worker, TrialKey trial, SteadyTime now);
  // Notes that the trial has stopped running on the worker. How it ended is
  // told after this, if it is told at all.
  void NoteStopped(const std::string& worker, TrialKey trial, SteadyTime now);
  // Returns why the worker is kept from the study; nothing if it is not.
  std::optional<std::string> WhyKept(const std::string& worker,
                                     storage::StudyKey study) const;
  // Notes that a worker was taken out of service; it comes back after a pause.
  // The function below returns those whose pause is over, each once.
  void NoteQuarantined(const std::string& worker, SteadyTime now);
  std::vector<std::string> TakePardoned(SteadyTime now);
  // Returns the last cause for which the worker was blamed; it may be empty.
  std::string CauseOf(const std::string& worker) const;

  void ForgetWorker(const std::string& worker);
  void ForgetStudy(storage::StudyKey study);

 private:
  struct Pair {
    int failures = 0;  // in a row
    std::string cause;
    int pauses = 0;
    SteadyTime kept_until{};
    std::optional<std::int64_t> tried;  // the trial, after a pause
  };
  struct Crashes {
    std::int64_t first = 0;  // trial
    std::set<std::uint64_t> points;
    std::set<std::string> workers;
  };
  struct Study {
    std::set<std::string> succeeded_on;  // workers
    int failures = 0;                    // since the last success
    std::set<std::string> failed_on;
    std::set<std::int64_t> failed;  // trials, up to as many as matter
    // Since the last success, by the id that blames study or trainer.
    std::map<std::string, std::int64_t> first_told;  // the first such trial
    std::map<std::string, Crashes> crashes;          // by cause
    std::map<std::string, Pair> pairs;               // by worker
  };
  // Returns why the study is to be paused, if its trials fail alike.
  static std::optional<std::string> WhyAlike(Study& study, std::int64_t trial,
                                             const std::string& cause);
  // Returns the same, if its trainer crashes alike wherever it runs.
  static std::optional<std::string> WhyCrashing(Study& study,
                                                const FailedRun& run);
  Pair* FindPair(const std::string& worker, storage::StudyKey study);
  static bool FailsEverywhere(const Study& study);
  bool IsBroken(const std::string& worker) const;

  struct Quarantine {
    int pauses = 0;
    std::optional<SteadyTime> until;  // nothing: it is in service
  };

  std::map<storage::StudyKey, Study> studies_;
  std::map<std::string, Quarantine> quarantines_;  // by worker
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_BLAME_H_

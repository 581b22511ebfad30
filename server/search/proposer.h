// SPDX-License-Identifier: Apache-2.0
//
// File: proposer.h
//
// Each study has a strand, so that dear proposals hold up no other study, and
// no report. The proposer owns each study's History. A proposal for
// number n has seen exactly the trials numbered below n and the ends up to the
// revision noted with it.
//
// A stored study is opened when somebody first asks for a proposal or a
// judgement: what the loop knows then is noted, the strand's first task reads
// the rows once that group is on disk, and all that comes meanwhile waits
// behind it, in order. So the history is that of a coordinator that was never
// restarted. It is closed when the study has ended.
#ifndef FROSTLINE_SERVER_SEARCH_PROPOSER_H_
#define FROSTLINE_SERVER_SEARCH_PROPOSER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "sampler/pruner/pruner.h"
#include "sampler/sampler.h"
#include "server/loop/task_pool.h"
#include "server/search/stored_history.h"
#include "server/wire/spec.h"
#include "server/wire/training_seed.h"
#include "storage/rows.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::server {

// Runs pruners on a thread of its own, each study on a strand, so that a report
// never waits for a sampler. A study that prunes has its own copy of what the
// sampler knows, told in the same order; others have none.
//
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

// Picks a point to run again, so that what leads a study does not lead by the
// luck of one seed. The functions are pure, so that a study replays from its
// store.

// Counts trials below `number` with this point, pending and failed ones too.
std::int32_t RunsBefore(const History& history, const Point& point,
                        std::int64_t number);

// Picks the leading point with the fewest runs, the better one first; nothing
// while every leader has its runs or no trial has succeeded. With several
// objectives a point leads while no other dominates it.
//
// A point is judged by statistics/seed_luck.h: seen once, it has to
// be much better than one seen often, and a seed that was bad for all is held
// against none. One that could not be trained at some seed leads nothing.
// What failed or runs counts as a run, so that no point is run for ever.
std::optional<Point> LeaderToRepeat(const RepeatRule& rule,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number);

struct Proposal {
  std::int64_t number = 0;
  Point point;
  NotedSeed seed;
};

// They answer a request or a part of it. `status` tells why the last ones asked
// for will not come.
struct Proposals {
  storage::StudyKey study = 0;
  std::int64_t epoch = 0;
  std::int64_t first_number = 0;
  std::int64_t asked = 0;
  std::int64_t seen_revision = 0;
  std::vector<Proposal> made;
  absl::Status status;
};

// Proposes a leader that is to run again, else what the sampler says. It is a
// function of the study, its seed, `history` and `number`, and answers
// SPACE_EXHAUSTED once no leader is left either, CANCELLED when stopped.
absl::StatusOr<Proposal> MakeProposal(const CheckedStudy& study,
                                      sampler::Sampler& sampler,
                                      const History& history,
                                      std::int64_t number,
                                      const std::stop_token& stop = {});

// So many samplers may be at work at a time.
inline constexpr std::size_t kMostSamplerThreads = 64;

enum class OpenedFor { kProposal, kJudgement };

// How a study that is not open is found. Null: none is.
struct StoredStudies {
  // Is asked where the proposer is: on the loop. Nothing: there is no need.
  std::function<std::optional<Opening>(storage::StudyKey, OpenedFor)> look;
  const storage::TrialStore* store = nullptr;
};

// Any thread may read.
class SearchCounts {
 public:
  SearchCounts();
  // By the sampler's name, as studies choose it.
  const std::map<std::string, Histogram>& seconds() const { return seconds_; }
  void Observe(const std::string& sampler, Duration took);
  Counter failed;

 private:
  std::map<std::string, Histogram> seconds_;  // all there are, from the start
};

// Any thread may call.
class Proposer {
 public:
  // `ready` is called on the proposer's threads and must not block.
  explicit Proposer(std::function<void(Proposals)> ready,
                    StoredStudies stored = {});
  ~Proposer() { Stop(); }

  void Start();
  // Called now and then while somebody waits, it lets quick samplers past slow
  // ones (task_pool.h).
  void AddThreadIfStuck();
  // Breaks off what is being proposed, begins no other proposal and finishes
  // every judgement.
  void Stop();
  bool stopping() const { return stop_.stop_requested(); }
  const SearchCounts& counts() const { return counts_; }
  // Is requested by Stop().
  std::stop_token stop_token() const { return stop_.get_token(); }
  // Forgets every study; `epoch` marks what comes after.
  void Reset(std::int64_t epoch);
  // Forgets these alone.
  void Reset(std::int64_t epoch, const std::set<storage::StudyKey>& studies);

  // Opens a new one.
  void Open(storage::StudyKey study,
            std::shared_ptr<const CheckedStudy> checked, History history,
            std::vector<sampler::PriorStudy> prior_studies);
  // Makes the pruner anew, as settings changed. One that was off till now knows
  // every curve all the same: they are read from the store.
  void Refresh(storage::StudyKey study,
               std::shared_ptr<const CheckedStudy> checked);
  void Close(storage::StudyKey study);
  // What was noted before is on disk: studies that wait for it are read.
  void Committed();

  // Tells of a new trial or attempt: nothing is measured yet.
  void Began(storage::StudyKey study, std::int64_t number, Point point,
             NotedSeed seed);
  void Measured(storage::StudyKey study, std::int64_t number,
                std::vector<IntermediateValue> values);
  void Ended(storage::StudyKey study, std::int64_t number, TrialState state,
             std::vector<double> values, std::vector<double> constraints,
             double cost_s, const TrialUse& use);

  // Every request is answered through `ready`, unless Stop() comes first.
  void Propose(storage::StudyKey study, std::int64_t first_number,
               std::int64_t count, std::int64_t seen_revision);
  // `answer` is always called.
  void Judge(storage::StudyKey study, std::int64_t number,
             absl::AnyInvocable<void(sampler::PruneDecision)> answer) {
    judges_.Judge(study, number, std::move(answer));
  }

 private:
  // Only its strand touches it.
  struct Search : Strand {
    using Strand::Strand;
    std::shared_ptr<const CheckedStudy> checked;
    History history;
    absl::StatusOr<std::unique_ptr<sampler::Sampler>> sampler;
    // Under the proposer's lock: until the group is on disk that opened it.
    bool is_held = false;
    std::vector<absl::AnyInvocable<void()>> held;
  };

  std::shared_ptr<Search> Find(storage::StudyKey study);
  std::shared_ptr<Search> FindOrOpen(storage::StudyKey study, OpenedFor why);
  void Post(Search& search, absl::AnyInvocable<void()> task);
  // From now on what it does waits for the next Committed().
  void Hold(const std::shared_ptr<Search>& search)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads what is stored of it. Without it the search is closed, so that
  // whoever asks next tries again, and who waits for a judgement goes on.
  absl::StatusOr<History> ReadOrClose(Search& search, const Opening& opening);
  // The strand's first task.
  void Fill(Search& search, const Opening& opening, bool fills_judges);
  void Tell(storage::StudyKey study, const HistoryChange& change);
  // Does `what` unless the study was closed, or loaded anew, meanwhile.
  void IfCurrent(storage::StudyKey study, const Search& search,
                 absl::FunctionRef<void()> what);
  void Make(Search& search, Proposals request);

  const std::function<void(Proposals)> ready_;
  const StoredStudies stored_;
  SearchCounts counts_;
  std::stop_source stop_;
  Mutex mutex_;
  std::map<storage::StudyKey, std::shared_ptr<Search>> searches_
      ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Search>> held_ ABSL_GUARDED_BY(mutex_);
  std::int64_t epoch_ ABSL_GUARDED_BY(mutex_) = 0;
  Judges judges_;
  TaskPool threads_;  // ends first: its tasks use the rest
};

// `study` is the row's.
void TellEnded(const storage::TrialRow& row, const CheckedStudy& study,
               Proposer& proposer);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_PROPOSER_H_

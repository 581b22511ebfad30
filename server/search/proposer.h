// SPDX-License-Identifier: Apache-2.0
//
// File: proposer.h
//
// Proposes points for every study. Each study has a strand, so that a slow
// sampler holds up no other study and no report. The proposer owns each study's
// History. The proposal for number n has seen exactly the trials numbered below
// n, and the ends up to the revision that was noted with the request.
//
// A stored study is opened when somebody first asks it for a proposal or a
// judgement. At that moment the loop's knowledge is noted; the first task of
// the strand reads the rows once that group is on disk; everything that comes
// meanwhile waits behind it, in order. So the history is the same as in a
// coordinator that was never restarted. The study is closed when it has ended.
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
#include "storage/rows.h"
#include "study/history.h"
#include "study/objective.h"

namespace frostline::server {

// A change of a history: something that has happened to a trial. Applying it
// twice changes nothing more.
using HistoryChange = std::function<void(History&)>;

// The pruners of all studies, each on a strand of one shared thread, so that a
// report never waits for a sampler. A study that prunes has its own copy of
// what its sampler knows, told in the same order; other studies have none. Any
// thread may call.
class Judges {
 public:
  Judges() = default;
  ~Judges() { Stop(); }

  void Start() { thread_.Start(1); }
  // Gives every judgement that is still owed, then stops.
  void Stop() { thread_.Stop(); }
  void Reset();

  // Makes the pruner of a new or changed study; "none" closes it. Returns
  // whether Fill() has to follow. Until the study knows its history, it lets
  // every trial go on, unless it `waits` to be filled.
  bool Open(storage::StudyKey study, const CheckedStudy& checked,
            bool waits = false);
  // Gives the study its history, which may be older than what was told since
  // Open().
  void Fill(storage::StudyKey study, History history);
  void Close(storage::StudyKey study);

  void Tell(storage::StudyKey study, const HistoryChange& change);
  // Asks whether a trial should stop early. A trial that repeats a point is
  // never stopped, since it is there to measure how far results differ.
  // `answer` is always called.
  void Judge(storage::StudyKey study, std::int64_t number,
             absl::AnyInvocable<void(sampler::PruneDecision)> answer);

 private:
  using Answer = absl::AnyInvocable<void(sampler::PruneDecision)>;
  // Something that was told or asked about a trial before the history was
  // there.
  struct Early {
    HistoryChange change;
    std::int64_t number = 0;
    Answer answer;
  };
  // The pruner of one study. Only its strand touches it.
  struct Desk : Strand {
    using Strand::Strand;
    ~Desk() override;  // answers "go on" to all that still waits
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
  TaskPool thread_;  // destroyed first: its tasks use the rest
};

// How often a point has run, and which one runs again, so that the best point
// of a study is not the best only by the luck of one seed. These functions are
// pure, so that a study replays from its store.

// Returns how many trials below `number` have this point; pending and failed
// ones count too.
std::int32_t RunsBefore(const History& history, const Point& point,
                        std::int64_t number);

// Returns the leading point with the fewest runs, the better one first. Returns
// nothing when every leader has its runs, or when no trial has succeeded yet.
// With several objectives a point leads while no other dominates it.
//
// How points are compared is in statistics/seed_luck.h: a point seen once has
// to be much better than one seen often, and a seed that was bad for all points
// counts against none. A point that could not be trained at some seed leads
// nothing. Failed and running trials count as runs, so that no point is run for
// ever.
std::optional<Point> LeaderToRepeat(const RepeatRule& rule,
                                    const std::vector<Objective>& objectives,
                                    const History& history,
                                    std::int64_t number);

// A point to try.
struct Proposal {
  std::int64_t number = 0;
  Point point;
  NotedSeed seed;
};

// The answer to a request for proposals, or a part of it. `status` or `answer`
// tells why the last ones asked for will not come.
struct Proposals {
  storage::StudyKey study = 0;
  std::int64_t epoch = 0;
  std::int64_t first_number = 0;
  std::int64_t asked = 0;
  std::int64_t seen_revision = 0;
  std::vector<Proposal> made;
  absl::Status status;
  std::string answer;  // with which the study is over (answers.h)
};

// Returns a leading point that is to run again, else what the sampler proposes.
// The result depends only on the study, its seed, `history` and `number`. The
// error is SPACE_EXHAUSTED when no leader is left either, CANCELLED when
// stopped.
absl::StatusOr<Proposal> MakeProposal(const CheckedStudy& study,
                                      sampler::Sampler& sampler,
                                      const History& history,
                                      std::int64_t number,
                                      const std::stop_token& stop = {});

// At most this many samplers work at the same time.
inline constexpr std::size_t kMostSamplerThreads = 64;

enum class OpenedFor { kProposal, kJudgement };

// How the proposer finds a study that is not open. Null: it finds none.
struct StoredStudies {
  // Called where the proposer is called: on the loop. Returns nothing when the
  // study need not be opened.
  std::function<std::optional<Opening>(storage::StudyKey, OpenedFor)> look;
  const storage::TrialStore* store = nullptr;
};

// How long the samplers take. Any thread may read.
class SearchCounts {
 public:
  SearchCounts();
  // Returns a histogram for each sampler, by the name under which studies
  // choose it.
  const std::map<std::string, Histogram>& seconds() const { return seconds_; }
  void Observe(const std::string& sampler, Duration took);
  Counter failed;

 private:
  std::map<std::string, Histogram> seconds_;  // all there are, from the start
};

// The samplers of all studies, each on a strand. Any thread may call.
class Proposer {
 public:
  // `ready` is called on the proposer's threads and must not block.
  explicit Proposer(std::function<void(Proposals)> ready,
                    StoredStudies stored = {});
  ~Proposer() { Stop(); }

  void Start();
  // Adds a thread when slow samplers hold up quick ones (task_pool.h). It is
  // called now and then while somebody waits.
  void AddThreadIfStuck();
  // Breaks off the proposals in work, begins no other one and finishes every
  // judgement.
  void Stop();
  bool stopping() const { return stop_.stop_requested(); }
  const SearchCounts& counts() const { return counts_; }
  // Returns the token that Stop() triggers.
  std::stop_token stop_token() const { return stop_.get_token(); }
  // Forgets every study. `epoch` marks what comes after.
  void Reset(std::int64_t epoch);
  // Forgets only these studies.
  void Reset(std::int64_t epoch, const std::set<storage::StudyKey>& studies);

  // Opens a new study.
  void Open(storage::StudyKey study,
            std::shared_ptr<const CheckedStudy> checked, History history,
            std::vector<sampler::PriorStudy> prior_studies);
  // Makes the pruner again because settings have changed. One that was off
  // until now still knows every curve: curves are read from the store.
  void Refresh(storage::StudyKey study,
               std::shared_ptr<const CheckedStudy> checked);
  void Close(storage::StudyKey study);
  // Tells that what was noted before is on disk; studies that waited for it are
  // now read.
  void Committed();

  // Tells of a new trial or attempt, which has measured nothing yet.
  void Began(storage::StudyKey study, std::int64_t number, Point point,
             NotedSeed seed);
  void Measured(storage::StudyKey study, std::int64_t number,
                std::vector<IntermediateValue> values);
  // Of what is given, the point, the seed and the curve are known.
  void Ended(storage::StudyKey study, Observation ended);

  // Asks for `count` proposals. Each request is answered through `ready`,
  // unless Stop() comes first.
  void Propose(storage::StudyKey study, std::int64_t first_number,
               std::int64_t count, std::int64_t seen_revision);
  // Asks whether the trial should stop early. `answer` is always called.
  void Judge(storage::StudyKey study, std::int64_t number,
             absl::AnyInvocable<void(sampler::PruneDecision)> answer) {
    judges_.Judge(study, number, std::move(answer));
  }

 private:
  // The search of one study. Only its strand touches it.
  struct Search : Strand {
    using Strand::Strand;
    std::shared_ptr<const CheckedStudy> checked;
    History history;
    absl::StatusOr<std::unique_ptr<sampler::Sampler>> sampler;
    // True until the group that opened the study is on disk. Guarded by the
    // proposer's lock.
    bool is_held = false;
    std::vector<absl::AnyInvocable<void()>> held;
  };

  std::shared_ptr<Search> Find(storage::StudyKey study);
  std::shared_ptr<Search> FindOrOpen(storage::StudyKey study, OpenedFor why);
  void Post(Search& search, absl::AnyInvocable<void()> task);
  // Makes what the search does from now on wait for the next Committed().
  void Hold(const std::shared_ptr<Search>& search)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Reads what the store has of the study. When that fails the search is
  // closed: the next request opens it again, and whoever waits for a judgement
  // goes on.
  absl::StatusOr<History> ReadOrClose(Search& search, const Opening& opening);
  // Fills the history. It is the strand's first task.
  void Fill(Search& search, const Opening& opening, bool fills_judges);
  void Tell(storage::StudyKey study, const HistoryChange& change);
  // Does `what` unless the study was closed or loaded again meanwhile.
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
  TaskPool threads_;  // destroyed first: its tasks use the rest
};

// Tells the proposer of an ended trial. `study` is the study of the row.
void TellEnded(const storage::TrialRow& row, const CheckedStudy& study,
               Proposer& proposer);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_SEARCH_PROPOSER_H_

// SPDX-License-Identifier: Apache-2.0
//
// File: study_book.h
//
// One study of the ledger, its open trials, and what its trials cost.
#ifndef FROSTLINE_SERVER_LEDGER_STUDY_BOOK_H_
#define FROSTLINE_SERVER_LEDGER_STUDY_BOOK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frostline/v1/study.pb.h"
#include "server/ledger/trial_machine.h"
#include "server/wire/spec.h"
#include "storage/rows.h"
#include "study/objective.h"

namespace frostline::server {

// The best trial of a study or, with several objectives, the Pareto set: the
// trials that no other one dominates. They are sorted by rising losses, the
// first objective's before the second's. So a trial can be dominated only by
// one before it, and dominates only later ones.
//
// With two objectives the second loss falls along the set, so it is enough to
// look at the nearest neighbour, and an offer costs O(log n) amortised. With
// more objectives an offer costs O(trials of the set).
//
// Only the trials count that break the study's constraints least: once one
// breaks none, only those that break none.
//
// Not thread-safe.
class BestTrials {
 public:
  explicit BestTrials(std::vector<Objective> objectives)
      : objectives_(std::move(objectives)) {}

  // Takes a trial's `values`: a finite one for each objective and perhaps one
  // more, by how much the trial breaks the study's constraints. Of equal trials
  // the earlier one stays; with several objectives both do. Returns whether the
  // trial is now among the best.
  bool Offer(std::int64_t number, const std::vector<double>& values);

  // Returns at most so many of them, the best one by the first objective first.
  std::vector<std::int64_t> Numbers(
      std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  // The best trial by the first objective, with its values.
  struct Best {
    std::int64_t number = 0;
    std::vector<double> values;  // one per objective
  };
  std::optional<Best> First() const;
  // Returns how many comparisons with trials of the set were made so far.
  std::int64_t comparisons() const { return comparisons_; }

 private:
  using Losses = std::vector<double>;
  using Front = std::multimap<Losses, std::int64_t>;  // numbers

  bool IsDominated(const Losses& losses, Front::const_iterator after);
  void DropDominated(const Losses& losses, Front::iterator from);
  bool Beats(const Losses& a, const Losses& b);

  std::vector<Objective> objectives_;
  double least_violation_ = std::numeric_limits<double>::infinity();
  Front front_;
  std::int64_t comparisons_ = 0;
};

// What trials cost, as their trainers say, and the sum over a study. Sums are
// of whole numbers and stop at the largest one, so that they do not depend on
// the order: added one by one or from a summary they are the same.
//
// What a study would have cost without sharing follows from the work that it
// saved, and from how fast it worked:
//
//   most  = seconds * (1 + saved / spent)          at its mean speed
//   least = seconds + saved / speed of its fastest trial
//
// The mean speed includes time in which nothing is computed (loading,
// evaluations, waiting for the disk), so `most` is rather too high. A trial
// that computed more than it shared has a speed nearer to that of the saved
// work, so `least` is rather too low. Example: 100 s for 40 TFLOP, 60 saved;
// the fastest trial did .8 TFLOP a second: 175 to 250 s.

// The cost of one trial. A trainer may report nonsense, so each value is kept
// between 0 and kMostCost.
struct TrialCost {
  static constexpr std::int64_t kMostCost = 100'000'000'000'000;
  std::int64_t train_us = 0;
  std::int64_t total_us = 0;
  std::int64_t mega_flops_spent = 0;
  std::int64_t mega_flops_skipped = 0;
  std::int64_t mega_flops_shared = 0;
  std::int64_t prefix_hits = 0;
  std::int64_t prefix_misses = 0;
  std::int64_t prefix_bytes = 0;
  std::int64_t energy_millijoules = 0;
};

// Returns what the trial cost; zeros where its trainer said nothing.
TrialCost CostOf(const storage::TrialRow& row);

// Adds what an ended trial cost. An imported trial adds nothing: it ran
// elsewhere, for another study's budget.
void AddCost(const storage::TrialRow& row, storage::SummaryRow& summary);

v1::StudyUsage UsageOf(const storage::SummaryRow& summary);

inline bool IsOpen(storage::StudyState state) {
  return state == storage::StudyState::kActive ||
         state == storage::StudyState::kPaused;
}

// A study in memory. The ledger owns it. It takes in rows as they are written
// (Absorb) and answers questions; it knows no clock, store or thread.
class StudyBook {
 public:
  StudyBook(storage::StudyRow row, std::shared_ptr<const CheckedStudy> checked);

  const storage::StudyRow& row() const { return row_; }
  const CheckedStudy& checked() const { return *checked_; }
  std::shared_ptr<const CheckedStudy> shared_checked() const {
    return checked_;
  }
  const std::map<std::int64_t, OpenTrial>& open() const { return open_; }
  std::int64_t revision() const { return revision_; }
  std::int64_t next_number() const { return next_number_; }

  void AbsorbStudy(const storage::StudyRow& row);
  void AbsorbSettings(std::shared_ptr<const CheckedStudy> checked) {
    checked_ = std::move(checked);
  }
  // Takes in the changed labels of an ended trial.
  void AbsorbEnded(const storage::TrialRow& row);
  // Takes in the summary of all that has ended. The open trials are absorbed
  // after it.
  void AbsorbSummary(const storage::SummaryRow& summary,
                     const std::vector<storage::BestRow>& best);
  void Absorb(const storage::TrialRow& row,
              const std::optional<storage::AttemptRow>& attempt);

  // Finds a trial that is open, or that has ended since the last Committed().
  const OpenTrial* Find(std::int64_t number) const;
  void Committed() { just_ended_.clear(); }
  const std::map<std::int64_t, OpenTrial>& just_ended() const {
    return just_ended_;
  }

  // The summary of what has ended, if it changed since it was last taken to be
  // stored.
  struct Ended {
    storage::SummaryRow summary;
    std::vector<storage::BestRow> best;  // that became so since then
  };
  std::optional<Ended> TakeEnded();
  storage::SummaryRow Summary() const;

  // Reserves `count` numbers for trials that the sampler is asked for, and
  // returns the first.
  std::int64_t Reserve(std::int64_t count);
  // Notes that one of the reserved trials was absorbed, or dropped.
  void Arrived();
  // Notes that the reserved trials from `number` on will not come.
  void Withdraw(std::int64_t number, std::int64_t count);
  // Notes that every point of the space has been tried.
  void NoteExhausted() { exhausted_ = true; }
  // Notes the answer with which the study is over (StudySettings.stop_when),
  // as a sentence. A study that goes on forgets it.
  void NoteAnswer(const std::string& answer) { answer_ = answer; }
  std::int64_t reserved() const { return reserved_; }

  // Returns the queued trial to run next on `worker`: first one that this
  // worker lost or handed back (it may have a checkpoint), then by priority,
  // then by number.
  std::optional<std::int64_t> NextQueued(const std::string& worker) const;
  // Returns up to `most` queued trials that could change places: this one and
  // those right behind it, of the same priority and kind. A trial that was
  // begun before stands alone.
  std::vector<std::int64_t> QueuedAlike(std::int64_t number,
                                        std::size_t most) const;
  bool IsLeasing() const { return row_.state == storage::StudyState::kActive; }
  bool AtParallelLimit() const { return ParallelLeft() == 0; }
  // Returns how many more trials max_parallel lets run; a large number if there
  // is no limit.
  std::int64_t ParallelLeft() const;
  // Returns how many trials have ended, run, wait or are being proposed.
  std::int64_t BudgetTaken() const {
    return ended_.budget_used + open_counted_ + reserved_;
  }
  // Returns how many trials may still be proposed.
  std::int64_t SlotsLeft(WallMicros now) const;
  // Returns why the study is over; "" while it is not.
  std::string ReasonToComplete(WallMicros now) const;
  std::int64_t Count(TrialState state) const;
  // Returns since when the longest waiting trial waits; nothing when none
  // waits.
  std::optional<WallMicros> QueuedSince() const {
    if (queued_since_.empty()) return std::nullopt;
    return queued_since_.begin()->first;
  }
  std::int64_t CountEnded() const;
  // See StudyHandle.
  std::int64_t ends_stamp() const { return ends_stamp_; }
  v1::TrialCounts Counts() const;
  // Returns the sum of what its ended trials cost.
  v1::StudyUsage Usage() const;
  const BestTrials& best() const { return best_; }

 private:
  static std::int64_t NextStamp();
  void Forget(const storage::TrialRow& row);
  bool TimeIsUp(WallMicros now) const;

  storage::StudyRow row_;
  std::shared_ptr<const CheckedStudy> checked_;
  std::map<std::int64_t, OpenTrial> open_;
  std::map<std::int64_t, OpenTrial> just_ended_;
  // The order of the queue, the best place first: by priority, then what people
  // or earlier attempts queued before what the sampler prepared, then by
  // number.
  using Place = std::tuple<int, bool, std::int64_t>;
  static Place PlaceOf(const storage::TrialRow& row) {
    const bool prepared =
        row.origin == storage::TrialOrigin::kSampled && row.attempt == 0;
    return {-row.priority, prepared, row.number};
  }
  std::set<Place> queue_;
  // The same trials by the time since which they wait: since their creation, or
  // since their last attempt's end.
  using Since = std::pair<WallMicros, std::int64_t>;
  static Since SinceOf(const OpenTrial& trial) {
    return {std::max(trial.row.created, trial.attempt.ended), trial.row.number};
  }
  std::set<Since> queued_since_;
  std::array<std::int64_t, 8> counts_{};  // by TrialState
  // The summary of what has ended, without the numbers that counts_ has.
  storage::SummaryRow ended_;
  bool ended_changed_ = false;
  std::vector<storage::BestRow> new_best_;
  std::int64_t open_counted_ = 0;
  std::int64_t reserved_ = 0;
  std::int64_t next_number_ = 0;
  std::int64_t revision_ = 0;
  std::int64_t ends_stamp_ = NextStamp();
  bool exhausted_ = false;
  std::string answer_;  // empty: none yet, or not asked for
  BestTrials best_;
};

StudyHandle HandleOf(const StudyBook& book);
// The error is STUDY_NOT_ACTIVE unless trials may be added.
absl::Status RequireOpen(const StudyBook& book);

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_LEDGER_STUDY_BOOK_H_

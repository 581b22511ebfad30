// SPDX-License-Identifier: Apache-2.0
//
// File: supply.h
//
// Limits how many trials of a study begin at a time to what its sampler can
// learn from (sampler/factory.h). A trial beyond that would be
// proposed without the results of the others, and would still use up the
// budget. A study with max_parallel gets exactly that many instead. Not
// thread-safe.
//
//   200 trials of levels-gp and 64 workers: 14 run at first, 28 after 56 have
//   ended; other studies have the rest of the workers
#ifndef FROSTLINE_SERVER_DISPATCH_SUPPLY_H_
#define FROSTLINE_SERVER_DISPATCH_SUPPLY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "frostline/v1/study_service.pb.h"
#include "frostline/v1/worker_service.pb.h"
#include "server/ledger/ledger.h"
#include "server/ledger/study_book.h"
#include "storage/rows.h"
#include "storage/trial_store.h"

namespace frostline::server {

// How many trials of a study may run at once, so that its sampler learns from
// what has ended before it proposes more.
class TeachingLimit {
 public:
  // Returns how many trials may be proposed beside those that run or wait. What
  // a person added is never held back.
  std::int64_t LeftFor(const StudyBook& book);
  // Says whether workers could run more of the study if its sampler could use
  // more.
  bool Holds(const StudyBook& book) { return LeftFor(book) == 0; }

  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over);
  void Clear() { studies_.clear(); }
  // Returns how many values were computed; tests guard by it what a look costs.
  std::int64_t computed() const { return computed_; }

 private:
  struct Known {
    std::int64_t ends_stamp = 0;
    std::int64_t teaching = 0;
  };

  std::map<storage::StudyKey, Known> studies_;
  std::int64_t computed_ = 0;
};

// Returns how many trials of a study would begin at once if workers came for
// them: those that wait, and those that its sampler would be asked for.
//
//   begin     = min(budget, teaching - running - queued), at least 0
//   unclaimed = min(parallel, queued + begin)
//
// `parallel` is what max_parallel leaves, `budget` what may still be proposed,
// `teaching` how many trials at a time the sampler learns from. Proposals under
// way are left out everywhere: they are for workers that wait already or are
// about to ask (ExpectedSlots::TakeOff).
//
//   200 trials of levels-gp, no worker: 14, and with 14 workers 0, until
//   results let more of them teach
//
// Returns 0 unless the study is active. The result is never more than the
// trials that there are.
std::int64_t CountUnclaimed(const StudyBook& book,
                            TeachingLimit& teaching_limit, WallMicros now);

// Why nothing runs. A worker that gets no trial and a person who asks get their
// reasons from the same list:
//
//   studies/a is paused                PAUSED              resume it
//   no live worker carries its labels  NO_MATCHING_LABELS  start one that does

// What a study has to give, for the list of reasons.
struct StudySupply {
  std::string name;
  storage::StudyState state = storage::StudyState::kActive;
  std::string state_reason = {};
  bool at_parallel_limit = false;
  bool is_ramping = false;  // runs as many as its sampler can use
  bool budget_left = false;
  std::int64_t queued = 0;
  std::int64_t proposing = 0;
  std::int64_t running = 0;
};

// The workers that a study could have, or only the one that asks.
struct FleetSupply {
  const char* who = "any live worker";
  std::int64_t live = 0;
  std::int64_t matching = 0;        // with its labels and files, in service
  std::int64_t out_of_service = 0;  // with both, drained or quarantined
  std::int64_t kept = 0;            // with both, but kept from it (blame.h)
  std::string why_kept = {};        // of one of them
  std::int64_t lacking = 0;         // with its labels, without its files
  std::string what_lacks = {};      // "the data set sst5", for one of them
  std::int64_t free_slots = 0;      // of the matching ones
};

// Whether a worker is in service.
struct WorkerStanding {
  bool coordinator_drains = false;
  bool is_registered = true;  // with this boot id
  storage::WorkerState state = storage::WorkerState::kActive;
  int failures_in_a_row = 0;
  std::string cause = {};  // of the last failure; may be empty
};

// One reason why nothing runs, and its fix.
struct IdleReason {
  v1::NoneReason none = v1::NONE_REASON_UNSPECIFIED;  // as a worker is told
  std::string code;                                   // as a person is told
  std::string sentence;
  std::string fix;  // may be empty
};

// Returns the reasons in the order in which to look at them. An ended study has
// one reason only.
std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk);

// Returns why a worker may not be given trials; nothing when it may.
std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker);

IdleReason WhyNothingOf(const StudySupply& study, const FleetSupply& worker,
                        const storage::DiskRoom& disk);

// Says whether `candidate` comes later in the list than `than`. A worker whose
// reason is later is nearer to getting a trial, and is told that one.
bool IsNearer(const IdleReason& candidate, const IdleReason& than);

// A study's sampler is asked for at most this many trials at a time, since it
// would not know of their results.
inline constexpr std::int64_t kMostProposalsAtOnce = 64;

// How fast a study's sampler answers: whether a worker may wait for it alone.
enum class SamplerPace { kUnknown, kQuick, kSlow };

// What one study has to give in this turn.
struct Supply {
  StudyBook* book = nullptr;
  std::int64_t queued = 0;
  std::int64_t can_propose = 0;  // including those under way
  std::int64_t wanted = 0;       // for those who wait or are expected
  SamplerPace pace = SamplerPace::kUnknown;
  double service_s = 0.0;  // as fair_share.h counts it
  double typical_s = 0.0;  // of one trial

  storage::StudyKey key() const { return book->row().key; }
  int priority() const { return book->checked().settings.priority(); }
};

// Orders supplies: higher priority first, then less service, then age.
bool GoesBefore(const Supply& a, const Supply& b);

// Returns the studies that have something to give, by age. The caller fills in
// the last three fields.
std::vector<Supply> FindSupplies(Ledger& ledger, TeachingLimit& teaching_limit,
                                 WallMicros now) FROSTLINE_ON_LOOP;

// Hands out supplies, each time the one that goes first. A supply that was
// taken comes back with Return(). It borrows the supplies.
class SupplyQueue {
 public:
  bool empty() const { return heap_.empty(); }
  void Return(Supply& supply);
  Supply& TakeFirst();

 private:
  std::vector<Supply*> heap_;
};

// Returns "" when the stock has the study's model and data and computes in the
// precision that its trials share; else what lacks.
std::string WhatBookLacks(const StockPtr& stock, const StudyBook& book);

// Says whether the worker carries the study's labels and lacks nothing that the
// study needs.
bool MayServe(const WorkerEntry& worker, const StudyBook& book);

// Returns the worker alone as a study's fleet.
FleetSupply CountAlone(const Ledger& ledger, const WorkerEntry& worker,
                       const StudyBook& book, SteadyTime now) FROSTLINE_ON_LOOP;

// Counts all workers that could take the study's trials.
FleetSupply CountFleet(const Ledger& ledger, const StudyBook& book,
                       const Clock& clock) FROSTLINE_ON_LOOP;

// How many trials of a study nobody has taken yet.
struct Unclaimed {
  const StudyBook* book = nullptr;
  std::int64_t trials = 0;  // as this file counts them
};

// Slots of workers that are about to ask, for example because their trial has
// just ended. Proposals are prepared for them, so that they rarely wait. Not
// thread-safe.
class ExpectedSlots {
 public:
  void Expect(const std::string& worker, std::int64_t slots, SteadyTime now);
  void NoteAcquire(const std::string& worker, std::int64_t slots);
  // Adds to `supplies` what the expected workers want.
  void Count(Ledger& ledger, SteadyTime now,
             std::vector<Supply>& supplies) FROSTLINE_ON_LOOP;

  // Subtracts what the expected workers will take of trials without proposals
  // under way: these workers have them first.
  void TakeOff(Ledger& ledger, SteadyTime now,
               std::vector<Unclaimed>& unclaimed) const FROSTLINE_ON_LOOP;

  bool empty() const { return expected_.empty(); }
  void Clear() { expected_.clear(); }

 private:
  struct Expected {
    std::int64_t slots = 0;
    SteadyTime until{};
  };
  std::map<std::string, Expected> expected_;  // by worker
};

}  // namespace frostline::server

#endif  // FROSTLINE_SERVER_DISPATCH_SUPPLY_H_

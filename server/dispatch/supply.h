// SPDX-License-Identifier: Apache-2.0
//
// File: supply.h
//
// Begins no more trials at a time than teach a study's sampler
// (sampler/useful_parallelism.h): what begins beyond that begins blind, and its
// place in the budget is gone. Whoever sets max_parallel has decided, and has
// so many. It is not thread-safe.
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

class Ramp {
 public:
  // Returns how many may be proposed beside those that run or wait; what a
  // person added is never held back.
  std::int64_t LeftFor(const StudyBook& book);
  // Says whether workers could run more of the study if its sampler could use
  // them.
  bool Holds(const StudyBook& book) { return LeftFor(book) == 0; }

  void ForgetIf(absl::FunctionRef<bool(storage::StudyKey)> is_over);
  void Clear() { studies_.clear(); }
  // Counts computations, to guard what a look costs.
  std::int64_t computed() const { return computed_; }

 private:
  struct Known {
    std::int64_t ends_stamp = 0;
    std::int64_t teaching = 0;
  };

  std::map<storage::StudyKey, Known> studies_;
  std::int64_t computed_ = 0;
};

// Counts the trials of a study that nobody has and that would begin at once if
// workers came for them: those that wait, and those that its sampler would be
// asked for.
//
//   begin     = min(budget, teaching - running - queued), at least 0
//   unclaimed = min(parallel, queued + begin)
//
// `parallel` is what max_parallel leaves, `budget` what may still be proposed,
// `teaching` how many trials at a time the sampler learns from. What a
// sampler is proposing now is left out everywhere: it was asked for workers
// that wait already, or are about to ask (ExpectedSlots::TakeOff).
//
//   200 trials of levels-gp, no worker: 14, and with 14 workers 0, until
//   results let more of them teach
//
// Returns 0 unless the study is active. It is no more than there are trials.
std::int64_t CountUnclaimed(const StudyBook& book, Ramp& ramp, WallMicros now);

// A worker that goes away empty-handed and a person climb one ladder:
//
//   studies/a is paused                PAUSED              resume it
//   no live worker carries its labels  NO_MATCHING_LABELS  start one that does

struct StudySupply {
  std::string name;
  storage::StudyState state = storage::StudyState::kActive;
  std::string state_reason = {};
  bool at_parallel_limit = false;
  bool is_ramping = false;  // runs as many as its sampler can use; see supply.h
  bool budget_left = false;
  std::int64_t queued = 0;
  std::int64_t proposing = 0;
  std::int64_t running = 0;
};

// Counts the workers that a study could have, or the one that asks.
struct FleetSupply {
  const char* who = "any live worker";
  std::int64_t live = 0;
  std::int64_t matching = 0;        // with labels and stock, in service
  std::int64_t out_of_service = 0;  // with both, drained or quarantined
  std::int64_t kept = 0;            // with both, kept from it (blame.h)
  std::string why_kept = {};        // one of them
  std::int64_t lacking = 0;         // with its labels, without its files
  std::string what_lacks = {};      // "the data set sst5"; of one of them
  std::int64_t free_slots = 0;      // of the matching ones
};

struct WorkerStanding {
  bool coordinator_drains = false;
  bool is_registered = true;  // with this boot id
  storage::WorkerState state = storage::WorkerState::kActive;
  int failures_in_a_row = 0;
  std::string cause = {};  // of the last; may be empty
};

struct IdleReason {
  v1::NoneReason none = v1::NONE_REASON_UNSPECIFIED;  // for a worker
  std::string code;                                   // for a person
  std::string sentence;
  std::string fix;  // may be empty
};

// Returns reasons in the order in which to look at them. An ended study has one
// reason alone.
std::vector<IdleReason> WhyIdle(const StudySupply& study,
                                const FleetSupply& fleet,
                                const storage::DiskRoom& disk);

// Answers nothing when it may be given trials.
std::optional<IdleReason> WhyNotInService(const WorkerStanding& worker);

IdleReason WhyNothingOf(const StudySupply& study, const FleetSupply& worker,
                        const storage::DiskRoom& disk);

// The later of two is nearer to getting a trial; a worker is told that one.
bool IsNearer(const IdleReason& candidate, const IdleReason& than);

// One study is asked for no more at a time, as a sampler would not know about
// them.
inline constexpr std::int64_t kMostProposalsAtOnce = 64;

// Whether a worker may wait for a study's sampler alone.
enum class SamplerPace { kUnknown, kQuick, kSlow };

struct Supply {
  StudyBook* book = nullptr;
  std::int64_t queued = 0;
  std::int64_t can_propose = 0;  // with those under way
  std::int64_t wanted = 0;       // by who waits or is expected
  SamplerPace pace = SamplerPace::kUnknown;
  double service_s = 0.0;  // as fair_share.h counts it
  double typical_s = 0.0;  // of one trial

  storage::StudyKey key() const { return book->row().key; }
  int priority() const { return book->checked().settings.priority(); }
};

// Higher priority goes first, then less service, then age.
bool GoesBefore(const Supply& a, const Supply& b);

// Those that have something to give, by age. The caller adds what the last
// three fields say.
std::vector<Supply> FindSupplies(Ledger& ledger, Ramp& ramp,
                                 WallMicros now) FROSTLINE_ON_LOOP;

// Hands out supplies, the one that goes first at each time. A supply that is
// taken comes back with Return(). It borrows them.
class SupplyQueue {
 public:
  bool empty() const { return heap_.empty(); }
  void Return(Supply& supply);
  Supply& TakeFirst();

 private:
  std::vector<Supply*> heap_;
};

// Answers "" where the stock has the study's model and data, and computes in
// the precision that its trials share.
std::string WhatBookLacks(const StockPtr& stock, const StudyBook& book);

// Says whether the worker carries the study's labels and lacks nothing of it.
bool MayServe(const WorkerEntry& worker, const StudyBook& book);

// The worker alone, as a study's fleet.
FleetSupply CountAlone(const Ledger& ledger, const WorkerEntry& worker,
                       const StudyBook& book, SteadyTime now) FROSTLINE_ON_LOOP;

// Counts all who could take the study's trials.
FleetSupply CountFleet(const Ledger& ledger, const StudyBook& book,
                       const Clock& clock) FROSTLINE_ON_LOOP;

struct Unclaimed {
  const StudyBook* book = nullptr;
  std::int64_t trials = 0;  // as supply.h counts them
};

// Counts slots of workers that are about to ask, as one does whose trial has
// just ended. Proposals are prepared for them, so that they rarely wait. It is
// not thread-safe.
class ExpectedSlots {
 public:
  void Expect(const std::string& worker, std::int64_t slots, SteadyTime now);
  void Asked(const std::string& worker, std::int64_t slots);
  // Adds to `supplies` what those want who are expected still.
  void Count(Ledger& ledger, SteadyTime now,
             std::vector<Supply>& supplies) FROSTLINE_ON_LOOP;

  // Takes off what those will take who are expected still: of trials without
  // proposals under way, which are theirs first.
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

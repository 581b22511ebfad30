// SPDX-License-Identifier: Apache-2.0
//
// File: supply.h
#ifndef FROSTLINE_SERVER_DISPATCH_SUPPLY_H_
#define FROSTLINE_SERVER_DISPATCH_SUPPLY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "server/dispatch/ramp.h"
#include "server/dispatch/why_idle.h"
#include "server/ledger/ledger.h"

namespace frostline::server {

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
  std::int64_t trials = 0;  // as unclaimed.h counts them
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
